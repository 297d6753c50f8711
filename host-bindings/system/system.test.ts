import { describe, expect, it } from 'vitest'
import type { Entropy } from '../../src/ports/entropy.ts'
import { createFixedClock, systemClock } from './system-clock.ts'
import { createSeededEntropy, systemEntropy } from './system-entropy.ts'

describe.each<[string, () => Entropy]>([
  ['system entropy', () => systemEntropy],
  ['seeded entropy', () => createSeededEntropy(1)],
])('%s', (_name, open) => {
  it('gives as many bytes as asked, never the same twice', () => {
    const entropy = open()
    expect(entropy.bytes(0)).toHaveLength(0)
    expect(entropy.bytes(33)).toHaveLength(33)
    expect(entropy.bytes(65_536)).toHaveLength(65_536)
    expect(entropy.bytes(16)).not.toEqual(entropy.bytes(16))
  })

  it.each([-1, 1.5, 65_537, Number.NaN])('refuses to draw %s bytes', (length) => {
    expect(() => open().bytes(length)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})

describe('seeded entropy', () => {
  it('repeats itself for the same seed only', () => {
    expect(createSeededEntropy(1).bytes(40)).toEqual(createSeededEntropy(1).bytes(40))
    expect(createSeededEntropy(1).bytes(40)).not.toEqual(createSeededEntropy('1').bytes(40))
    expect(createSeededEntropy(1).bytes(40)).not.toEqual(createSeededEntropy(2).bytes(40))
  })

  it('is the same on every platform', () => {
    expect([...createSeededEntropy(1).bytes(4)]).toMatchInlineSnapshot(`
      [
        255,
        51,
        220,
        206,
      ]
    `)
  })
})

describe('clocks', () => {
  it('the system clock tells wall time, and durations that never go back', () => {
    expect(Math.abs(systemClock.now() - Date.now())).toBeLessThan(60_000)
    const before = systemClock.monotonic()
    expect(systemClock.monotonic()).toBeGreaterThanOrEqual(before)
  })

  it('a fixed clock stands still until it is moved, forward only', () => {
    const clock = createFixedClock(1000)
    expect([clock.now(), clock.now()]).toEqual([1000, 1000])
    clock.advance(5)
    expect(clock.now()).toBe(1005)
    expect(() => clock.advance(-1)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
    expect(() => createFixedClock(Number.NaN)).toThrow(expect.objectContaining({ code: 'invalid_argument' }))
  })
})
