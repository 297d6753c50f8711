/**
 * What the database of a store holds, and under which keys.
 *
 * `['run', name]`, `['log', name, number]`, `['blob', digest]`, `['put', digest]` (when it was put), `['floor']` (the
 * highest token of runs that were removed).
 */
import { promisifyRequest } from 'idb-keyval'
import type { Digest } from '../../../src/base/digest.ts'
import type { RunHead } from '../../../src/ports/run-store.ts'

export interface LeaseRecord {
  /** Drawn anew for every lease. */
  readonly id: string
  readonly ttlMs: number
  /** Grows with every renewal. */
  readonly beats: number
  /** Whether its holder holds a Web Lock. */
  readonly locked: boolean
}

export interface RunRecord {
  /** Of the newest lease. */
  readonly token: number
  readonly lease: LeaseRecord | undefined
  readonly head: RunHead | undefined
  /** How many entries its log has. */
  readonly entries: number
}

/** The record of a run. */
export const runKey = (run: string): IDBValidKey => ['run', run]
/** The bytes of a checkpoint. */
export const blobKey = (id: Digest): IDBValidKey => ['blob', id]
/** When a checkpoint was put, in milliseconds since 1970. */
export const putKey = (id: Digest): IDBValidKey => ['put', id]
const FLOOR: IDBValidKey = ['floor']
/** All keys that begin so: arrays come after texts and numbers. */
export const beginningWith = (...parts: string[]): IDBKeyRange => IDBKeyRange.bound(parts, [...parts, []])
/** Entries of a log from number `from` on, before number `end`. */
export const logRange = (run: string, from: number, end: number): IDBKeyRange =>
  IDBKeyRange.bound(['log', run, from], ['log', run, end], false, true)

/** Whether this token is the newest one, and was not given back. */
export function isHeldWith(token: number, record: RunRecord | undefined): boolean {
  return record?.token === token && record.lease !== undefined
}

/** Whether a run counts as one: it has a head or a log. */
export function isVisible(record: RunRecord): boolean {
  return record.head !== undefined || record.entries > 0
}

/** The record of a run; undefined where there is none. */
export function recordOf(store: IDBObjectStore, run: string): Promise<RunRecord | undefined> {
  return promisifyRequest(store.get(runKey(run)) as IDBRequest<RunRecord | undefined>)
}

/** All runs, with their records. */
export async function allRuns(store: IDBObjectStore): Promise<readonly (readonly [string, RunRecord])[]> {
  const range = beginningWith('run')
  const keys = (await promisifyRequest(store.getAllKeys(range))) as [string, string][]
  const records = (await promisifyRequest(store.getAll(range))) as RunRecord[]
  return keys.flatMap(([, run], index) => {
    const record = records[index]
    return record === undefined ? [] : [[run, record] as const]
  })
}

/** The highest token that a removed run had; 0 when none was removed. */
export async function floorOf(store: IDBObjectStore): Promise<number> {
  return (await promisifyRequest(store.get(FLOOR) as IDBRequest<number | undefined>)) ?? 0
}

/** Runs that begin anew have newer tokens than removed ones had. */
export async function raiseFloor(store: IDBObjectStore, token: number): Promise<void> {
  store.put(Math.max(token, await floorOf(store)), FLOOR)
}
