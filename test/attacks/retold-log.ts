/** A store whose logs somebody rewrote who has no key: entry by entry, chained anew as a writer of the store can. */
import { sha256Bytes } from '../../src/base/digest.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import type { RunEntry } from '../../src/snapshot/run-log/run-entry.ts'
import { decodeOrdered, encodeOrdered } from '../../src/values/ordered-bytes.ts'
import { boundStore } from '../checkpoints/bound-store.ts'

/** Version, flags and the digest of the entry before. */
const HEAD = 34

export function withEntries(
  store: RunStore,
  change: (entries: readonly Uint8Array[]) => readonly Uint8Array[],
): RunStore {
  return {
    ...boundStore(store),
    async entries(run, from, most) {
      return change(await store.entries(run, 0, 1_000)).slice(from, from + most)
    },
  }
}

/** @param tell what each entry says instead; as many entries as there were */
export function retold(store: RunStore, tell: (entry: RunEntry) => object): RunStore {
  return withEntries(store, (entries) => {
    let before: Uint8Array = new Uint8Array(32)
    return entries.map((entry) => {
      const body = encodeOrdered(tell(decodeOrdered(entry.subarray(HEAD)) as RunEntry))
      const bytes = new Uint8Array(HEAD + body.length)
      bytes.set([1, 0])
      bytes.set(before, 2)
      bytes.set(body, HEAD)
      before = sha256Bytes(bytes)
      return bytes
    })
  })
}
