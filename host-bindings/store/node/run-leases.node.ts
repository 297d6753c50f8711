/**
 * Taking, renewing and giving back the right to write to a run.
 *
 * 1. A lease is taken by replacing the state of the run: of two who try, one wins. Its token is the number of that
 *    state, so it grows with every holder, whatever any clock says, and also after the run was removed and made anew.
 * 2. Whoever takes a run from a holder who did not give it back first takes its token away, and then looks at how far
 *    its log goes: nothing can be acknowledged in between.
 * 3. A holder renews beside the state, so others see it without anything being made durable. A holder who is late
 *    replaces the state, so that not both of them and somebody who finds the run free go on.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { newLeaseId } from '../held-leases.ts'
import { heldByOther, takenJustNow } from '../store-refusals.ts'
import { HeldRun } from './held-run.node.ts'
import { formatBeat, LeaseWatch } from './lease-watch.ts'
import type { Machine } from './machine.node.ts'
import type { OpenRun } from './open-runs.node.ts'
import type { NumberedState } from './run-register.node.ts'
import { type LeaseRecord, NEW_RUN, type RunState, type SegmentRecord } from './run-state.node.ts'
import { readWhole, removeQuietly, scribble } from './store-files.node.ts'
import type { StoreRoot } from './store-root.node.ts'

const MAX_BEAT_BYTES = 1_024

export class RunLeases {
  readonly #root: StoreRoot
  readonly #machine: Machine
  readonly #watch: LeaseWatch

  constructor(root: StoreRoot, machine: Machine) {
    this.#root = root
    this.#machine = machine
    this.#watch = new LeaseWatch(machine)
  }

  /** @throws CaissonError `store_conflict` while somebody holds the run */
  async take(open: OpenRun, ttlMs: number): Promise<HeldRun> {
    for (;;) {
      // From before anybody else can see the lease: this holder stops before others begin.
      const untilMs = this.#machine.monotonicMs() + ttlMs
      const before = await open.register.read()
      if (before !== undefined) await this.#checkFree(open, before.state)
      const lease = this.#newLease(ttlMs)
      const taken = await this.#replace(open, before, lease)
      if (taken === undefined) continue
      this.#watch.forget(open.run)
      const held = new HeldRun(open.run, taken.state.token, taken.state.log, untilMs)
      const last = taken.state.log.at(-1)
      if (last?.open !== true) return held
      return this.#afterLoss(open, held, last, before?.state.token ?? 0)
    }
  }

  /** @throws CaissonError `lease_lost` */
  async renew(open: OpenRun, held: HeldRun, ttlMs: number): Promise<void> {
    held.beats += 1
    const beat = formatBeat(this.#machine.uptimeMs(), ttlMs, held.beats)
    await held.current(open)
    await scribble(open.folder, beatOf(held.token), new TextEncoder().encode(beat))
    if (this.#machine.monotonicMs() < held.untilMs) await held.current(open)
    // Invariant 3: somebody may have seen it run out, and be about to take it.
    else await held.change(open, ({ lease }) => ({ lease: lease && { ...lease, ...this.#times(ttlMs) } }))
  }

  /** Makes the run free at once. */
  async giveBack(open: OpenRun, held: HeldRun): Promise<void> {
    await held.giveBack(open)
    if (held.beats > 0) await removeQuietly(open.folder, beatOf(held.token))
  }

  /** Whether somebody holds the run by this state. Nothing is changed. */
  async isTaken(open: OpenRun, state: RunState): Promise<boolean> {
    return (await this.#remainingMs(open, state)) > 0
  }

  async #checkFree(open: OpenRun, state: RunState): Promise<void> {
    const remainingMs = await this.#remainingMs(open, state)
    if (remainingMs > 0) throw heldByOther(open.run, remainingMs)
  }

  async #remainingMs(open: OpenRun, { lease, token }: RunState): Promise<number> {
    if (lease === undefined) return 0
    const beat = await readWhole(open.folder, beatOf(token), MAX_BEAT_BYTES)
    const text = beat && new TextDecoder().decode(beat)
    return this.#watch.remainingMs(open.run, lease, text)
  }

  #newLease(ttlMs: number): LeaseRecord {
    const id = newLeaseId()
    return { id, machine: this.#machine.id, process: this.#machine.process, ...this.#times(ttlMs) }
  }

  #times(ttlMs: number): Pick<LeaseRecord, 'ttlMs' | 'uptimeMs'> {
    return { ttlMs, uptimeMs: this.#machine.uptimeMs() }
  }

  async #replace(
    open: OpenRun,
    before: NumberedState | undefined,
    lease: LeaseRecord,
  ): Promise<NumberedState | undefined> {
    const state = before?.state ?? NEW_RUN
    const take = (number: number): Promise<NumberedState | undefined> =>
      open.register.advance(number, {
        ...state,
        first: before === undefined,
        removed: false,
        lease,
        token: number + 1,
      })
    if (before !== undefined) return take(before.number)
    // Whoever made the folder may not have come this far.
    await this.#root.runs.sync()
    let floor = await this.#root.floor()
    for (;;) {
      const taken = await take(floor)
      const newFloor = await this.#root.floor()
      // The run was made and removed by others since the floor was read: begin above what they had.
      if (taken === undefined || newFloor < taken.number) return taken
      floor = newFloor
    }
  }

  /** Invariant 2. The holder before was not there to say how far its log goes. */
  async #afterLoss(open: OpenRun, held: HeldRun, last: SegmentRecord, lost: number): Promise<HeldRun> {
    try {
      const tail = await open.log.tail(last)
      const before = held.sealedLog
      const log = tail.length === 0 ? before : await open.log.start(before, tail)
      await held.change(open, () => ({ log }))
      const stays = new Set(log.map(({ id }) => id))
      await open.log.drop(before.filter(({ id }) => !stays.has(id)))
      await removeQuietly(open.folder, beatOf(lost))
      return new HeldRun(open.run, held.token, log, held.untilMs)
    } catch (error) {
      if (CaissonError.is(error, 'lease_lost')) throw takenJustNow(open.run)
      // Free again, and still not looked at: whoever comes next does that.
      await held.change(open, ({ log }) => ({ lease: undefined, log })).catch(() => {})
      throw error
    }
  }
}

function beatOf(token: number): string {
  return `beat-${token}`
}
