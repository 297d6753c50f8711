/** The part of a store that a journal is read from and written to, with what comes before and after a write. */
import type { WatchedStore } from '../watched-store.ts'

/**
 * What is appended is preceded by the list of values that it names, and followed by telling those who listen.
 * @param after gets how many entries there are now, and the bytes of the new ones; @param read the bytes that were read
 */
export function writtenOn(
  store: WatchedStore,
  before: () => Promise<void> | undefined,
  after: (length: number, bytes: number) => void,
  read: (bytes: number) => void,
): Pick<WatchedStore, 'append' | 'entries'> {
  return {
    entries: async (run, from, most) => {
      const entries = await store.entries(run, from, most)
      read(sizeOf(entries))
      return entries
    },
    append: async (run, at, entries, lease) => {
      const listing = before()
      if (listing !== undefined) await listing
      await store.append(run, at, entries, lease)
      after(at + entries.length, sizeOf(entries))
    },
  }
}

function sizeOf(entries: readonly Uint8Array[]): number {
  let bytes = 0
  for (const { length } of entries) bytes += length
  return bytes
}
