/**
 * A run of a plan as it lives in this process: changed and driven by one at a time.
 *
 * Invariants
 * 1. While it is driven, changes go to who drives it; otherwise each takes the lease, and they come one after the other.
 * 2. Whoever waits for it is told when it is at rest, and why it could not go on.
 * 3. Once its runtime was closed nothing is changed or driven here any more, whatever was asked for just before.
 * 4. Nobody has to know it once the run has ended: what a process has run leaves nothing behind.
 */
import { CaissonError } from '../../base/errors.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { RunOwner } from '../run-owner.ts'
import { giveBack } from '../watched-store.ts'
import { HeldPlanRun, type MakeEvents, thrown } from './held-plan-run.ts'
import { outcomeOf } from './plan-outcome.ts'
import { pointOf } from './plan-record.ts'
import type { PlanOutcome } from './plan-run.ts'
import type { PlanRunParts } from './plan-run-parts.ts'

/** Long enough to say that nobody has it. */
const PROBE_MS = 1_000

export class LiveRun {
  readonly parts: PlanRunParts
  readonly owner: RunOwner
  #held: HeldPlanRun | undefined
  #driving: Promise<void> | undefined
  #stop: AbortController | undefined
  #rest: PlanOutcome | undefined
  #failure: Error | undefined
  /** Changes that wait for the one before. */
  #queue: Promise<unknown> = Promise.resolve()
  /** It goes on by itself after each change. */
  #attended = false
  #stopped = false
  readonly #listeners = new Set<() => void>()
  readonly #onEnded: () => void

  /** @param onEnded told when the run has ended for good */
  constructor(parts: Omit<PlanRunParts, 'changed'>, owner: RunOwner, onEnded: () => void = () => {}) {
    this.owner = owner
    this.#onEnded = onEnded
    this.parts = { ...parts, changed: () => this.#tell() }
  }

  get isDriven(): boolean {
    return this.#held !== undefined
  }

  /** Tells of everything that is added to its journal here, and of its coming to rest. @returns what ends that */
  listen(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /**
   * Records events.
   * @param goOn drives it from there on, and after every later change
   */
  async change(make: MakeEvents, goOn: boolean = false, signal?: AbortSignal): Promise<void> {
    for (;;) {
      this.#checkOpen()
      const held = this.#held
      if (held !== undefined && !held.isClosed) return held.record(make)
      // It is coming to rest: what comes now is for the next one.
      if (this.#driving !== undefined) await this.#driving
      else break
    }
    const changed = this.#queue.then(() =>
      this.#held === undefined ? this.#changeAlone(make, goOn, signal) : this.change(make, goOn, signal),
    )
    this.#queue = changed.catch(() => {})
    return changed
  }

  async #changeAlone(make: MakeEvents, goOn: boolean, signal: AbortSignal | undefined): Promise<void> {
    this.#checkOpen()
    const held = await HeldPlanRun.open(this.parts, this.owner)
    try {
      this.#checkOpen()
      await held.record(make)
    } catch (error) {
      await held.close(true)
      throw error
    }
    if (goOn) this.#attended = true
    if (this.#attended && !this.#stopped) this.#drive(held, signal)
    else await held.close(false)
    if (ENDED.has(held.state.status ?? 'proposed')) this.#onEnded()
  }

  #drive(held: HeldPlanRun, signal: AbortSignal | undefined): void {
    const stop = new AbortController()
    const raise = (): void => stop.abort(signal?.reason)
    signal?.addEventListener('abort', raise)
    if (signal?.aborted === true) raise()
    this.#held = held
    this.#stop = stop
    this.#failure = undefined
    this.#rest = undefined
    this.#driving = this.#driveToRest(held, stop.signal).finally(() => {
      signal?.removeEventListener('abort', raise)
      this.#held = undefined
      this.#driving = undefined
      this.#tell()
    })
  }

  /** Never rejects. */
  async #driveToRest(held: HeldPlanRun, signal: AbortSignal): Promise<void> {
    try {
      await held.tellAtWork()
      await held.drive(signal)
      const point = pointOf(this.owner, held.end)
      this.#rest = await outcomeOf(this.owner.run, held.state, held.values, point)
    } catch (error) {
      this.#failure = thrown(error)
    }
    await held.close(this.#failure !== undefined)
    if (ENDED.has(held.state.status ?? 'proposed')) this.#onEnded()
  }

  /** Resolves when it is at rest here; undefined where it was not driven since it was changed last. @throws what kept it from going on */
  async rest(): Promise<PlanOutcome | undefined> {
    await this.#queue
    await this.#driving
    if (this.#failure !== undefined) throw this.#failure
    return this.#rest
  }

  /** Whether somebody else drives it at this moment. Looking takes nothing from whoever does, where the store can say it. */
  async isHeldElsewhere(): Promise<boolean> {
    if (this.isDriven) return false
    const { store } = this.parts
    if (store.isLeased !== undefined) return store.isLeased(this.owner.run)
    try {
      await giveBack(await store.lease(this.owner.run, PROBE_MS))
      return false
    } catch (error) {
      if (CaissonError.is(error, 'store_conflict')) return true
      throw error
    }
  }

  /** Brings it to rest, for good. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#stop?.abort()
    await this.#queue
    await this.#driving
  }

  #checkOpen(): void {
    if (this.#stopped) throw new CaissonError('disposed', 'The runtime was closed.')
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) listener()
  }
}
