/**
 * Runs in a page, in IndexedDB, for any number of tabs at once.
 *
 * 1. Every change is one transaction that asks for strict durability: what resolves is on the disk.
 * 2. What two tabs must not both do is decided in one transaction each; IndexedDB runs those one after the other.
 * 3. A holder holds a Web Lock too, which the browser frees when its tab dies. One that lives and is silent for as
 *    long as its lease lasts is overridden; its token makes sure that it changes nothing any more.
 */
import { get, promisifyRequest, setMany } from 'idb-keyval'
import type { Digest } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import { aText, checkOptions, type OptionChecks } from '../../src/base/option-checks.ts'
import type { Collected, CollectOptions, RunHead, RunLease, RunStore } from '../../src/ports/run-store.ts'
import {
  checkBlob,
  checkDigest,
  checkedEntries,
  checkedHead,
  checkRange,
  checkRunName,
  checkTtl,
  graceOf,
} from './check-arguments.ts'
import { HeldLeases } from './held-leases.ts'
import { type DurableDatabase, databaseError, openDurableDatabase } from './indexed-db/durable-database.ts'
import {
  allRuns,
  beginningWith,
  blobKey,
  isHeldWith,
  isVisible,
  logRange,
  putKey,
  type RunRecord,
  raiseFloor,
  recordOf,
  runKey,
} from './indexed-db/run-records.ts'
import { type HeldInTab, TabLeases } from './indexed-db/tab-leases.ts'
import { tabLocks } from './indexed-db/tab-locks.ts'
import {
  headMoved,
  leaseLost,
  logMoved,
  missingCheckpoint,
  positionBeyondLog,
  storeClosed,
} from './store-refusals.ts'
import { StoreWork } from './store-work.ts'

export interface IndexedDbRunStoreOptions {
  /** Name of the database. Default `caisson`. */
  readonly name?: string
}

const OPTIONS: OptionChecks<IndexedDbRunStoreOptions> = { name: aText }

/**
 * Opens the store in the database of that name, and makes it where it is missing.
 *
 * Ask the user to keep the storage of the site (`navigator.storage.persist()`) where runs matter: without that a
 * browser that is short of room may remove it whole.
 * @throws CaissonError `unsupported` without IndexedDB, `store_failed` and `quota_exceeded` with the cause
 */
export async function openIndexedDbRunStore(options: IndexedDbRunStoreOptions = {}): Promise<RunStore> {
  checkOptions(options, OPTIONS)
  const name = options.name ?? 'caisson'
  try {
    return new IndexedDbRunStore(name, await openDurableDatabase(name))
  } catch (error) {
    throw databaseError('opening the store', error)
  }
}

