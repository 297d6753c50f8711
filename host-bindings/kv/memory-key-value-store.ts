/** A key-value store in the host's memory. It lives as long as the object and is exact about its quota. */
import { CaissonError } from '../../src/base/errors.ts'
import {
  DEFAULT_KEY_VALUE_QUOTA,
  type KeyValueEntry,
  type KeyValueQuota,
  type KeyValueStore,
} from './key-value-store.ts'

/** An empty store with this quota. Values are copied in and out: no caller can change what is stored. */
export function createMemoryKeyValueStore(quota: Partial<KeyValueQuota> = {}): KeyValueStore {
  const limits: KeyValueQuota = { ...DEFAULT_KEY_VALUE_QUOTA, ...quota }
  const entries = new Map<string, KeyValueEntry>()
  let totalBytes = 0
  let lastVersion = 0

  const versionOf = (key: string): number => entries.get(key)?.version ?? 0
  const sizeOf = (key: string): number => {
    const entry = entries.get(key)
    return entry === undefined ? 0 : utf8Bytes(key) + entry.value.byteLength
  }

  return {
    async get(key) {
      const entry = entries.get(key)
      return entry && { ...entry, value: entry.value.slice() }
    },
    async set(key, value, ifVersion) {
      if (ifVersion !== undefined && ifVersion !== versionOf(key)) return undefined
      const grownBytes = totalBytes - sizeOf(key) + utf8Bytes(key) + value.byteLength
      refuseAbove('key bytes', utf8Bytes(key), limits.keyBytes)
      refuseAbove('value bytes', value.byteLength, limits.valueBytes)
      refuseAbove('keys', entries.size + (entries.has(key) ? 0 : 1), limits.keys)
      refuseAbove('bytes in all', grownBytes, limits.totalBytes)
      totalBytes = grownBytes
      lastVersion += 1
      entries.set(key, { key, value: new Uint8Array(value), version: lastVersion })
      return lastVersion
    },
    async delete(key, ifVersion) {
      if (!entries.has(key) || (ifVersion !== undefined && ifVersion !== versionOf(key))) return false
      totalBytes -= sizeOf(key)
      return entries.delete(key)
    },
    async list({ prefix, after, limit }) {
      return [...entries.values()]
        .filter(({ key }) => key.startsWith(prefix) && (after === undefined || key > after))
        .sort((left, right) => (left.key < right.key ? -1 : 1))
        .slice(0, limit)
        .map(({ key, version, value }) => ({ key, version, bytes: value.byteLength }))
    },
  }
}

/** @throws CaissonError `quota_exceeded` with `details: { quota, limit }` */
function refuseAbove(quota: string, value: number, limit: number): void {
  if (value <= limit) return
  throw new CaissonError('quota_exceeded', `The store holds at most ${limit} ${quota}.`, {
    details: { quota, limit },
  })
}

function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}
