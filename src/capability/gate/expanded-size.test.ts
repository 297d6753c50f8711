import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { expandsBeyond } from './expanded-size.ts'

/** Counts as a tree, the slow way. */
function treeSize(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, part) => sum + treeSize(part), 1)
}

describe('expandsBeyond', () => {
  it('agrees with counting the tree (property)', () => {
    const json = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.array(fc.array(fc.jsonValue({ maxDepth: 1 }))))
    fc.assert(
      fc.property(json, fc.nat(40), (value, max) => {
        expect(expandsBeyond(value, max)).toBe(
          typeof value === 'object' && value !== null && treeSize(value) > max,
        )
      }),
    )
  })

  it('counts a shared object each time, and an exponential one in no time', () => {
    const shared = { a: 1 }
    expect(expandsBeyond([shared, shared], 4)).toBe(true)
    expect(expandsBeyond([shared, shared], 5)).toBe(false)
    let bomb: unknown = 1
    for (let i = 0; i < 400; i++) bomb = new Map([[bomb, { bomb }]])
    expect(expandsBeyond(bomb, 1e9)).toBe(true)
  })

  it('counts a way back to an ancestor as one', () => {
    const cycle: unknown[] = []
    cycle.push(cycle, cycle)
    expect(expandsBeyond(cycle, 3)).toBe(false)
    expect(expandsBeyond(cycle, 2)).toBe(true)
  })

  it('looks into sets and causes', () => {
    expect(expandsBeyond(new Set([1, 2, 3]), 3)).toBe(true)
    expect(expandsBeyond(new Error('x', { cause: [1, 2] }), 3)).toBe(true)
    expect(expandsBeyond(new Uint8Array(1_000), 1)).toBe(false)
  })
})
