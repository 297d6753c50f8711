/**
 * What a holder of a run knows and others do not: how far its entries are acknowledged, and until when it may act.
 *
 * 1. The state of the run changes only from one that still has this holder's token.
 * 2. An entry is acknowledged when it is durable and, after that, the run was still held: whoever takes the run looks
 *    at the log only after the state says so.
 */
import { leaseLost } from '../store-refusals.ts'
import type { OpenRun } from './open-runs.node.ts'
import { lengthOf } from './run-log.node.ts'
import type { NumberedState } from './run-register.node.ts'
import type { RunState, SegmentRecord } from './run-state.node.ts'

export class HeldRun {
  readonly run: string
  readonly token: number
  /** When the lease runs out, by this process's own monotonic clock. */
  untilMs: number
  /** How often it was renewed. */
  beats = 0
  /** Acknowledged entries. Only the last segment may be open. */
  #log: readonly SegmentRecord[]
  /** Whether the last write to the open segment went well. */
  #sound = true

  constructor(run: string, token: number, log: readonly SegmentRecord[], untilMs: number) {
    this.run = run
    this.token = token
    this.#log = log
    this.untilMs = untilMs
  }

  /** Acknowledged entries in the log. */
  get length(): number {
    return lengthOf(this.#log)
  }

  /** The log as acknowledged: nothing behind it is to be read. */
  get sealedLog(): readonly SegmentRecord[] {
    return this.#log.map((segment) => ({ ...segment, open: false }))
  }

  /** The current state. @throws CaissonError `lease_lost` when it is not this holder's any more */
  async current(open: OpenRun): Promise<NumberedState> {
    const current = await open.register.read()
    if (current?.state.token !== this.token || current.state.lease === undefined) throw leaseLost(this.run)
    return current
  }

  /**
   * Replaces the state, with what `change` makes of the current one, as often as it takes.
   * @throws CaissonError `lease_lost`
   */
  async change(
    open: OpenRun,
    change: (current: RunState) => Partial<RunState> | Promise<Partial<RunState>>,
  ): Promise<NumberedState> {
    for (;;) {
      const { number, state } = await this.current(open)
      const next = { ...state, first: false, log: this.#log, ...(await change(state)) }
      const changed = await open.register.advance(number, next)
      // Otherwise a collection touched the state, or somebody else has the run by now.
      if (changed !== undefined) return changed
    }
  }

  /** Adds entries, which count from when this resolves. */
  async append(open: OpenRun, entries: readonly Uint8Array[]): Promise<void> {
    const last = this.#log.at(-1)
    if (last?.open === true && this.#sound) {
      this.#sound = false
      const grown = await open.log.append(last, entries)
      await this.current(open)
      this.#log = [...this.#log.slice(0, -1), grown]
    } else {
      await this.#appendAnew(open, entries)
    }
    this.#sound = true
  }

  /** Makes the log end where it is acknowledged, and the run free. */
  async giveBack(open: OpenRun): Promise<void> {
    await this.change(open, () => ({ lease: undefined, log: this.sealedLog }))
  }

  async #appendAnew(open: OpenRun, entries: readonly Uint8Array[]): Promise<void> {
    const before = this.sealedLog
    const log = await open.log.start(before, entries)
    this.#sound = false
    try {
      await this.change(open, () => ({ log }))
    } catch (error) {
      // It may have got its name all the same, so the file stays; a collection removes what no state names.
      await open.log.close()
      throw error
    }
    const stays = new Set(log.map(({ id }) => id))
    this.#log = log
    await open.log.drop(before.filter(({ id }) => !stays.has(id)))
  }
}
