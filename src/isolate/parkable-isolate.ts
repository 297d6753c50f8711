/**
 * An isolate that needs an instance only while it takes a turn: in between it can be parked as pages and data, so
 * that any number of guests live on a few instances.
 *
 * Invariants
 * 1. Parking and waking change nothing that the guest or the host can observe: values, fuel, digests, captures.
 * 2. A guest is parked only while it waits: never inside a turn, and never after its end.
 */
import { CaissonError } from '../base/errors.ts'
import type {
  Answer,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  SyncCalls,
  Turn,
  TurnControl,
} from '../machine/turn.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { InstancePool } from './instance-pool.ts'
import { Isolate } from './isolate.ts'
import type { IsolateState } from './isolate-state.ts'
import type { Resident, Residents } from './residents.ts'
import { stateDigest } from './state-digest.ts'

/** A guest without an instance. */
interface Parked {
  readonly memoryBytes: number
  readonly pages: PageTree
  readonly state: IsolateState
}

export interface ParkableOptions {
  readonly pool: InstancePool
  readonly residents: Residents
  readonly syncCalls: SyncCalls
}

export class ParkableIsolate implements Machine, Resident {
  readonly #options: ParkableOptions
  #isolate: Isolate | undefined
  #parked: Parked | undefined
  /** What a restored guest goes on with: the captured state does not say. */
  #wakeWith: Pick<MachineRestore, 'capabilities' | 'limits'> | undefined
  /** The memory at the last look at it. */
  #pages: PageTree
  /** The memory as `capture` told of it last. */
  #told: PageTree
  #disposed = false

  constructor(options: ParkableOptions) {
    this.#options = options
    this.#pages = options.pool.base.pages
    this.#told = this.#pages
  }

  /** Whether it holds an instance that it does not need now. */
  get parkable(): boolean {
    return this.#isolate?.waits === true
  }

  get pending(): readonly PendingCall[] {
    return this.#isolate?.pending ?? this.#parked?.state.pending.map(publicCall) ?? []
  }

  get wakeAtMs(): number | undefined {
    return this.#parked === undefined ? this.#isolate?.wakeAtMs : this.#parked.state.wakeAtMs
  }

  start(start: MachineStart, control: TurnControl): Turn {
    this.#wakeWith = start
    const { after } = start
    if (after === undefined) return this.#open().start(start, control)
    const changes = [...after.changes]
    const turn = this.#open().start({ ...start, after: { ...after, changes } }, control)
    this.#pages = this.#pages.with(changes)
    this.#told = this.#pages
    return turn
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    return this.#wake().settle(answers, nowMs, control)
  }

  restore(from: MachineRestore): void {
    this.#wakeWith = from
    const changes = [...from.changes]
    this.#open().restore({ ...from, changes })
    this.#pages = this.#pages.with(changes)
    this.#told = this.#pages
  }

  capture(): MachineCapture | Promise<MachineCapture> {
    if (this.#parked !== undefined) return this.#tell(this.#parked)
    const isolate = this.#wake()
    if (!isolate.isLarge) return this.#tell(this.#keep(isolate.capture(this.#options.pool.pages.keep)))
    return this.#captureInPieces(isolate)
  }

  async #captureInPieces(isolate: Isolate): Promise<MachineCapture> {
    const { pages, tools } = this.#options.pool
    const kept = this.#keep(await isolate.captureInPieces(pages.keep))
    // It was kept in one go; so it is told of, which takes as long again.
    await tools.pause()
    return this.#tell(kept)
  }

  #tell({ memoryBytes, pages, state }: Parked): MachineCapture {
    const changes = [...pages.changesSince(this.#told)]
    this.#told = pages
    return { memoryBytes, changes, state }
  }

  /** Gives the instance back; does nothing unless `parkable`. */
  park(): void {
    const isolate = this.#isolate
    if (isolate?.waits !== true) return
    this.#parked = this.#keep(isolate.park(this.#options.pool.pages.keep))
    this.#isolate = undefined
  }

  stateDigest(): string {
    if (this.#parked === undefined) return this.#wake().stateDigest()
    const { pages, state } = this.#parked
    const { engine, tools } = this.#options.pool
    return stateDigest(engine.id, pages, pendingIds(state), tools.sha256)
  }

  dispose(): void {
    if (this.#disposed) return
    this.#isolate?.dispose()
    this.#disposed = true
    this.#isolate = undefined
    this.#parked = undefined
    this.#options.residents.leave(this)
  }

  #keep({ memoryBytes, changes, state }: MachineCapture): Parked {
    this.#pages = this.#pages.with(changes)
    return { memoryBytes, pages: this.#pages, state: state as IsolateState }
  }

  #open(): Isolate {
    const { pool, residents, syncCalls } = this.#options
    if (this.#disposed || this.#isolate !== undefined) {
      throw new CaissonError('isolate_destroyed', 'A guest is started or restored once.')
    }
    residents.enter(this)
    this.#isolate = new Isolate(pool.acquire(), syncCalls)
    return this.#isolate
  }

  /** The isolate with an instance under it. */
  #wake(): Isolate {
    const parked = this.#parked
    if (parked === undefined || this.#wakeWith === undefined) {
      if (this.#isolate === undefined) throw new CaissonError('isolate_destroyed', 'The guest was disposed.')
      this.#options.residents.used(this)
      return this.#isolate
    }
    const { capabilities, limits } = this.#wakeWith
    const isolate = this.#open()
    isolate.restore({
      memoryBytes: parked.memoryBytes,
      changes: parked.pages.changesSince(this.#options.pool.base.pages),
      state: parked.state,
      capabilities,
      limits,
    })
    this.#parked = undefined
    return isolate
  }
}

function pendingIds({ pending }: IsolateState): readonly number[] {
  return pending.map(({ id }) => id)
}

function publicCall({ id, capability, args, bytes, askedAtMs }: PendingCall): PendingCall {
  return { id, capability, args, bytes, askedAtMs }
}
