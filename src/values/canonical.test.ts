/** The canonical encoding: round trips, determinism, hostile bytes, and a few encodings byte by byte. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../base/bytes.ts'
import { CaissonError } from '../base/errors.ts'
import { arbitraryValue } from './arbitrary-value.testkit.ts'
import { copyValue, measureValue } from './copy-value.ts'
import { decodeCanonical } from './decode-canonical.ts'
import { differenceOf } from './difference-of.testkit.ts'
import { digestValue } from './digest-value.ts'
import { encodeCanonical } from './encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS } from './limits.ts'

/** CAISSON_FUZZ_RUNS raises it for a long search. */
const FUZZ_RUNS = Number(process.env.CAISSON_FUZZ_RUNS ?? 3000)

function refusal(bytes: Uint8Array, limits = DEFAULT_VALUE_LIMITS): string | undefined {
  try {
    decodeCanonical(bytes, limits)
    return undefined
  } catch (error) {
    return error instanceof CaissonError ? error.code : `uncontained: ${String(error)}`
  }
}

describe('canonical encoding', () => {
  it('round-trips every value with its sharing', () => {
    fc.assert(
      fc.property(arbitraryValue(), (value) => {
        const decoded = decodeCanonical(encodeCanonical(value))
        expect(differenceOf(copyValue(value), decoded, false)).toBeUndefined()
      }),
      { numRuns: 500 },
    )
  })

  it('gives a decoded value the same bytes and the same size again', () => {
    fc.assert(
      fc.property(arbitraryValue(), (value) => {
        const bytes = encodeCanonical(value)
        const decoded = decodeCanonical(bytes)
        expect(toHex(encodeCanonical(decoded))).toBe(toHex(bytes))
        expect(measureValue(decoded)).toEqual(measureValue(value))
        const { bytes: size, nodes } = measureValue(value)
        expect(refusal(bytes, { bytes: size, nodes, depth: 500 })).toBeUndefined()
        expect(refusal(bytes, { bytes: size - 1, nodes, depth: 500 })).toBe('value_too_large')
        expect(refusal(bytes, { bytes: size, nodes: nodes - 1, depth: 500 })).toBe('value_too_large')
      }),
      { numRuns: 200 },
    )
  })

  it('does not depend on the order of properties, and does on the order of entries', () => {
    expect(digestValue({ b: 1, a: { d: 2, c: 3 } })).toBe(digestValue({ a: { c: 3, d: 2 }, b: 1 }))
    expect(digestValue(new Set([1, 2]))).not.toBe(digestValue(new Set([2, 1])))
  })

  it('tells apart what is not equal', () => {
    const shared = {}
    const values = [
      undefined,
      null,
      false,
      true,
      0,
      -0,
      Number.NaN,
      1,
      1n,
      -1n,
      '1',
      '',
      'é',
      'ē',
      [],
      {},
      new Map(),
      new Set(),
      [1],
      [undefined],
      new Array(1),
      new Array(2),
      { 0: 1 },
      new Date(1),
      new Date(Number.NaN),
      /1/,
      /1/g,
      Object(1),
      Object('1'),
      new Error('1'),
      new Error(),
      new TypeError('1'),
      new Error('1', { cause: undefined }),
      new Uint8Array([1]),
      new Int8Array([1]),
      new Uint8Array([1]).buffer,
      [{}, {}],
      [shared, shared],
    ]
    expect(new Set(values.map((value) => digestValue(value))).size).toBe(values.length)
  })

  it('keeps an exponential tree small and a deep one flat', () => {
    let dag: unknown = {}
    for (let i = 0; i < 60; i++) dag = [dag, dag]
    expect(encodeCanonical(dag).length).toBeLessThan(400)
    let deep: unknown = []
    for (let i = 0; i < 50_000; i++) deep = [deep]
    const limits = { ...DEFAULT_VALUE_LIMITS, depth: 60_000 }
    const bytes = encodeCanonical(deep, limits)
    expect(refusal(bytes, limits)).toBeUndefined()
    expect(refusal(bytes)).toBe('value_too_deep')
  })

  it('is what docs/value-encoding.md says, byte by byte', () => {
    const self: unknown[] = []
    self.push(self)
    const examples: [unknown, string][] = [
      [undefined, 'c1 00'],
      [1, 'c1 04 000000000000f03f'],
      [Number.NaN, 'c1 04 000000000000f87f'],
      [-256n, 'c1 06 02 0001'],
      ['hé', 'c1 07 02 68e9'],
      ['日', 'c1 08 01 e565'],
      [{ b: [true], a: null }, 'c1 10 02 07 01 61 01 07 01 62 11 01 03 00'],
      [self, 'c1 11 01 0a 00 00'],
      [new Map([['k', new Set()]]), 'c1 12 01 07 01 6b 13 00'],
      [new Error('x', { cause: false }), 'c1 15 07 05 4572726f72 07 01 78 02'],
      [new Uint8Array([7]), 'c1 1c 02 1b 01 07 00 01'],
      [/a/g, 'c1 19 07 01 61 07 01 67'],
      [Object('s'), 'c1 1a 07 01 73'],
      [new Date(0), 'c1 18 0000000000000000'],
    ]
    for (const [value, hex] of examples) {
      expect(toHex(encodeCanonical(value))).toBe(hex.replaceAll(' ', ''))
    }
    expect(digestValue({ a: 1 })).toBe(
      'sha256:9c3e17f99b590f3d41a7b937fc2b57fba47a6b8514383163a76f910552b977fc',
    )
  })
})

