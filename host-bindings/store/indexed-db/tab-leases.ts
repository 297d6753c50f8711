/**
 * Taking a run in one tab, so that no other has it.
 *
 * 1. The record says who holds a run, and is replaced in one transaction: of two tabs that try, one wins.
 * 2. A holder also holds a Web Lock, which the browser frees when its tab dies: then the run can be had at once.
 * 3. A holder whose tab lives, or that has no such lock, must have been silent for as long as its lease lasts, by the
 *    clock of the tab that waits.
 */
import { get } from 'idb-keyval'
import { type HeldLease, newLeaseId } from '../held-leases.ts'
import { StillnessWatch } from '../stillness-watch.ts'
import { heldByOther, takenJustNow } from '../store-refusals.ts'
import type { DurableDatabase } from './durable-database.ts'
import { floorOf, type LeaseRecord, type RunRecord, recordOf, runKey } from './run-records.ts'
import type { TabLock, TabLocks } from './tab-locks.ts'

/** A run that this tab holds. */
export interface HeldInTab extends HeldLease {
  readonly lock: TabLock
}

export class TabLeases {
  readonly #name: string
  readonly #database: DurableDatabase
  readonly #locks: TabLocks
  readonly #watch = new StillnessWatch()

  /** @param name of the database, which all its tabs know */
  constructor(name: string, database: DurableDatabase, locks: TabLocks) {
    this.#name = name
    this.#database = database
    this.#locks = locks
  }

  /** @throws CaissonError `store_conflict` while somebody holds the run */
  async take(run: string, ttlMs: number): Promise<HeldInTab> {
    const untilMs = performance.now() + ttlMs
    const lockName = this.#lockOf(run)
    let lock = await this.#locks.take(lockName)
    try {
      const before = (await get<RunRecord>(runKey(run), this.#database.use))?.lease
      if (before === undefined) {
        // Another tab is just taking it, or giving it back.
        if (lock === undefined) throw takenJustNow(run)
      } else if (lock === undefined || !before.locked || !this.#locks.available) {
        this.#checkSilent(run, before)
      }
      lock ??= await this.#locks.steal(lockName)
      if (lock === undefined) throw takenJustNow(run)
      const token = await this.#replace(run, before, ttlMs)
      this.#watch.forget(run)
      return { run, token, lock, untilMs }
    } catch (error) {
      lock?.release()
      throw error
    }
  }

  /** Whether somebody holds it, as `take` would find. Takes nothing. */
  async isHeld(run: string): Promise<boolean> {
    const lease = (await get<RunRecord>(runKey(run), this.#database.use))?.lease
    if (lease === undefined) return false
    const isDead = lease.locked && this.#locks.available && !(await this.#locks.isTaken(this.#lockOf(run)))
    return !isDead && this.#silentInMs(run, lease) > 0
  }

  #lockOf(run: string): string {
    return `caisson ${this.#name} ${run}`
  }

  #checkSilent(run: string, lease: LeaseRecord): void {
    const leftMs = this.#silentInMs(run, lease)
    if (leftMs > 0) throw heldByOther(run, leftMs)
  }

  /** Invariant 3. */
  #silentInMs(run: string, { id, beats, ttlMs }: LeaseRecord): number {
    return ttlMs - this.#watch.unchangedMs(run, `${id} ${beats}`, performance.now())
  }

  /** Takes the run, if its lease is still the one that was looked at. @returns the token */
  #replace(run: string, before: LeaseRecord | undefined, ttlMs: number): Promise<number> {
    return this.#database.transact('readwrite', async (store) => {
      const record = await recordOf(store, run)
      const { lease } = record ?? {}
      if (lease?.id !== before?.id || lease?.beats !== before?.beats) throw takenJustNow(run)
      const token = 1 + (record?.token ?? (await floorOf(store)))
      const next: LeaseRecord = {
        id: newLeaseId(),
        ttlMs,
        beats: 0,
        locked: this.#locks.available,
      }
      const rest = record ?? { head: undefined, entries: 0 }
      store.put({ ...rest, token, lease: next } satisfies RunRecord, runKey(run))
      return token
    })
  }
}
