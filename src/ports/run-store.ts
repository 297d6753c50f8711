/**
 * Where runs live when no process does: checkpoints by digest, one head for each run, and an append-only log
 * beside them that no checkpoint can turn back.
 *
 * Everything here is bytes that the store does not understand. Whoever reads them checks them: a store may be
 * a disk that others write to.
 */
import type { Digest } from '../base/digest.ts'
import type { Lease } from './lease.ts'

/** What a run goes on from. */
export interface RunHead {
  /** Grows by one with every change of the head; what `setHead` compares. The first is 1. */
  readonly version: number
  /** Checkpoints that the run needs, newest first, down to one that stands alone. Empty before the first. */
  readonly chain: readonly Digest[]
  /** Entries of the log that the newest checkpoint includes. */
  readonly position: number
  /** For people and lists: what the run is and waits for. At most 16 KiB; nothing is decided by it. */
  readonly summary: Uint8Array
}

/** The right to write to a run, for a while. */
export interface RunLease extends Lease {
  /** Prolongs it. @throws CaissonError `lease_lost` when somebody else has it by now */
  renew(ttlMs: number): Promise<void>
  /** Gives it back. Never throws; does nothing when it was lost. */
  release(): Promise<void>
}

/**
 * Invariants that every store keeps
 * 1. What was acknowledged is there after the process, or the machine, dies. What was not is there whole or not at all.
 * 2. A head changes only for who holds the newest lease and knows its version; of two who try, one wins.
 * 3. Log entries are numbered from 0 without gaps, and never change.
 * 4. Collecting garbage removes nothing that a head's chain names, nor what was put within the grace time.
 *
 * Names of runs are 1 to 128 characters of `A-Z a-z 0-9 . _ -`, not beginning with a dot. Every method rejects
 * with a CaissonError: `invalid_argument`, `store_conflict`, `lease_lost`, `quota_exceeded`, `store_failed`
 * (with the cause), `corrupted` (the store finds its own files changed), `disposed`; what was acknowledged before
 * stays intact.
 */
export interface RunStore {
  /**
   * Keeps bytes under the digest that names them, up to 512 MiB. Putting the same again only makes them young for
   * `collect`. The bytes must not change before it resolves.
   */
  putBlob(id: Digest, bytes: Uint8Array): Promise<void>
  /** A copy of the bytes; undefined when they are not there. They may not be what was put: check them. */
  getBlob(id: Digest): Promise<Uint8Array | undefined>
  /** Undefined for a run that does not exist. */
  head(run: string): Promise<RunHead | undefined>
  /**
   * Replaces the head, or makes the run (`head.version` 1).
   * @throws CaissonError `store_conflict` unless `head.version` is the next one, `lease_lost` when a newer lease was
   * given, `invalid_argument` when the chain names a checkpoint that was not put (or was collected since), or
   * `position` is beyond the end of the log
   */
  setHead(run: string, head: RunHead, lease: RunLease): Promise<void>
  /**
   * Adds entries (each up to 64 MiB) to the log of a run, which need not have a head yet; all of them or none.
   * @param at how many entries the log has; with more or fewer it is a `store_conflict`
   */
  append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void>
  /**
   * Entries from number `from` on, at most `most` of them. Shorter at the end of the log.
   * @throws CaissonError `corrupted` where it finds what it has damaged, with `details: { entry }` where it knows the
   *   number of the first one that it cannot give: those before it can be had
   */
  entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]>
  /**
   * @param ttlMs after so long without `renew` somebody else may take it
   * @throws CaissonError `store_conflict` while somebody else holds it, with `details.retryAfterMs`
   */
  lease(run: string, ttlMs: number): Promise<RunLease>
  /**
   * Whether somebody holds it at this moment. Takes nothing, so that who only looks stops nobody whose lease ran out in a
   * pause. Where it is left out, a lease is taken for that, and given back.
   */
  isLeased?(run: string): Promise<boolean>
  /** Names of all runs that have a head or a log, sorted. */
  runs(): Promise<readonly string[]>
  /** Removes head and log. Its checkpoints go with the next collection. */
  remove(run: string, lease: RunLease): Promise<void>
  /** Removes checkpoints that no head needs and that were put longer than `graceMs` (default one hour) ago. */
  collect(options?: CollectOptions): Promise<Collected>
  close(): Promise<void>
}

export interface CollectOptions {
  /** Younger checkpoints stay: their heads may be about to be set. Milliseconds, default one hour. */
  readonly graceMs?: number
  /** Only says what would be removed. */
  readonly dryRun?: boolean
}

/** What a collection removed, or would remove. */
export interface Collected {
  /** Checkpoints. */
  readonly removed: number
  /** What they took as stored. */
  readonly bytes: number
}
