import { afterEach, describe, expect, it, vi } from 'vitest'
import { ByteWriter } from '../base/byte-writer.ts'
import { CaissonError } from '../base/errors.ts'
import { CANONICAL_VERSION, TAG } from './canonical-format.ts'
import { decodeCanonical } from './decode-canonical.ts'
import { encodeCanonical } from './encode-canonical.ts'
import { fromTaggedJson, toTaggedJson } from './tagged-json.ts'

afterEach(() => vi.restoreAllMocks())

function codeOf(act: () => unknown): string {
  try {
    act()
    return 'accepted'
  } catch (error) {
    return CaissonError.is(error) ? error.code : String(error)
  }
}

/** Numbers far apart: any of them could have been chosen for the bucket that it falls into. */
const scattered = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 200_003) | 0)
/** V8 hashes a BigInt by its lowest 64 bits. */
const alike = (count: number): bigint[] => Array.from({ length: count }, (_, i) => (BigInt(i) << 64n) + 1n)

/** Canonical bytes of a list of Sets with these numbers, as whoever tampers with them writes them. */
function setsInBytes(sets: readonly (readonly number[])[]): Uint8Array {
  const writer = new ByteWriter(1 << 16)
  for (const byte of [CANONICAL_VERSION, TAG.array]) writer.byte(byte)
  writer.varint(sets.length)
  for (let i = 0; i < sets.length; i++) writer.byte(TAG.set)
  writer.varint(0)
  for (const elements of sets) {
    writer.varint(elements.length)
    for (const element of elements) {
      writer.byte(TAG.number)
      writer.float64(element)
    }
  }
  return writer.finish()
}

const tagged = (form: string, content: object): unknown => ({ $caisson: form, ...content })

/** Hostile values by what they are, each as a reader meets it. */
const HOSTILE: Readonly<Record<string, () => unknown>> = {
  'canonical bytes of a Set of scattered integers': () => decodeCanonical(setsInBytes([scattered(10_000)])),
  'canonical bytes of many smaller Sets': () =>
    decodeCanonical(setsInBytes(Array.from({ length: 200 }, () => scattered(2_000)))),
  'tagged JSON of a Set of scattered integers': () =>
    fromTaggedJson(tagged('set', { elements: scattered(10_000) })),
  'tagged JSON of a Map of BigInts that hash alike': () =>
    fromTaggedJson(
      tagged('map', { entries: alike(10_000).map((key) => [tagged('bigint', { value: String(key) }), 1]) }),
    ),
}

describe('work of the host for chosen values', () => {
  it.each(Object.entries(HOSTILE))('refuses %s before the host hashes a key (invariant 1)', (_name, read) => {
    // Readers have Maps and Sets of their own, for objects; only keys of the value are numbers.
    const added: unknown[] = []
    const { add } = Set.prototype
    const { set } = Map.prototype
    vi.spyOn(Set.prototype, 'add').mockImplementation(function (this: Set<unknown>, key) {
      if (typeof key !== 'object') added.push(key)
      return add.call(this, key)
    })
    vi.spyOn(Map.prototype, 'set').mockImplementation(function (this: Map<unknown, unknown>, key, value) {
      if (typeof key !== 'object') added.push(key)
      return set.call(this, key, value)
    })
    const code = codeOf(read)
    vi.restoreAllMocks()
    expect(code).toBe('value_too_large')
    // Of many small ones, those that were affordable were made.
    expect(added.length).toBeLessThan(100_000)
  })

  it('refuses patterns that cost too much to compile, alone and in sum (invariant 2)', () => {
    const patterns = Array.from({ length: 25 }, (_, i) =>
      tagged('regexp', { source: `${'\\p{L}'.repeat(200)}${i}`, flags: 'iu' }),
    )
    expect(codeOf(() => fromTaggedJson(patterns))).toBe('value_too_large')
    expect(codeOf(() => fromTaggedJson(patterns.slice(0, 2)))).toBe('accepted')
  })

  it('refuses to encode what could not be decoded, in both forms', () => {
    const values: readonly unknown[] = [
      new Set(scattered(10_000)),
      new Map(alike(8_000).map((key) => [key, 1])),
    ]
    for (const value of values) {
      expect(codeOf(() => encodeCanonical(value))).toBe('value_too_large')
      expect(codeOf(() => toTaggedJson(value))).toBe('value_too_large')
    }
  })

  it.each<[string, Iterable<unknown>]>([
    ['integers side by side', Array.from({ length: 50_000 }, (_, i) => i - 25_000)],
    ['texts', Array.from({ length: 50_000 }, (_, i) => `key ${i}`)],
    ['some thousand scattered numbers', scattered(5_000)],
    ['objects', Array.from({ length: 20_000 }, (_, i) => ({ i }))],
  ])('leaves ordinary keys alone: %s', (_name, keys) => {
    const set = new Set(keys)
    expect((decodeCanonical(encodeCanonical(set)) as Set<unknown>).size).toBe(set.size)
    const again = fromTaggedJson(JSON.parse(JSON.stringify(toTaggedJson(set))) as unknown)
    expect((again as Set<unknown>).size).toBe(set.size)
  })
})
