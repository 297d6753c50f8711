import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { CaissonError } from '../base/errors.ts'
import { LogicalClock, MAX_TIME_MS } from './logical-clock.ts'

const NOW = Date.UTC(2026, 0, 1)

describe('LogicalClock', () => {
  it('gives the time that it was set to, and one microsecond more with each read (invariant 1)', () => {
    const clock = new LogicalClock(NOW)
    expect([clock.read(), clock.read(), clock.read()]).toEqual([NOW, NOW + 0.001, NOW + 0.002])
    expect(clock.peek()).toBe(clock.peek())
  })

  it('never goes back (invariant 2)', () => {
    const time = fc.double({ min: 0, max: MAX_TIME_MS, noNaN: true, noDefaultInfinity: true })
    fc.assert(
      fc.property(time, fc.array(time), (start, times) => {
        const clock = new LogicalClock(start)
        let last = -1
        for (const at of times) {
          clock.advance(at)
          const read = clock.read()
          expect(read).toBeGreaterThan(last)
          last = read
        }
      }),
    )
  })

  it('lets a loop that waits for a time end (invariant 3)', () => {
    const clock = new LogicalClock(NOW)
    let reads = 0
    while (Math.floor(clock.read()) < NOW + 5) reads++
    expect(reads).toBe(5000)
  })

  it('agrees with itself in nanoseconds', () => {
    const clock = new LogicalClock(NOW)
    expect(clock.readNanoseconds()).toBe(BigInt(NOW) * 1_000_000n)
    expect(clock.readNanoseconds()).toBe(BigInt(NOW) * 1_000_000n + 1000n)
    expect(clock.read()).toBe(NOW + 0.002)
  })

  it('moves to its own reading without a change', () => {
    fc.assert(
      fc.property(
        fc.maxSafeNat().map((n) => n % (MAX_TIME_MS * 1000)),
        (microseconds) => {
          const clock = LogicalClock.fromState({ microseconds, origin: 0 })
          clock.advance(clock.peek())
          expect(clock.state()).toEqual({ microseconds, origin: 0 })
        },
      ),
    )
  })

  it('goes on from its state as if never stopped', () => {
    const clock = new LogicalClock(NOW)
    clock.read()
    const again = LogicalClock.fromState(JSON.parse(JSON.stringify(clock.state())))
    expect(again.read()).toBe(clock.read())
    expect(again.readSinceOrigin()).toBe(0.002)
    expect(again.originMs).toBe(NOW)
  })

  it('refuses impossible times and states', () => {
    for (const ms of [Number.NaN, -1, Number.POSITIVE_INFINITY, MAX_TIME_MS + 1]) {
      expect(() => new LogicalClock(ms)).toThrow(CaissonError)
      expect(() => new LogicalClock(0).advance(ms)).toThrow(CaissonError)
    }
    for (const microseconds of [Number.NaN, -1, 0.5, 2 ** 53, '1' as unknown as number]) {
      expect(() => LogicalClock.fromState({ microseconds, origin: 0 })).toThrow(CaissonError)
      expect(() => LogicalClock.fromState({ microseconds: 1, origin: microseconds })).toThrow(CaissonError)
    }
  })
})
