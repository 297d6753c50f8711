/** Prepared modules for as long as the process lives: those used last, up to a number of bytes. */
import { CaissonError } from '../../src/base/errors.ts'
import type { PreparedStore } from '../../src/ports/prepared-store.ts'

export interface MemoryPreparedStoreOptions {
  /** Of all together; default 128 MiB. What was used longest ago goes first. */
  readonly maxBytes?: number
}

/** @throws CaissonError `invalid_argument` */
export function createMemoryPreparedStore(options: MemoryPreparedStoreOptions = {}): PreparedStore {
  const { maxBytes = 128 * 1024 * 1024 } = options
  if (!Number.isSafeInteger(maxBytes) || maxBytes < 0)
    throw new CaissonError('invalid_argument', 'Option maxBytes must be a whole number from 0.')
  /** In the order of their last use. */
  const entries = new Map<string, Uint8Array>()
  let total = 0
  const drop = (name: string): void => {
    total -= entries.get(name)?.length ?? 0
    entries.delete(name)
  }
  return {
    async get(name, mostBytes) {
      const found = entries.get(name)
      if (found === undefined || found.length > mostBytes) return undefined
      entries.delete(name)
      entries.set(name, found)
      return found.slice()
    },
    async put(name, bytes) {
      drop(name)
      if (bytes.length > maxBytes) return
      entries.set(name, new Uint8Array(bytes))
      total += bytes.length
      for (const oldest of entries.keys()) {
        if (total <= maxBytes) break
        drop(oldest)
      }
    },
  }
}
