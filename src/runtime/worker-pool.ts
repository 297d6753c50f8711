/**
 * Workers that wait for their next guest.
 *
 * Invariants
 * 1. As instances, they are never shared between trust domains, not even one after the other.
 * 2. At most `MOST_IDLE` threads wait, whatever the number of domains: the one that waits longest ends.
 */
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

/** A thread takes some 20 MB. */
const MOST_IDLE = 8

interface IdleWorker {
  readonly domain: string
  readonly port: WorkerPort
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  /** In the order in which they came back. */
  readonly #idle: IdleWorker[] = []
  readonly #ending = new Set<Promise<void>>()
  #closed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
  }

  /**
   * A machine in a Worker that is ready.
   * @param signal ends waiting for it, and for what it is asked between turns
   * @throws CaissonError `unsupported` where there are no Workers, `disposed`, `machine_lost`, `aborted`
   */
  async acquire(domain: string, syncCalls: SyncCalls, signal?: AbortSignal): Promise<WorkerMachine> {
    const { openWorker, engine, maxPages, monotonic } = this.#options
    if (openWorker === undefined) {
      throw new CaissonError('unsupported', "This platform has no Workers; leave out thread: 'worker'.")
    }
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed; open a new one.')
    const port = this.#takeIdle(domain) ?? openWorker()
    const onRelease = (reusable: boolean): void => this.#takeBack(domain, port, reusable)
    return WorkerMachine.open({ port, engine, maxPages, syncCalls, monotonic, signal, onRelease })
  }

  /** Resolves when the threads that nobody uses any more have ended. */
  async close(): Promise<void> {
    this.#closed = true
    for (const { port } of this.#idle.splice(0)) this.#end(port)
    await Promise.all(this.#ending)
  }

  #end(port: WorkerPort): void {
    const ended = port.terminate().finally(() => this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  #takeIdle(domain: string): WorkerPort | undefined {
    const at = this.#idle.findLastIndex((idle) => idle.domain === domain)
    return at < 0 ? undefined : this.#idle.splice(at, 1)[0]?.port
  }

  #takeBack(domain: string, port: WorkerPort, reusable: boolean): void {
    const same = this.#idle.filter((idle) => idle.domain === domain)
    if (!reusable || this.#closed || same.length >= this.#options.keep) {
      this.#end(port)
      return
    }
    this.#idle.push({ domain, port })
    const longest = this.#idle.length > MOST_IDLE ? this.#idle.shift() : undefined
    if (longest !== undefined) this.#end(longest.port)
  }
}
