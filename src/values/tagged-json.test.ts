import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { arbitraryValue } from './arbitrary-value.testkit.ts'
import { copyValue } from './copy-value.ts'
import { differenceOf } from './difference-of.testkit.ts'
import { fromTaggedJson, toTaggedJson } from './tagged-json.ts'

function refusal(json: unknown): { code?: string; message?: string } {
  try {
    fromTaggedJson(json)
    return {}
  } catch (error) {
    if (error instanceof CaissonError) return { code: error.code, message: error.message }
    throw error
  }
}

describe('tagged JSON', () => {
  it('round-trips every value through text (invariant 1)', () => {
    fc.assert(
      fc.property(arbitraryValue(), (value) => {
        const text = JSON.stringify(toTaggedJson(value))
        expect(differenceOf(copyValue(value), fromTaggedJson(JSON.parse(text)))).toBeUndefined()
      }),
      { numRuns: 600 },
    )
  })

  it('leaves plain JSON as it is', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const plain = JSON.stringify(JSON.parse(text))
        // Minus zero is a number of its own; its text loses the sign in one and keeps it in the other.
        fc.pre(!/-0(?![.\d])/.test(text))
        expect(JSON.stringify(toTaggedJson(JSON.parse(text)))).toBe(plain)
      }),
    )
  })

  it('has the documented forms', () => {
    const shared = { n: 1 }
    const cycle: { self?: unknown } = {}
    cycle.self = cycle
    const bytes = new Uint8Array([1, 2, 3, 4])
    const cases: [unknown, unknown][] = [
      [undefined, { $caisson: 'undefined' }],
      [Number.NaN, { $caisson: 'number', value: 'NaN' }],
      [-0, { $caisson: 'number', value: '-0' }],
      [123n, { $caisson: 'bigint', value: '123' }],
      [-(16n ** 300n), { $caisson: 'bigint', value: `-0x1${'0'.repeat(300)}` }],
      [new Date(0), { $caisson: 'date', value: '1970-01-01T00:00:00.000Z' }],
      [new Date(Number.NaN), { $caisson: 'date', value: null }],
      [new Map([['k', 1n]]), { $caisson: 'map', entries: [['k', { $caisson: 'bigint', value: '1' }]] }],
      [new Set([1]), { $caisson: 'set', elements: [1] }],
      [/a/g, { $caisson: 'regexp', source: 'a', flags: 'g' }],
      [new TypeError('no', { cause: 1 }), { $caisson: 'error', name: 'TypeError', message: 'no', cause: 1 }],
      [bytes.buffer, { $caisson: 'buffer', base64: 'AQIDBA==' }],
      [bytes, { $caisson: 'view', type: 'Uint8Array', buffer: { $caisson: 'buffer', base64: 'AQIDBA==' } }],
      [Object('s'), { $caisson: 'boxed', value: 's' }],
      // biome-ignore lint/suspicious/noSparseArray: the hole is the point
      [[1, , 3], { $caisson: 'array', length: 3, properties: { 0: 1, 2: 3 } }],
      [{ $caisson: 'bigint' }, { $caisson: 'object', properties: { $caisson: 'bigint' } }],
      [cycle, { $caisson: 'shared', id: 1, value: { self: { $caisson: 'ref', id: 1 } } }],
      [
        [shared, shared],
        [
          { $caisson: 'shared', id: 1, value: { n: 1 } },
          { $caisson: 'ref', id: 1 },
        ],
      ],
    ]
    for (const [value, json] of cases) expect(toTaggedJson(value)).toEqual(json)
  })

  it('is no deeper than the shortest way to everything (invariant 2)', () => {
    // A list whose elements also form a chain: flat by the list, 20,000 deep by the chain.
    const chain = Array.from({ length: 20_000 }, (): { next?: unknown } => ({}))
    for (const [i, link] of chain.entries()) link.next = chain[i + 1]
    const again = fromTaggedJson(JSON.parse(JSON.stringify(toTaggedJson(chain)))) as typeof chain
    expect(again[0]?.next).toBe(again[1])
  })

  it('puts keys of every name into their own objects', () => {
    const value = JSON.parse('{"__proto__": {"$caisson": "object", "properties": {"__proto__": 1}}}')
    const made = fromTaggedJson(value) as object
    expect(Object.getPrototypeOf(made)).toBe(Object.prototype)
    expect(JSON.stringify(made)).toBe('{"__proto__":{"__proto__":1}}')
  })
})

