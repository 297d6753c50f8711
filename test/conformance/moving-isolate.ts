/** An isolate that a test can move: captured, and restored in another instance, as often as wanted. */
import type { InstancePool, PooledInstance } from '../../src/isolate/instance-pool.ts'
import { Isolate } from '../../src/isolate/isolate.ts'
import type { Answer, MachineStart, SyncCalls, Turn, TurnControl } from '../../src/machine/turn.ts'
import { JobBrake } from './job-brake.ts'
import { lendModules, type ModuleSource } from './lent-modules.ts'

const FREELY: TurnControl = { deadline: Number.POSITIVE_INFINITY }

export interface SettleOptions {
  /** How many of the guest's jobs may run; default all. */
  readonly jobs?: number | undefined
  readonly nowMs?: number | undefined
}

const NO_MODULES: ModuleSource = { normalize: (_base, specifier) => specifier, load: () => undefined }

export class MovingIsolate {
  readonly #pool: InstancePool
  readonly #syncCalls: SyncCalls
  readonly #start: MachineStart
  #pooled: PooledInstance
  #isolate: Isolate
  #brake: JobBrake | undefined
  readonly #modules: ModuleSource
  #takeModulesBack: () => void

  constructor(
    pool: InstancePool,
    syncCalls: SyncCalls,
    start: MachineStart,
    modules: ModuleSource = NO_MODULES,
  ) {
    this.#pool = pool
    this.#syncCalls = syncCalls
    this.#start = start
    this.#modules = modules
    this.#pooled = pool.acquire()
    this.#takeModulesBack = lendModules(this.#pooled.instance, modules)
    this.#isolate = new Isolate(this.#pooled, syncCalls)
  }

  /** Where the guest is now. */
  get pooled(): PooledInstance {
    return this.#pooled
  }

  start(): Turn {
    return this.#isolate.start(this.#start, FREELY)
  }

  /** @param nowMs logical time; default that of the start */
  settle(answers: readonly Answer[], { jobs, nowMs = this.#start.nowMs }: SettleOptions = {}): Turn {
    this.#brake?.release()
    const { instance, guest } = this.#pooled
    this.#brake = jobs === undefined ? undefined : new JobBrake(instance, guest.runtime)
    this.#brake?.allow(jobs ?? 0)
    return this.#isolate.settle(answers, nowMs, FREELY)
  }

  /** Whether jobs wait that the last `settle` did not allow. */
  get isHeldBack(): boolean {
    return this.#brake?.holdsBack ?? false
  }

  /** Between turns: the guest goes on in an instance that it was not in. */
  move(): void {
    const { capabilities, limits } = this.#start
    const { base } = this.#pool
    const next = this.#pool.acquire()
    this.#letGo()
    this.#takeModulesBack = lendModules(next.instance, this.#modules)
    const { memoryBytes, pages, state } = this.#isolate.park().guest
    this.#pooled = next
    this.#isolate = new Isolate(next, this.#syncCalls)
    const all = pages.changesSince(base.pages)
    this.#isolate.restore({ memoryBytes, changes: all, state, capabilities, limits })
  }

  dispose(): void {
    this.#letGo()
    this.#isolate.dispose()
  }

  /** Leaves the instance as it was acquired. */
  #letGo(): void {
    this.#brake?.release()
    this.#brake = undefined
    this.#takeModulesBack()
  }
}
