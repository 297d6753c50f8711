import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createMemoryRunStore } from '../../../host-bindings/store/memory-run-store.ts'
import { type Digest, sha256 } from '../../base/digest.ts'
import type { RunStore } from '../../ports/run-store.ts'
import { encodeCanonical, encodeWithSpans } from '../../values/encode-canonical.ts'
import type { ValueRef } from './run-event.ts'
import { RunValues } from './run-values.ts'
import { cutValue, joinValue, PIECE_BYTES } from './value-pieces.ts'

const LIMITS = { bytes: 1_000_000, nodes: 100_000, depth: 100 }
const TEXT = 'a long text. '.repeat(500)

/** A store that counts what is put into it, and gives back what a test changed. */
function watched(): { store: RunStore; blobs: Map<Digest, Uint8Array> } {
  const blobs = new Map<Digest, Uint8Array>()
  const store: RunStore = {
    ...createMemoryRunStore(),
    putBlob: async (digest, bytes) => {
      expect(sha256(bytes)).toBe(digest)
      blobs.set(digest, bytes.slice())
    },
    getBlob: async (digest) => blobs.get(digest),
  }
  return { store, blobs }
}

describe('values in pieces', () => {
  const long = fc.integer({ min: PIECE_BYTES, max: 4 * PIECE_BYTES }).map((n) => 'x'.repeat(n))
  const leaf = fc.oneof(
    long,
    long.map((text) => `${text}\u{1f600}`),
    long.map(({ length }) => new Uint8Array(length).fill(length)),
    fc.string(),
    fc.double(),
    fc.bigInt(),
  )
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 2 },
      leaf,
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.string(), tie('value'), { maxKeys: 4 }),
      fc.array(fc.tuple(leaf, tie('value')), { maxLength: 3 }).map((entries) => new Map(entries)),
    ),
  }))

  it('have the digest of all their bytes, and are joined to exactly those', async () => {
    await fc.assert(
      fc.asyncProperty(value, async (given) => {
        const { bytes, spans } = encodeWithSpans(given, LIMITS, PIECE_BYTES)
        expect(sha256(bytes)).toBe(sha256(encodeCanonical(given, LIMITS)))
        const cut = cutValue(bytes, spans)
        expect(cut === undefined).toBe(spans.length === 0)
        if (cut === undefined) return
        const load = async (digest: Digest): Promise<Uint8Array> => cut.blobs.get(digest) as Uint8Array
        const joined = await joinValue(cut.pieces, bytes.length, load)
        expect(joined && sha256(joined)).toBe(sha256(bytes))
        expect(await joinValue(cut.pieces, bytes.length - 1, load)).toBeUndefined()
        for (const [digest, blob] of cut.blobs) expect(sha256(blob)).toBe(digest)
      }),
      { numRuns: 60, examples: [[Array.from({ length: 20 }, (_, i) => `${TEXT}${i}`)]] },
    )
  })

  it('are stored once where they have a long text in common, wherever in them it is', async () => {
    const { store, blobs } = watched()
    const values = new RunValues(store)
    const given = [{ n: 1, text: TEXT }, { n: 2, text: TEXT }, [[{ deep: TEXT }]], TEXT]
    const refs: ValueRef[] = []
    for (const one of given) refs.push(await values.keep(one))
    expect(blobs.size).toBe(1)
    const elsewhere = new RunValues(store)
    for (const [i, ref] of refs.entries()) expect(await elsewhere.load(ref)).toEqual(given[i])
    expect(values.takeAdded()).toEqual([...blobs.keys()])
  })

  it('keep what is shared inside of them', async () => {
    const { store } = watched()
    const shared = { text: TEXT }
    const ref = await new RunValues(store).keep({ a: shared, b: [shared] })
    const loaded = (await new RunValues(store).load(ref)) as { a: unknown; b: unknown[] }
    expect(loaded.a).toBe(loaded.b[0])
  })

  it('are refused where a piece was changed, exchanged or left out', async () => {
    const { store, blobs } = watched()
    const ref = (await new RunValues(store).keep({ a: TEXT, b: `${TEXT}b` })) as Extract<
      ValueRef,
      { digest: unknown }
    >
    const { pieces = [] } = ref
    const changes: readonly (readonly string[])[] = [
      pieces.toReversed(),
      pieces.slice(1),
      [...pieces, 'AAAA'],
    ]
    for (const changed of changes)
      await expect(new RunValues(store).load({ ...ref, pieces: changed })).rejects.toMatchObject({
        code: 'corrupted',
      })
    for (const [digest, bytes] of [...blobs]) {
      blobs.set(digest, bytes.with(0, 1))
      await expect(new RunValues(store).load(ref)).rejects.toMatchObject({ code: 'corrupted' })
      blobs.delete(digest)
      await expect(new RunValues(store).load(ref)).rejects.toMatchObject({ code: 'not_found' })
      blobs.set(digest, bytes)
    }
  })
})
