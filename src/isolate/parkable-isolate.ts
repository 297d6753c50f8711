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
import { PageKeeper } from '../snapshot/page-keeper.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { InstancePool, PooledInstance } from './instance-pool.ts'
import { Isolate, type ParkedGuest } from './isolate.ts'
import type { IsolateState } from './isolate-state.ts'
import type { HeldInstance, Resident, Residents } from './residents.ts'
import { stateDigest } from './state-digest.ts'

export interface ParkableOptions {
  readonly pool: InstancePool
  readonly residents: Residents
  readonly syncCalls: SyncCalls
}

export class ParkableIsolate implements Machine, Resident {
  readonly #options: ParkableOptions
  readonly #keeper: PageKeeper
  #isolate: Isolate | undefined
  #parked: ParkedGuest | undefined
  /** What a restored guest goes on with: the captured state does not say. */
  #wakeWith: Pick<MachineRestore, 'capabilities' | 'limits'> | undefined
  /** The memory as `capture` told of it last, or as it was given. */
  #told: PageTree
  #disposed = false

  constructor(options: ParkableOptions) {
    this.#options = options
    this.#keeper = new PageKeeper(options.pool.pages)
    this.#told = options.pool.base.pages
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
    const isolate = this.#open()
    const turn = isolate.start(start, control)
    this.#told = isolate.captured
    return turn
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    return this.#wake().settle(answers, nowMs, control)
  }

  restore(from: MachineRestore): void {
    this.#wakeWith = from
    const isolate = this.#open()
    isolate.restore(from)
    this.#told = isolate.captured
  }

  capture(): MachineCapture | Promise<MachineCapture> {
    if (this.#parked !== undefined) return this.#tell(this.#parked)
    const isolate = this.#wake()
    if (isolate.isLarge) return this.#captureInPieces(isolate)
    return this.#tell(parkedGuest(isolate, isolate.capture(this.#keeper.beginLook())))
  }

  async #captureInPieces(isolate: Isolate): Promise<MachineCapture> {
    const kept = parkedGuest(isolate, await isolate.captureInPieces(this.#keeper.beginLook()))
    // It was kept in one go; so it is told of, which takes as long again.
    await this.#options.pool.tools.pause()
    return this.#tell(kept)
  }

  #tell({ memoryBytes, pages, state }: ParkedGuest): MachineCapture {
    const changes = pages.changesSince(this.#told)
    this.#told = pages
    return { memoryBytes, changes, state }
  }

  /** Gives the instance back, or to `next` if it is of the same pool; does nothing unless `parkable`. */
  park(next?: Resident): HeldInstance | undefined {
    const isolate = this.#isolate
    if (isolate?.waits !== true) return undefined
    const toNext = next instanceof ParkableIsolate && next.#options.pool === this.#options.pool
    const { guest, held } = isolate.park(this.#keeper.beginLook(), toNext)
    this.#parked = guest
    this.#isolate = undefined
    return held
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

  /** An isolate that begins in the base image. */
  #open(): Isolate {
    const { base } = this.#options.pool
    const { pooled, pages } = this.#enter()
    if (pages !== base.pages) base.restore(pooled.instance, pages)
    return this.#begin(pooled)
  }

  #begin(pooled: PooledInstance): Isolate {
    this.#isolate = new Isolate(pooled, this.#options.syncCalls)
    return this.#isolate
  }

  /** Takes an instance, whatever its memory is. */
  #enter(): HeldInstance {
    const { pool, residents } = this.#options
    if (this.#disposed || this.#isolate !== undefined) {
      throw new CaissonError('isolate_destroyed', 'A guest is started or restored once.')
    }
    return residents.enter(this) ?? { pooled: pool.acquire(), pages: pool.base.pages }
  }

  /** The isolate with an instance under it. */
  #wake(): Isolate {
    const parked = this.#parked
    if (parked === undefined || this.#wakeWith === undefined) {
      if (this.#isolate === undefined) throw new CaissonError('isolate_destroyed', 'The guest was disposed.')
      this.#options.residents.used(this)
      return this.#isolate
    }
    const { pooled, pages } = this.#enter()
    const isolate = this.#begin(pooled)
    isolate.wake(parked, this.#wakeWith, pages)
    this.#parked = undefined
    return isolate
  }
}

function parkedGuest({ captured }: Isolate, { memoryBytes, state }: MachineCapture): ParkedGuest {
  return { memoryBytes, pages: captured, state: state as IsolateState }
}

function pendingIds({ pending }: IsolateState): readonly number[] {
  return pending.map(({ id }) => id)
}

function publicCall({ id, capability, args, bytes, askedAtMs }: PendingCall): PendingCall {
  return { id, capability, args, bytes, askedAtMs }
}