class IndexedDbRunStore implements RunStore {
  readonly #database: DurableDatabase
  readonly #leases: TabLeases
  readonly #work = new StoreWork(databaseError)
  readonly #held: HeldLeases<HeldInTab> = new HeldLeases(this.#work, {
    nowMs: () => performance.now(),
    isHeld: (held) => this.#isHeld(held),
    renew: (held, ttlMs) => this.#renew(held, ttlMs),
    giveBack: (held) => this.#giveBack(held),
  })

  constructor(name: string, database: DurableDatabase) {
    this.#database = database
    this.#leases = new TabLeases(name, database, tabLocks())
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    checkBlob(id, bytes)
    // A copy, also because a view would be stored with all of its buffer.
    const copy = new Uint8Array(bytes)
    await this.#work.do('putting a checkpoint', () =>
      setMany(
        [
          [blobKey(id), copy],
          [putKey(id), Date.now()],
        ],
        this.#database.use,
      ),
    )
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    checkDigest(id)
    return this.#work.do('getting a checkpoint', () => get<Uint8Array>(blobKey(id), this.#database.use))
  }

  async head(run: string): Promise<RunHead | undefined> {
    checkRunName(run)
    const record = await this.#work.do('reading a head', () =>
      get<RunRecord>(runKey(run), this.#database.use),
    )
    return record?.head
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    checkRunName(run)
    const copy = checkedHead(head)
    const { version, position } = copy
    await this.#change(run, lease, 'setting a head', async (store, record) => {
      const found = record.head?.version ?? 0
      if (version !== found + 1) throw headMoved(run, found, version)
      if (position > record.entries) throw positionBeyondLog(run, position, record.entries)
      for (const id of copy.chain) {
        const key = await promisifyRequest(store.getKey(blobKey(id)))
        if (key === undefined) throw missingCheckpoint(run, id)
      }
      return { ...record, head: copy }
    })
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    checkRunName(run)
    const copies = checkedEntries(at, entries)
    await this.#change(run, lease, 'appending to a log', async (store, record) => {
      if (record.entries !== at) throw logMoved(run, record.entries, at)
      for (const [index, entry] of copies.entries()) store.put(entry, ['log', run, at + index])
      return { ...record, entries: at + copies.length }
    })
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    checkRunName(run)
    checkRange(from, most)
    return this.#transact('readonly', 'reading a log', async (store) => {
      const end = Math.min(from + most, (await recordOf(store, run))?.entries ?? 0)
      if (from >= end) return []
      return promisifyRequest(store.getAll(logRange(run, from, end)) as IDBRequest<Uint8Array[]>)
    })
  }

  async isLeased(run: string): Promise<boolean> {
    checkRunName(run)
    return this.#work.do('looking after a lease', () => this.#leases.isHeld(run))
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    checkRunName(run)
    checkTtl(ttlMs)
    return this.#work.do('taking a lease', async () => this.#held.add(await this.#leases.take(run, ttlMs)))
  }

  async runs(): Promise<readonly string[]> {
    return this.#transact('readonly', 'listing runs', async (store) => {
      const all = await allRuns(store)
      return all
        .filter(([, record]) => isVisible(record))
        .map(([run]) => run)
        .sort()
    })
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    checkRunName(run)
    await this.#change(run, lease, 'removing a run', async (store, record) => {
      store.delete(beginningWith('log', run))
      await raiseFloor(store, record.token)
      return undefined
    })
    this.#forget(run)
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    const graceMs = graceOf(options)
    return this.#transact('readwrite', 'collecting', async (store) => {
      const needed = new Set<string>()
      for (const [run, record] of await allRuns(store)) {
        for (const id of record.head?.chain ?? []) needed.add(id)
        if (options?.dryRun === true || record.lease !== undefined || isVisible(record)) continue
        store.delete(runKey(run))
        await raiseFloor(store, record.token)
      }
      const range = beginningWith('put')
      const keys = (await promisifyRequest(store.getAllKeys(range))) as [string, Digest][]
      const times = (await promisifyRequest(store.getAll(range))) as number[]
      const now = Date.now()
      let removed = 0
      let bytes = 0
      for (const [index, [, id]] of keys.entries()) {
        const young = graceMs > 0 && now - (times[index] ?? now) < graceMs
        if (needed.has(id) || young) continue
        const blob = (await promisifyRequest(store.get(blobKey(id)))) as Uint8Array | undefined
        removed += 1
        bytes += blob?.byteLength ?? 0
        if (options?.dryRun === true) continue
        store.delete(blobKey(id))
        store.delete(putKey(id))
      }
      return { removed, bytes }
    })
  }

  close(): Promise<void> {
    return this.#work.close(async () => {
      await this.#held.giveAllBack()
      this.#database.close()
    })
  }

  async #isHeld({ run, token, lock }: HeldInTab): Promise<boolean> {
    const record = await this.#work.do('looking after a lease', () =>
      get<RunRecord>(runKey(run), this.#database.use),
    )
    return isHeldWith(token, record) && !lock.stolen
  }

  async #renew({ run, token }: HeldInTab, ttlMs: number): Promise<void> {
    await this.#change(run, { fencingToken: token }, 'renewing a lease', async (_store, record) => {
      const { lease } = record
      return { ...record, lease: lease && { ...lease, ttlMs, beats: lease.beats + 1 } }
    })
  }

  async #giveBack(held: HeldInTab): Promise<void> {
    if (!this.#held.drop(held)) return
    try {
      await this.#database.transact('readwrite', async (store) => {
        const record = await recordOf(store, held.run)
        if (record !== undefined && isHeldWith(held.token, record)) {
          store.put({ ...record, lease: undefined }, runKey(held.run))
        }
      })
    } catch {
      // The lock is given back all the same.
    }
    held.lock.release()
  }

  /** Replaces the record of a run that is held; `undefined` removes it. */
  async #change(
    run: string,
    lease: Pick<RunLease, 'fencingToken'>,
    doing: string,
    change: (store: IDBObjectStore, record: RunRecord) => Promise<RunRecord | undefined>,
  ): Promise<void> {
    if (this.#work.isClosing) throw storeClosed()
    const held = this.#held.of(run)
    if (held?.token !== lease.fencingToken) throw leaseLost(run)
    try {
      if (held.lock.stolen) throw leaseLost(run)
      await this.#transact('readwrite', doing, async (store) => {
        const record = await recordOf(store, run)
        if (record === undefined || !isHeldWith(lease.fencingToken, record)) throw leaseLost(run)
        const next = await change(store, record)
        if (next === undefined) store.delete(runKey(run))
        else store.put(next, runKey(run))
      })
    } catch (error) {
      if (CaissonError.is(error, 'lease_lost')) this.#forget(run)
      throw error
    }
  }

  #forget(run: string): void {
    const held = this.#held.of(run)
    if (held !== undefined && this.#held.drop(held)) held.lock.release()
  }

  #transact<T>(
    mode: IDBTransactionMode,
    doing: string,
    act: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> {
    return this.#work.do(doing, () => this.#database.transact(mode, act))
  }
}