describe('fromTaggedJson refuses (invariant 3)', () => {
  const forms: [string, unknown][] = [
    ['an unknown form', { $caisson: 'function' }],
    ['a form that is no text', { $caisson: 1 }],
    ['a form that has no text', { $caisson: { toString: null } }],
    ['a number that JSON has', { $caisson: 'number', value: '1' }],
    ['a number named like a method', { $caisson: 'number', value: 'toString' }],
    ['a bigint with a sign only', { $caisson: 'bigint', value: '-' }],
    ['a bigint with an exponent', { $caisson: 'bigint', value: '1e9' }],
    ['a decimal bigint of a million digits', { $caisson: 'bigint', value: '1'.repeat(1_000_000) }],
    ['a date in words', { $caisson: 'date', value: 'yesterday-ish' }],
    ['a date without a value', { $caisson: 'date' }],
    ['entries that are no pairs', { $caisson: 'map', entries: [[1]] }],
    ['elements that are no list', { $caisson: 'set', elements: { 0: 1 } }],
    ['a RegExp that does not parse', { $caisson: 'regexp', source: '(', flags: '' }],
    ['an error without a name', { $caisson: 'error', message: 'x' }],
    ['base64 without padding', { $caisson: 'buffer', base64: 'AQ' }],
    ['a view of a view', { $caisson: 'view', type: 'Int8Array', buffer: { $caisson: 'view' } }],
    ['a view without a buffer', { $caisson: 'view', type: 'Int8Array' }],
    ['an array shorter than its elements', { $caisson: 'array', length: 1, properties: { 1: 1 } }],
    ['an array with the property length', { $caisson: 'array', length: 1, properties: { length: 5 } }],
    ['an array of negative length', { $caisson: 'array', length: -1, properties: {} }],
    ['an object without properties', { $caisson: 'object' }],
    ['an empty box', { $caisson: 'boxed', value: null }],
    ['a box in a box', { $caisson: 'boxed', value: { $caisson: 'boxed', value: 1 } }],
    ['a reference to nothing', { $caisson: 'ref', id: 1 }],
    ['a reference by name', { $caisson: 'ref', id: '1' }],
    ['a shared primitive', { $caisson: 'shared', id: 1, value: { $caisson: 'bigint', value: '1' } }],
    ['a shared reference', { $caisson: 'shared', id: 1, value: { $caisson: 'ref', id: 1 } }],
    [
      'an id given twice',
      [
        { $caisson: 'shared', id: 1, value: [] },
        { $caisson: 'shared', id: 1, value: [] },
      ],
    ],
  ]
  it.each(forms)('%s', (_, form) => {
    const { code, message } = refusal({ at: [form] })
    expect(code).toBe('invalid_argument')
    expect(message).toMatch(/^input\.at/)
  })

  it('what is larger than the limits, without making it', () => {
    expect(refusal({ $caisson: 'array', length: 2 ** 32 - 1, properties: {} }).code).toBe('value_too_large')
    let deep: unknown = []
    for (let i = 0; i < 100_000; i++) deep = [deep]
    expect(refusal(deep).code).toBe('value_too_deep')
    let boxes: unknown = 1
    for (let i = 0; i < 100_000; i++) boxes = { $caisson: 'boxed', value: boxes }
    expect(refusal(boxes).code).toBe('invalid_argument')
    let wrapped: unknown = []
    for (let i = 0; i < 100_000; i++) wrapped = { $caisson: 'shared', id: i, value: [wrapped] }
    expect(refusal(wrapped).code).toBe('value_too_deep')
  })

  it('any hostile JSON with typed errors only', () => {
    const word = fc.constantFrom(
      '$caisson',
      'shared',
      'ref',
      'id',
      'value',
      'object',
      'properties',
      'map',
      'entries',
      'set',
      'elements',
      'view',
      'type',
      'buffer',
      'Uint8Array',
      'base64',
      'AQ==',
      'error',
      'name',
      'cause',
      'array',
      'length',
      'boxed',
      'date',
    )
    const { tree } = fc.letrec((tie) => ({
      tree: fc.oneof(
        { maxDepth: 4 },
        word,
        fc.constantFrom(0, 1, 2, null, -1),
        fc.array(tie('tree'), { maxLength: 3 }),
        fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
        fc
          .tuple(word, fc.dictionary(word, tie('tree'), { maxKeys: 4 }))
          .map(([tag, rest]) => ({ ...rest, $caisson: tag })),
      ),
    }))
    fc.assert(
      fc.property(tree, (json) => {
        expect(refusal(json).code ?? 'invalid_argument').toBe('invalid_argument')
      }),
      { numRuns: 3000 },
    )
  })
})
