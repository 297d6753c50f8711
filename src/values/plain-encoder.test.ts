/** Small plain values are encoded in one pass as any other value is, or left to those who take all. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { toHex } from '../base/bytes.ts'
import { CaissonError } from '../base/errors.ts'
import { arbitraryValue } from './arbitrary-value.testkit.ts'
import { decodeCanonical } from './decode-canonical.ts'
import { differenceOf } from './difference-of.testkit.ts'
import { encodeCanonical } from './encode-canonical.ts'
import { DEFAULT_VALUE_LIMITS } from './limits.ts'
import { encodePlain } from './plain-encoder.ts'

/** So few that nothing is encoded in one pass. */
const IN_STEPS = { ...DEFAULT_VALUE_LIMITS, nodes: 4_095 }

function plainHex(value: unknown): string | undefined {
  const plain = encodePlain(value, DEFAULT_VALUE_LIMITS)
  return plain && toHex(plain.bytes)
}

const inSteps = (value: unknown): string => toHex(encodeCanonical(value, IN_STEPS))

const text = (units: number, unit: string): string => unit.repeat(units)

describe('small plain values in one pass', () => {
  it('invariant 1: have the bytes and the copy that they have in steps, or none', () => {
    let taken = 0
    const compare = (value: unknown): void => {
      const plain = encodePlain(value, DEFAULT_VALUE_LIMITS, true)
      if (plain === undefined) return
      taken += 1
      const { copy } = plain
      expect(toHex(plain.bytes)).toBe(inSteps(value))
      expect(differenceOf(decodeCanonical(encodeCanonical(value, IN_STEPS)), copy)).toBeUndefined()
    }
    fc.assert(
      fc.property(arbitraryValue({ kinds: ['object', 'array'] }), (value) => compare(value)),
      { numRuns: 1_000 },
    )
    fc.assert(
      fc.property(arbitraryValue(), (value) => compare(value)),
      { numRuns: 500 },
    )
    expect(taken).toBeGreaterThan(200)
  })

  it.each([
    ['an event', { node: 's1', type: 'node_called', call: 1, repeatable: true, key: 'k', timeMs: 1 }],
    ['texts of both widths', ['', 'é', 'ā', 'aā', text(127, 'a'), text(128, 'a'), text(1_500, 'ā')]],
    ['numbers', [0, -0, Number.NaN, Number.NEGATIVE_INFINITY, 2 ** 53]],
    ['members that are undefined', { a: undefined, b: [undefined, null] }],
    ['an object without a prototype', Object.assign(Object.create(null) as object, { b: 1, a: 2 })],
    ['keys that are numbers', { b: 1, 10: 2, 9: 3 }],
  ])('takes %s', (_what, value) => {
    expect(plainHex(value)).toBe(inSteps(value))
  })

  it('takes what holds itself, and the same object twice', () => {
    const shared = { a: 1 }
    const value: Record<string, unknown> = { shared, again: shared }
    value.self = value
    expect(plainHex(value)).toBe(inSteps(value))
  })

  it.each([
    ['a hole', Object.assign(new Array<number>(3), { 0: 1, 2: 2 })],
    ['an array with a property', Object.assign([1], { a: 1 })],
    ['an array of a class', new (class extends Array {})()],
    ['a member called __proto__', JSON.parse('{"__proto__":1}')],
    ['a Map', new Map()],
    ['a bigint', 1n],
    ['a function', () => {}],
    ['an accessor', Object.defineProperty({}, 'a', { get: () => 1, enumerable: true })],
    ['a setter alone', Object.defineProperty({}, 'a', { set: () => {}, enumerable: true })],
    ['a long text', text(5_000, 'a')],
    ['many elements', Array.from({ length: 65 }, () => 1)],
    ['many members', Object.fromEntries(Array.from({ length: 65 }, (_, i) => [`k${i}`, 1]))],
    ['many containers', Array.from({ length: 25 }, () => ({}))],
    ['more than there is room for', Array.from({ length: 10 }, () => text(400, 'a'))],
  ])('leaves %s to others', (_what, value) => {
    expect(plainHex(value)).toBeUndefined()
  })

  it('invariant 2: reads every place once, and is busy while a trap runs', () => {
    let reads = 0
    const inner: (string | undefined)[] = []
    const target = { a: 1 }
    const value = new Proxy(target, {
      get: (of, key, receiver) => {
        reads += 1
        inner.push(plainHex({ b: 2 }), toHex(encodeCanonical({ b: 2 })))
        return Reflect.get(of, key, receiver)
      },
    })
    expect(plainHex([value, 'after'])).toBe(inSteps([target, 'after']))
    expect(reads).toBe(1)
    expect(inner).toEqual([undefined, inSteps({ b: 2 })])
  })

  it('is ready for the next value after a trap threw, and the error is that of any value', () => {
    const value = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    let code: string | undefined
    try {
      encodeCanonical(value)
    } catch (error) {
      code = CaissonError.is(error) ? error.code : undefined
    }
    expect(code).toBe('value_refused')
    expect(plainHex({ a: 1 })).toBe(inSteps({ a: 1 }))
  })

  it('runs no accessor', () => {
    let ran = false
    const value = Object.defineProperty({}, 'a', {
      get: () => {
        ran = true
        return 1
      },
      enumerable: true,
    })
    expect(plainHex(value)).toBeUndefined()
    expect(ran).toBe(false)
  })
})
