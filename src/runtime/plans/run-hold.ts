/**
 * A run that is held while something is done with all of it: made, driven, taken over, given away, erased, cut.
 *
 * Invariants
 * 1. Its lease is prolonged until it is given back, however long that takes.
 * 2. Parts of it have leases of their own. A part is changed by nobody who has not held the run after taking the part: who
 *    was overtaken leaves what the next one made alone, however late it wakes up.
 */
import { CaissonError } from '../../base/errors.ts'
import type { RunLease } from '../../ports/run-store.ts'
import { giveBack, prolong, type WatchedStore } from '../watched-store.ts'
import type { PlanRunParts } from './plan-run-parts.ts'

export type HoldParts = Pick<PlanRunParts, 'store' | 'leaseMs'>

export class RunHold {
  readonly lease: RunLease
  readonly #parts: HoldParts
  readonly #run: string
  readonly #renewal: ReturnType<typeof setInterval>

  private constructor(parts: HoldParts, run: string, lease: RunLease) {
    const { leaseMs } = parts
    this.lease = lease
    this.#parts = parts
    this.#run = run
    this.#renewal = setInterval(() => void prolong(lease, leaseMs), leaseMs / 3)
  }

  /** @throws CaissonError `store_conflict` while somebody else holds it, `store_failed` */
  static async take(parts: HoldParts, run: string): Promise<RunHold> {
    return new RunHold(parts, run, await parts.store.lease(run, parts.leaseMs))
  }

  /** Changes a part. @throws CaissonError `lease_lost`, `store_conflict`, and what `work` throws */
  async withPart<T>(name: string, work: (lease: RunLease, store: WatchedStore) => Promise<T>): Promise<T> {
    const { store, leaseMs } = this.#parts
    const lease = await store.lease(name, leaseMs)
    try {
      await this.check()
      return await work(lease, store)
    } finally {
      await giveBack(lease)
    }
  }

  /** @throws CaissonError `unsupported` where the store removes nothing, and as `withPart` */
  async removePart(name: string): Promise<void> {
    if (this.#parts.store.remove === undefined)
      throw new CaissonError('unsupported', 'The store removes nothing: what is in it cannot be erased.')
    await this.withPart(name, async (lease, store) => store.remove?.(name, lease))
  }

  /** Never throws. */
  async giveBack(): Promise<void> {
    clearInterval(this.#renewal)
    await giveBack(this.lease)
  }

  /** Whether it was held all the while, so far. @throws CaissonError `lease_lost` */
  async check(): Promise<void> {
    if (await isHeld(this.lease)) return
    // It ran out in a pause of this process: nobody may have come.
    await prolong(this.lease, this.#parts.leaseMs)
    if (await isHeld(this.lease)) return
    throw new CaissonError(
      'lease_lost',
      `The run "${this.#run}" was taken over by somebody else meanwhile: look at it again.`,
      { details: { run: this.#run } },
    )
  }
}

async function isHeld(lease: RunLease): Promise<boolean> {
  try {
    return await lease.held()
  } catch {
    return false
  }
}
