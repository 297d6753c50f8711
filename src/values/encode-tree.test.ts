import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { encodeCanonical } from './encode-canonical.ts'
import { encodeTree } from './encode-tree.ts'
import { DEFAULT_VALUE_LIMITS } from './limits.ts'

const never = (): boolean => false
const hasValue = (part: object): boolean => 'value' in part

describe('the bytes of a tree', () => {
  it('are those of the canonical encoding (invariant 1)', () => {
    const plain = fc.anything({ withNullPrototype: true, withSparseArray: false, maxDepth: 5 })
    fc.assert(
      fc.property(plain, (value) => {
        const bytes = encodeTree({ value }, DEFAULT_VALUE_LIMITS, hasValue)
        if (bytes !== undefined) expect(bytes).toEqual(encodeCanonical({ value }))
      }),
      { numRuns: 300 },
    )
    const whole = [1, 'x', [], {}, [[{ a: [null, true, { b: 'ÿĀ' }] }], { c: Number.NaN, d: -0 }]]
    expect(encodeTree(whole, DEFAULT_VALUE_LIMITS, never)).toEqual(encodeCanonical(whole))
  })

  it('have no members that are undefined, but of values', () => {
    const given = { a: undefined, b: { value: { c: undefined } } }
    const told = { b: { value: { c: undefined } } }
    expect(encodeTree(given, DEFAULT_VALUE_LIMITS, hasValue)).toEqual(encodeCanonical(told))
  })

  it('are left to others where it is none, or anything but plain and small data', () => {
    const part = {}
    const deep: unknown[] = []
    let at = deep
    for (let i = 0; i < 100; i += 1) {
      const next: unknown[] = []
      at.push(next)
      at = next
    }
    const sparse: unknown[] = [1]
    sparse[2] = 1
    const others = [[part, part], new Map(), 1n, new Date(0), sparse, Object.assign([1], { x: 1 }), deep]
    for (const value of others) {
      expect(encodeTree({ value }, DEFAULT_VALUE_LIMITS, hasValue)).toBeUndefined()
    }
    const { nodes, ...limits } = DEFAULT_VALUE_LIMITS
    expect(encodeTree([1, 2, 3], { ...limits, nodes: 3 }, never)).toBeUndefined()
    expect(nodes).toBeGreaterThan(3)
  })
})
