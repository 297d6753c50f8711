/**
 * Prepared modules in a page, in IndexedDB, for any number of tabs at once.
 *
 * 1. An entry and what is known of it are put, and dropped, in one transaction: who reads gets the old bytes or the new ones,
 *    whole. Nothing is asked to be on the disk: what a crash leaves behind is recognised by its authentication.
 * 2. Whatever scripts of the site can write to the database. What is not as it is written here is not there, and what is
 *    larger than asked for is not read.
 * 3. All tabs together stay below `maxBytes`: what was used longest ago goes first.
 * 4. No tab keeps others from removing the database, which is made anew with the next entry.
 */
import { createStore, promisifyRequest, type UseStore } from 'idb-keyval'
import { CaissonError } from '../../src/base/errors.ts'
import { aText, checkOptions, type OptionChecks, wholeFrom } from '../../src/base/option-checks.ts'
import type { PreparedStore } from '../../src/ports/prepared-store.ts'
import { completed, databaseError } from '../store/indexed-db/durable-database.ts'

export interface IndexedDbPreparedStoreOptions {
  /** Name of the database, which is for nothing else. Default `caisson-prepared`. */
  readonly name?: string
  /** Of all entries together; default 256 MiB. */
  readonly maxBytes?: number
}

const OPTIONS: OptionChecks<IndexedDbPreparedStoreOptions> = { name: aText, maxBytes: wholeFrom(0) }

const ENTRIES = 'entries'
const NAME = /^[0-9a-f]{64}$/
/** An entry that is read has its time set anew, not more often than this. */
const USED_MS = 3_600_000

/** What is known of an entry without reading it. */
interface Use {
  readonly bytes: number
  readonly usedMs: number
}

const bytesKey = (name: string): IDBValidKey => ['bytes', name]
const useKey = (name: string): IDBValidKey => ['use', name]
/** Arrays come after texts. */
const ALL_USES = (): IDBKeyRange => IDBKeyRange.bound(['use'], ['use', []])

/** @throws CaissonError `unsupported` without IndexedDB, `invalid_argument` */
export function createIndexedDbPreparedStore(options: IndexedDbPreparedStoreOptions = {}): PreparedStore {
  checkOptions(options, OPTIONS)
  if (typeof indexedDB === 'undefined') throw new CaissonError('unsupported', 'There is no IndexedDB here.')
  return new IndexedDbPreparedStore(options)
}

class IndexedDbPreparedStore implements PreparedStore {
  readonly #database: string
  readonly #maxBytes: number
  #use: UseStore | undefined

  constructor({ name = 'caisson-prepared', maxBytes = 256 * 1024 * 1024 }: IndexedDbPreparedStoreOptions) {
    this.#database = name
    this.#maxBytes = maxBytes
  }

  async get(name: string, mostBytes: number): Promise<Uint8Array | undefined> {
    checkName(name)
    const found = await this.#transact('readonly', 'reading a prepared module', async (store) => {
      const use: unknown = await promisifyRequest(store.get(useKey(name)))
      if (!isUse(use) || use.bytes > mostBytes) return undefined
      const bytes: unknown = await promisifyRequest(store.get(bytesKey(name)))
      return bytes instanceof Uint8Array && bytes.length === use.bytes ? { use, bytes } : undefined
    })
    if (found === undefined) return undefined
    if (Math.abs(Date.now() - found.use.usedMs) > USED_MS) await this.#touch(name)
    return found.bytes
  }

  async put(name: string, bytes: Uint8Array): Promise<void> {
    checkName(name)
    if (bytes.length > this.#maxBytes) return
    // A copy: a view would be stored with all of its buffer.
    const copy = new Uint8Array(bytes)
    await this.#transact('readwrite', 'keeping a prepared module', async (store) => {
      await this.#makeRoom(store, name, copy.length)
      const use: Use = { bytes: copy.length, usedMs: Date.now() }
      store.put(copy, bytesKey(name))
      store.put(use, useKey(name))
    })
  }

  /** For an entry that is to be put under the name. */
  async #makeRoom(store: IDBObjectStore, name: string, needed: number): Promise<void> {
    const keys = await promisifyRequest(store.getAllKeys(ALL_USES()))
    const uses: readonly unknown[] = await promisifyRequest(store.getAll(ALL_USES()))
    const kept: (Use & { readonly name: string })[] = []
    for (const [index, key] of keys.entries()) {
      const own = String((key as readonly unknown[])[1])
      const use = uses[index]
      if (own === name) continue
      if (isUse(use)) kept.push({ ...use, name: own })
      else for (const unknown of [key, bytesKey(own)]) store.delete(unknown)
    }
    let total = kept.reduce((sum, { bytes }) => sum + bytes, needed)
    for (const oldest of kept.sort((a, b) => a.usedMs - b.usedMs)) {
      if (total <= this.#maxBytes) return
      store.delete(bytesKey(oldest.name))
      store.delete(useKey(oldest.name))
      total -= oldest.bytes
    }
  }

  async #touch(name: string): Promise<void> {
    const touched = this.#transact('readwrite', 'using a prepared module', async (store) => {
      const use: unknown = await promisifyRequest(store.get(useKey(name)))
      // It may be gone by now.
      if (isUse(use)) store.put({ ...use, usedMs: Date.now() }, useKey(name))
    })
    // What was read is good all the same.
    await touched.catch(() => {})
  }

  async #transact<T>(
    mode: IDBTransactionMode,
    doing: string,
    act: (store: IDBObjectStore) => Promise<T>,
  ): Promise<T> {
    this.#use ??= createStore(this.#database, ENTRIES)
    const use = this.#use
    try {
      return await use(mode, (store) => {
        const { db } = store.transaction
        db.onversionchange = () => {
          db.close()
          if (this.#use === use) this.#use = undefined
        }
        return completed(store, act)
      })
    } catch (error) {
      throw databaseError(doing, error)
    }
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw new CaissonError('invalid_argument', 'The name of an entry is 64 hex digits.')
}

function isUse(value: unknown): value is Use {
  const { bytes, usedMs } = (value ?? {}) as Partial<Use>
  return Number.isSafeInteger(bytes) && (bytes as number) >= 0 && Number.isFinite(usedMs)
}
