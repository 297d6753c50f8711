import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Retry } from '../plan/plan.ts'
import { failureOf } from './failure-class.ts'
import { jitterOf, MOST_JITTER, nextAttempt } from './retry.ts'

const RETRY: Retry = {
  attempts: 4,
  on: ['transient', 'rate-limited', 'timeout'],
  delayMs: 100,
  mostDelayMs: 1_000,
}
const NO = failureOf({ code: 'network_failed', message: 'no' })
const limited = (retryAfterMs: number) =>
  failureOf({ code: 'rate_limited', message: 'no', details: { retryAfterMs } })
const at = (...given: [Retry | undefined, number, ReturnType<typeof failureOf>, boolean?, number?]) =>
  nextAttempt(given[0], given[1], given[2], 1_000, given[3] ?? true, given[4] ?? 0)?.atMs

describe('the next attempt', () => {
  it('is made only where the plan says so, as often as it says', () => {
    expect([at(undefined, 1, NO), at(RETRY, 4, NO)]).toEqual([undefined, undefined])
    expect([1, 2, 3].map((attempt) => at(RETRY, attempt, NO))).toEqual([1_100, 1_200, 1_400])
  })

  it('is not made of a TypeError, and is of a 429', () => {
    const thrown = failureOf({ code: 'capability_failed', message: 'TypeError: x is not a function' })
    expect(at(RETRY, 1, thrown)).toBeUndefined()
    expect(at(RETRY, 1, limited(0))).toBe(1_100)
  })

  it('waits as long as a service asks for, or is not made where the plan does not wait so long', () => {
    expect([at(RETRY, 1, limited(900)), at(RETRY, 1, limited(1_000))]).toEqual([1_900, 2_000])
    expect(at(RETRY, 1, limited(1_001))).toBeUndefined()
  })

  it('is made after what may have happened only if that can be repeated', () => {
    expect(at(RETRY, 1, NO, false)).toBeUndefined()
    expect(at(RETRY, 1, limited(10), false)).toBe(1_100)
  })

  it('comes no sooner than the plan and the service say, and no later than the plan waits (property)', () => {
    const jitter = fc.double({ min: 0, max: MOST_JITTER, noNaN: true })
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 3 }), fc.nat(1_000), jitter, (attempt, after, share) => {
        const wait = (at(RETRY, attempt, limited(after), true, share) ?? 0) - 1_000
        expect(wait).toBeGreaterThanOrEqual(Math.max(after, 100 * 2 ** (attempt - 1)))
        expect(wait).toBeLessThanOrEqual(1_000)
      }),
    )
  })
})

describe('jitter', () => {
  it('is the same for who goes on with a run, and another for every run, node and attempt', () => {
    expect(jitterOf('run', 'a', 1)).toBe(jitterOf('run', 'a', 1))
    const drawn = Array.from({ length: 400 }, (_, i) => jitterOf(`run ${i}`, 'a', 1))
    expect(new Set(drawn).size).toBeGreaterThan(300)
    for (const share of drawn) expect(share >= 0 && share <= MOST_JITTER).toBe(true)
    expect(jitterOf('run', 'a', 2)).not.toBe(jitterOf('run', 'a', 1))
    expect(jitterOf('run', 'b', 1)).not.toBe(jitterOf('run', 'a', 1))
  })
})
