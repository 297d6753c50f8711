import { describe, expect, it } from 'vitest'
import { approximateBytes } from './approximate-size.ts'

describe('approximate size', () => {
  it('follows what is in a value', () => {
    expect(approximateBytes('x'.repeat(1000))).toBe(2016)
    expect(approximateBytes(new Uint8Array(1000))).toBe(1016)
    expect(approximateBytes({ key: [1, 2] })).toBe(16 * 4 + 6)
    expect(approximateBytes(new Map([['a', new Set(['b'])]]))).toBeGreaterThan(64)
  })

  it('ends with cyclic, deep and shared values, and above what is enough', () => {
    const cyclic: unknown[] = []
    cyclic.push(cyclic, cyclic)
    expect(approximateBytes(cyclic)).toBe(48)
    let deep: unknown = null
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(approximateBytes(deep)).toBeGreaterThan(1_600_000)
    expect(approximateBytes(deep, 1_000)).toBeLessThan(1_100)
  })
})
