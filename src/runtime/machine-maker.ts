/**
 * Machines for guests: parkable isolates on pooled instances in the host's own thread, or isolates in Workers.
 *
 * Invariants
 * 1. Instances are never shared between trust domains, not even one after the other.
 * 2. In the host's thread at most `instances` guests hold one while they wait; the others are parked.
 */
import { type BaseImage, baseImageOf } from '../isolate/base-image.ts'
import { type Engine, parseEngine } from '../isolate/engine.ts'
import { InstancePool } from '../isolate/instance-pool.ts'
import { checkNativeStack } from '../isolate/native-stack.ts'
import { ParkableIsolate } from '../isolate/parkable-isolate.ts'
import { Residents } from '../isolate/residents.ts'
import type { Limits } from '../machine/limits.ts'
import type { Machine, SyncCalls } from '../machine/turn.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import type { Telemetry } from '../ports/telemetry.ts'
import { DomainPools } from './domain-pools.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'
import type { Platform } from './platform.ts'
import { WorkerPool } from './worker-pool.ts'

const PAGE = 65_536
const DEFAULT_KEEP = 4
const DEFAULT_INSTANCES = 64

/** Where a guest runs, as whose, and what ends waiting for it. */
export type MachineKind = Pick<RunOptions, 'domain' | 'thread' | 'signal'>

export class MachineMaker {
  readonly engine: Engine
  readonly base: BaseImage
  readonly #pools: DomainPools
  readonly #workers: WorkerPool
  readonly #residents: Residents
  readonly #telemetry: Telemetry | undefined

  constructor(platform: Platform, options: RuntimeOptions, loaded: LoadedEngine, maxMemoryBytes: number) {
    const engine = parseEngine(loaded)
    const base = baseImageOf(engine)
    this.engine = engine
    this.#telemetry = options.telemetry
    this.base = base
    const maxPages = Math.ceil(maxMemoryBytes / PAGE)
    const keep = options.keepInstances ?? DEFAULT_KEEP
    const { monotonic } = platform.clock
    const { pageTools, checkpoints } = platform
    const pause = checkpoints?.pause
    this.#residents = new Residents(options.instances ?? DEFAULT_INSTANCES)
    this.#pools = new DomainPools(
      () => new InstancePool({ engine, base, maxPages, keep, monotonic, pageTools, pause }),
    )
    this.#workers = new WorkerPool({
      openWorker: platform.openWorker,
      engine: loaded,
      maxPages,
      keep,
      monotonic,
    })
  }

  /** @throws CaissonError `disposed`, `unsupported`, `native_stack_low`, `machine_lost`, `aborted` */
  open(kind: MachineKind, limits: Limits, syncCalls: SyncCalls): Machine | Promise<Machine> {
    const opened = this.#open(kind, limits, syncCalls)
    const telemetry = this.#telemetry
    if (telemetry === undefined) return opened
    return opened instanceof Promise
      ? opened.then((machine) => countLife(machine, telemetry))
      : countLife(opened, telemetry)
  }

  #open(
    { domain = 'default', thread, signal }: MachineKind,
    limits: Limits,
    syncCalls: SyncCalls,
  ): Machine | Promise<Machine> {
    if (thread === 'worker') return this.#workers.acquire(domain, syncCalls, signal)
    checkNativeStack(this.engine, this.base, limits.stackBytes)
    return new ParkableIsolate({
      pool: this.#pools.get(domain),
      residents: this.#residents,
      syncCalls,
    })
  }

  /** Where the imports of a guest's modules are looked for: in this thread, in its own trust domain. */
  scout({ domain = 'default' }: MachineKind): {
    readonly pool: InstancePool
    readonly tools: InstancePool['tools']
  } {
    const pool = this.#pools.get(domain)
    return { pool, tools: pool.tools }
  }

  /** Resolves when the Workers have ended. */
  close(): Promise<void> {
    this.#pools.close()
    return this.#workers.close()
  }
}

/** Tells that a guest lives, until its machine is disposed. */
function countLife(machine: Machine, telemetry: Telemetry): Machine {
  telemetry.event('guest.live', { change: 1 })
  const dispose = machine.dispose.bind(machine)
  let lives = true
  machine.dispose = () => {
    if (lives) telemetry.event('guest.live', { change: -1 })
    lives = false
    dispose()
  }
  return machine
}
