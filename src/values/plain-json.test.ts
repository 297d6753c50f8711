import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { DEFAULT_VALUE_LIMITS } from './limits.ts'
import { decodeOrdered, encodeOrdered } from './ordered-bytes.ts'
import { plainJsonBytes, plainJsonValue } from './plain-json.ts'
import { fromTaggedJson, toTaggedJson } from './tagged-json.ts'

const plainText = (value: unknown): string | undefined => {
  const bytes = plainJsonBytes(value, DEFAULT_VALUE_LIMITS)
  return bytes && new TextDecoder('utf-8', { fatal: true }).decode(bytes)
}

const taggedText = (value: unknown): string => JSON.stringify(toTaggedJson(value))

const values = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withSparseArray: true,
  withUnicodeString: true,
})
const plain = fc.anything({ maxDepth: 4 }).filter((value) => typeof value === 'object' && value !== null)

describe('the plain form of a value', () => {
  it('is the tagged one, or none', () => {
    fc.assert(
      fc.property(values, (value) => {
        const text = plainText(value)
        if (text !== undefined) expect(text).toBe(taggedText(value))
      }),
    )
  })

  it('is there for what records consist of', () => {
    const record = { a: 1.5, b: [true, null, undefined, 'ä"\n\u{2028}\ud800'], other: { '': -1 } }
    const text = plainText(record)
    expect(text).toBe(taggedText(record))
    expect(plainJsonValue(JSON.parse(text as string), DEFAULT_VALUE_LIMITS, 1)).toStrictEqual(record)
  })

  it.each([
    ['what is shared', ((one) => [one, one])({})],
    ['a cycle', ((one: unknown[]) => [one, one.push(one)])([])],
    ['a hole', new Array(3).fill(1, 0, 2)],
    ['a named element', Object.assign([1], { name: 2 })],
    ['an array with as many names as holes', Object.assign(new Array(2).fill(1, 0, 1), { name: 2 })],
    ['minus zero', [-0]],
    ['no number', [Number.NaN]],
    ['a bigint', { big: 1n }],
    ['a date', [new Date(0)]],
    ['a tag of its own', { $caisson: 'undefined' }],
    ['a tag within', [{ $caisson: 1 }]],
  ])('is not there for %s, which comes through all the same', (_, value) => {
    expect(plainText(value)).toBeUndefined()
    expect(decodeOrdered(encodeOrdered(value))).toStrictEqual(value)
  })

  it('reads what the tagged form reads, or nothing, and then changes nothing', () => {
    fc.assert(
      fc.property(plain, (value) => {
        const text = taggedText(value)
        const json: unknown = JSON.parse(text)
        const read = plainJsonValue(json, DEFAULT_VALUE_LIMITS, text.length)
        if (read === undefined) expect(JSON.stringify(json)).toBe(text)
        expect(read ?? fromTaggedJson(json)).toStrictEqual(fromTaggedJson(JSON.parse(text)))
      }),
    )
  })

  it('keeps a key that would set a prototype as data', () => {
    const text = '{"__proto__":{"$caisson":"undefined"},"a":1}'
    const read = plainJsonValue(JSON.parse(text), DEFAULT_VALUE_LIMITS, text.length) as object
    expect(Object.keys(read)).toEqual(['__proto__', 'a'])
    expect(Object.getPrototypeOf(read)).toBe(Object.prototype)
  })

  it.each([
    ['bytes', { bytes: 100, nodes: 1_000, depth: 10 }, 'value_too_large'],
    ['nodes', { bytes: 10_000, nodes: 3, depth: 10 }, 'value_too_large'],
    ['depth', { bytes: 10_000, nodes: 1_000, depth: 2 }, 'value_too_deep'],
  ] as const)('holds the limit of %s, both ways', (_, limits, code) => {
    const value = { a: [{ b: 'x'.repeat(100) }], c: 1 }
    const bytes = encodeOrdered(value)
    for (const attempt of [() => encodeOrdered(value, limits), () => decodeOrdered(bytes, limits)]) {
      expect(attempt).toThrowError(CaissonError)
      expect(attempt).toThrowError(expect.objectContaining({ code }))
    }
  })

  it('is not followed so deep that the stack of the host would matter', () => {
    let deep: unknown = 1
    for (let i = 0; i < 100; i++) deep = [deep]
    expect(plainText(deep)).toBeUndefined()
    expect(decodeOrdered(encodeOrdered(deep))).toStrictEqual(deep)
  })
})
