/**
 * A database of one object store, whose transactions are on the disk when they are complete.
 *
 * 1. Browsers complete a transaction when the operating system has its bytes, unless they are asked for more: every
 *    change here asks for strict durability.
 * 2. A database that was removed under an open page is not made anew: that would answer "nothing is there".
 */
import { promisifyRequest, type UseStore } from 'idb-keyval'
import { CaissonError } from '../../../src/base/errors.ts'

const OBJECTS = 'objects'

/** An open database. */
export interface DurableDatabase {
  /** What `idb-keyval` takes, and what opens every transaction here. */
  readonly use: UseStore
  /**
   * Acts in one transaction, which is complete when this resolves, and undone when `act` rejects. `act` may await
   * requests of this transaction, and nothing else.
   */
  transact<T>(mode: IDBTransactionMode, act: (store: IDBObjectStore) => Promise<T>): Promise<T>
  close(): void
}

/** Opens the database, and makes it where it is missing. */
export async function openDurableDatabase(name: string): Promise<DurableDatabase> {
  if (typeof indexedDB === 'undefined') {
    throw new CaissonError('unsupported', 'There is no IndexedDB here.')
  }
  let opening: Promise<IDBDatabase> | undefined = open(name, true)
  const database = await opening
  // The browser closes it when the user clears the data of the site, and another page when it removes it.
  const watch = (opened: IDBDatabase): IDBDatabase => {
    opened.onclose = () => {
      opening = undefined
    }
    opened.onversionchange = () => {
      opened.close()
      opening = undefined
    }
    return opened
  }
  watch(database)
  const connect = (): Promise<IDBDatabase> => {
    opening ??= open(name, false).then(watch, (error: unknown) => {
      opening = undefined
      throw error
    })
    return opening
  }
  const use: UseStore = async (mode, callback) => {
    const options: IDBTransactionOptions = mode === 'readwrite' ? { durability: 'strict' } : {}
    const transaction = (await connect()).transaction(OBJECTS, mode, options)
    return callback(transaction.objectStore(OBJECTS))
  }
  return {
    use,
    transact: (mode, act) => use(mode, (store) => completed(store, act)),
    close: () => {
      opening?.then(
        (opened) => opened.close(),
        () => {},
      )
      opening = Promise.reject(new CaissonError('disposed', 'The store was closed.'))
      opening.catch(() => {})
    },
  }
}

/** Acts in the transaction of the store: what it gave, once the transaction is complete; undone where `act` rejects. */
export async function completed<T>(
  store: IDBObjectStore,
  act: (store: IDBObjectStore) => Promise<T>,
): Promise<T> {
  const { transaction } = store
  const ended = promisifyRequest(transaction)
  ended.catch(() => {}) // it may fail while `act` is still waiting for something else
  try {
    const result = await act(store)
    await ended
    return result
  } catch (error) {
    if (transaction.error === null) {
      try {
        transaction.abort()
      } catch {
        // It has ended already.
      }
    }
    await ended.catch(() => {})
    // A request that failed says less than why the whole did: a full disk, for example.
    throw CaissonError.is(error) ? error : (transaction.error ?? error)
  }
}

function open(name: string, make: boolean): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(name, 1)
    request.onupgradeneeded = () => {
      if (make) request.result.createObjectStore(OBJECTS)
      else request.transaction?.abort()
    }
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => {
      const vanished = !make && request.error?.name === 'AbortError'
      reject(
        vanished ? vanishedError(request.error) : (request.error ?? new Error('IndexedDB does not open.')),
      )
    }
  })
}

/** Invariant 2. */
function vanishedError(cause: unknown): CaissonError {
  return new CaissonError('store_failed', 'The database of the store has vanished.', {
    details: { vanished: true },
    cause,
  })
}

/** The typed error for what a database said while the store was `doing` something. Typed errors stay as they are. */
export function databaseError(doing: string, cause: unknown): CaissonError {
  if (CaissonError.is(cause)) return cause
  const name = (cause as { name?: unknown } | null)?.name
  if (name === 'QuotaExceededError') {
    return new CaissonError('quota_exceeded', `The storage of this site is full: ${doing} failed.`, {
      details: { name },
      cause,
    })
  }
  return new CaissonError(
    'store_failed',
    `The database could not do it (${String(name)}): ${doing} failed.`,
    {
      details: { name },
      cause,
    },
  )
}
