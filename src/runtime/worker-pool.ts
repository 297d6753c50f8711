/** Workers that wait for their next guest. As instances, they are never shared between trust domains. */
import { CaissonError } from '../base/errors.ts'
import type { SyncCalls } from '../capability/call.ts'
import { WorkerMachine } from '../machine/worker-driver.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import type { WorkerPort } from '../ports/worker-port.ts'

export interface WorkerPoolOptions {
  /** Starts a Worker; undefined where the platform has none. */
  readonly openWorker: (() => WorkerPort) | undefined
  readonly engine: LoadedEngine
  readonly maxPages: number
  readonly keep: number
  readonly monotonic: () => number
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #idle = new Map<string, WorkerPort[]>()
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  /** @throws CaissonError `unsupported` where there are no Workers, `disposed` */
  acquire(domain: string, syncCalls: SyncCalls): WorkerMachine {
    const { openWorker, engine, maxPages, monotonic } = this.#options
    if (openWorker === undefined) {
      throw new CaissonError('unsupported', "This platform has no Workers; leave out thread: 'worker'.")
    }
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed; open a new one.')
    const port = this.#idle.get(domain)?.pop() ?? openWorker()
    const onRelease = (reusable: boolean): void => this.#takeBack(domain, port, reusable)
    return new WorkerMachine({ port, engine, maxPages, syncCalls, monotonic, onRelease })
  }

  close(): void {
    this.#closed = true
    for (const ports of this.#idle.values()) for (const port of ports) port.terminate()
    this.#idle.clear()
  }

  #takeBack(domain: string, port: WorkerPort, reusable: boolean): void {
    const idle = this.#idle.get(domain) ?? []
    this.#idle.set(domain, idle)
    if (reusable && !this.#closed && idle.length < this.#options.keep) idle.push(port)
    else port.terminate()
  }
}