describe('decodeCanonical', () => {
  const forms: [string, string][] = [
    ['no bytes', ''],
    ['another version', 'c2 00'],
    ['nothing after the version', 'c1'],
    ['bytes after the value', 'c1 00 00'],
    ['an unknown tag', 'c1 7f'],
    ['a NaN with other bits', 'c1 04 010000000000f87f'],
    ['a negative NaN', 'c1 04 000000000000f8ff'],
    ['a bigint with leading zeros', 'c1 05 02 0100'],
    ['a negative zero bigint', 'c1 06 00'],
    ['a long varint', 'c1 07 8100 61'],
    ['a wide string that fits the narrow form', 'c1 08 01 6100'],
    ['an empty wide string', 'c1 08 00'],
    ['a string longer than the bytes', 'c1 07 05 61'],
    ['a string of 2^23 units', 'c1 07 80808004'],
    ['a wide string of 2^23 units', 'c1 08 80808004'],
    ['a buffer of 2^23 bytes', 'c1 1b 80808004'],
    ['a hole at the root', 'c1 09'],
    ['a hole as a property', 'c1 10 01 07 01 61 09'],
    ['a reference to nothing', 'c1 0a 00'],
    ['a reference to a later object', 'c1 11 02 0a01 11 00 00 00'],
    ['unsorted keys', 'c1 10 02 07 01 62 00 07 01 61 00'],
    ['a repeated key', 'c1 10 02 07 01 61 00 07 01 61 00'],
    ['a key that is no string', 'c1 10 01 04 0000000000000000 00'],
    ['an array with the key "length"', 'c1 11 00 01 07 06 6c656e677468 00'],
    ['an index among the extra keys', 'c1 11 00 01 07 01 30 00'],
    ['an array longer than the bytes', 'c1 11 ffffffff0f'],
    ['a repeated key of a Map', 'c1 12 02 00 00 00 00'],
    ['-0 as a key of a Map', 'c1 12 01 04 0000000000000080 00'],
    ['a repeated element of a Set', 'c1 13 02 04 000000000000f87f 04 000000000000f87f'],
    ['a fractional date', 'c1 18 000000000000e03f'],
    ['a date out of range', 'c1 18 000000000000f07f'],
    ['a date of -0', 'c1 18 0000000000000080'],
    ['a RegExp that does not parse', 'c1 19 07 01 28 07 00'],
    ['flags out of order', 'c1 19 07 01 61 07 02 6967'],
    ['an object in a box', 'c1 1a 10 00'],
    ['undefined in a box', 'c1 1a 00'],
    ['a view without a buffer', 'c1 1c 02 10 00 00 00'],
    ['a view of itself', 'c1 1c 02 0a 00 00 00'],
    ['a view beyond its buffer', 'c1 1c 02 1b 01 07 01 01'],
    ['a misaligned view', 'c1 1c 04 1b 04 00000000 01 02'],
    ['a view of an unknown kind', 'c1 1c 20 1b 00 00 00'],
    ['a view of a part of a buffer that does not travel', 'c1 1c 02 1b 02 0708 00 01'],
    ['an error without a name', 'c1 14 00 00'],
    ['an error whose message is null', 'c1 14 07 00 01'],
  ]
  it.each(forms)('refuses %s', (_, hex) => {
    expect(refusal(fromHex(hex.replaceAll(' ', '')))).toBe('corrupted')
  })

  it('accepts of any bytes only what the value encodes to, and throws nothing else than typed errors', () => {
    const mutated = fc
      .tuple(
        arbitraryValue(),
        fc.array(fc.tuple(fc.nat(), fc.nat(255)), { maxLength: 3 }),
        fc.option(fc.nat()),
      )
      .map(([value, edits, cut]) => {
        const bytes = encodeCanonical(value)
        for (const [at, byte] of edits) bytes[at % bytes.length] = byte
        return cut === null ? bytes : bytes.subarray(0, cut % (bytes.length + 1))
      })
    const random = fc.uint8Array({ maxLength: 60 }).map((bytes) => new Uint8Array([0xc1, ...bytes]))
    const tagged = fc
      .array(fc.oneof(fc.nat(0x1c), fc.nat(3), fc.constantFrom(0x61, 0x80)), { maxLength: 40 })
      .map((bytes) => new Uint8Array([0xc1, ...bytes]))
    fc.assert(
      fc.property(fc.oneof(mutated, random, tagged), (bytes) => {
        let decoded: unknown
        try {
          decoded = decodeCanonical(bytes, { bytes: 100_000, nodes: 10_000, depth: 100 })
        } catch (error) {
          expect(CaissonError.is(error)).toBe(true)
          expect((error as CaissonError).code).toMatch(/^(corrupted|value_too_large|value_too_deep)$/)
          return
        }
        expect(toHex(encodeCanonical(decoded))).toBe(toHex(bytes))
      }),
      { numRuns: FUZZ_RUNS },
    )
  })

  it('gives values that share nothing with the bytes', () => {
    const bytes = encodeCanonical(new Uint8Array([7]))
    const decoded = decodeCanonical(bytes) as Uint8Array
    bytes.fill(0)
    expect([...decoded]).toEqual([7])
  })
})
