/** A page with stores in IndexedDB, which a test drives through `window.callStore` and `window.callLease`. */
import { openIndexedDbRunStore } from '../../../host-bindings/store/indexed-db-run-store.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import type { RunLease, RunStore } from '../../../src/ports/run-store.ts'
import { fromWire, toWire } from './wire.ts'

/** What a call came to. */
export type Reply =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly code: string; readonly message: string; readonly details: unknown }

declare global {
  interface Window {
    /** Opens a store, and answers with its number. */
    openStore(name: string): Promise<Reply>
    /** A lease among the arguments or results is named by its number. */
    callStore(store: number, method: keyof RunStore, args: readonly unknown[]): Promise<Reply>
    callLease(lease: number, method: 'held' | 'renew' | 'release', args: readonly unknown[]): Promise<Reply>
    /** Durability of every transaction since the page was loaded. */
    durabilities: Record<string, string[]>
  }
}

const stores: RunStore[] = []
const leases: RunLease[] = []

window.durabilities = { readonly: [], readwrite: [] }
const original = IDBDatabase.prototype.transaction
IDBDatabase.prototype.transaction = function (...args) {
  const transaction = original.apply(this, args)
  window.durabilities[transaction.mode]?.push(transaction.durability)
  return transaction
}

async function reply(act: () => Promise<unknown>): Promise<Reply> {
  try {
    return { ok: true, value: toWire(await act()) }
  } catch (error) {
    if (CaissonError.is(error)) {
      return { ok: false, code: error.code, message: error.message, details: error.details }
    }
    return { ok: false, code: 'none', message: String((error as Error).stack), details: {} }
  }
}

window.openStore = (name) =>
  reply(async () => {
    stores.push(await openIndexedDbRunStore({ name }))
    return stores.length - 1
  })

window.callStore = (store, method, args) =>
  reply(async () => {
    const given = (fromWire(args) as unknown[]).map((arg) => {
      const lease = (arg as { lease?: number } | null)?.lease
      return lease === undefined ? arg : leases[lease]
    })
    const call = stores[store]?.[method] as (...args: unknown[]) => Promise<unknown>
    const result = await call.apply(stores[store], given)
    if (method !== 'lease') return result
    const lease = result as RunLease
    leases.push(lease)
    return { lease: leases.length - 1, fencingToken: lease.fencingToken }
  })

window.callLease = (lease, method, args) =>
  reply(async () => {
    const held = leases[lease]
    if (method === 'renew') return held?.renew(...(fromWire(args) as [number]))
    return method === 'held' ? held?.held() : held?.release()
  })
