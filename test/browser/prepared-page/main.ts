/** A page with stores of prepared modules in IndexedDB, which a test drives, and with a runtime that is given one. */
import { openRuntime } from 'caisson'
import { createIndexedDbPreparedStore } from '../../../host-bindings/prepared/indexed-db-prepared-store.ts'
import type { PreparedStore } from '../../../src/ports/prepared-store.ts'
import { fromWire, toWire } from '../store-page/wire.ts'

export interface OpenedWithCache {
  readonly value: unknown
  /** Entries that the store had, and that were put into it. */
  readonly found: number
  readonly put: number
}

/** What a method gave, or the error that it gave. */
export type StoreReply =
  | { readonly given: unknown }
  | { readonly code: string; readonly message: string; readonly details: unknown }

declare global {
  interface Window {
    /** Opens a store, and gives its number. */
    openPrepared(name: string, maxBytes: number): number
    callPrepared(store: number, method: keyof PreparedStore, args: readonly unknown[]): Promise<StoreReply>
    /** Opens a component by a runtime with that cache, and calls `add-u8` with 2 and 3. */
    openWithCache(database: string, url: string): Promise<OpenedWithCache>
  }
}

const stores: PreparedStore[] = []

window.openPrepared = (name, maxBytes) => stores.push(createIndexedDbPreparedStore({ name, maxBytes })) - 1

window.callPrepared = async (store, method, args) => {
  const call = stores[store]?.[method] as (...args: unknown[]) => Promise<unknown>
  try {
    return { given: toWire(await call.apply(stores[store], fromWire(args) as unknown[])) }
  } catch (error) {
    const { code = 'none', message = '', details = {} } = error as Partial<Record<string, never>>
    return { code, message, details }
  }
}

window.openWithCache = async (database, url) => {
  const kept = createIndexedDbPreparedStore({ name: database })
  let found = 0
  let put = 0
  const store: PreparedStore = {
    async get(name, mostBytes) {
      const bytes = await kept.get(name, mostBytes)
      if (bytes !== undefined) found += 1
      return bytes
    },
    async put(name, bytes) {
      put += 1
      await kept.put(name, bytes)
    },
  }
  const runtime = await openRuntime({ preparedCache: { store, key: new Uint8Array(32).fill(7) } })
  try {
    const bytes = new Uint8Array(await (await fetch(url)).arrayBuffer())
    const component = await runtime.openComponent(bytes)
    const outcome = await component.call('add-u8', [2, 3])
    return { value: outcome.status === 'completed' ? outcome.value : outcome.status, found, put }
  } finally {
    await runtime.close()
  }
}
