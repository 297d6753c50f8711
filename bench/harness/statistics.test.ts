import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { geometricMean, median, quantile, ratioOfRounds, seededRandom, summarise } from './statistics.ts'

const samples = fc.array(fc.double({ min: 0.001, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 40 })

describe('median and quantiles', () => {
  it('interpolates between neighbours', () => {
    expect(median([3, 1, 2])).toBe(2)
    expect(median([4, 1, 3, 2])).toBe(2.5)
    expect(quantile([1, 2, 3, 4, 5], 0.25)).toBe(2)
    expect(quantile([10, 20], 0.75)).toBe(17.5)
  })

  it('leaves its input alone and ignores its order', () => {
    const input = [5, 1, 4]
    median(input)
    expect(input).toEqual([5, 1, 4])
    fc.assert(
      fc.property(samples, (some) => {
        expect(median([...some].reverse())).toBe(median(some))
      }),
    )
  })

  it('orders min, quartiles, median and max', () => {
    fc.assert(
      fc.property(samples, (some) => {
        const { min, q1, median: centre, q3, max, mad } = summarise(some)
        expect([min, q1, centre, q3, max]).toEqual([min, q1, centre, q3, max].sort((a, b) => a - b))
        expect(mad).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('is not moved by one outlier, nor is its spread', () => {
    expect(summarise([10, 11, 12, 13, 9_000])).toMatchObject({ median: 12, mad: 1 })
  })

  it('refuses an empty list', () => {
    expect(() => median([])).toThrow(RangeError)
    expect(() => summarise([])).toThrow(RangeError)
    expect(() => geometricMean([])).toThrow(RangeError)
  })
})

describe('geometric mean', () => {
  it('balances a doubling and a halving', () => {
    expect(geometricMean([2, 0.5])).toBeCloseTo(1, 12)
    expect(geometricMean([1, 10, 100])).toBeCloseTo(10, 12)
  })

  it('refuses zero and negative numbers', () => {
    expect(() => geometricMean([1, 0])).toThrow(RangeError)
    expect(() => geometricMean([-1])).toThrow(RangeError)
  })
})

describe('ratio of rounds', () => {
  it('divides out what slows both subjects in the same round', () => {
    const base = [10, 11, 95, 10, 12]
    expect(
      ratioOfRounds(
        base.map((sample) => sample * 3),
        base,
      ),
    ).toEqual({ median: 3, low: 3, high: 3 })
  })

  it('holds the median between its bounds, and gives the same interval each time', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e6 })), {
          minLength: 2,
          maxLength: 25,
        }),
        (rounds) => {
          const subject = rounds.map(([a]) => a)
          const base = rounds.map(([, b]) => b)
          const ratio = ratioOfRounds(subject, base)
          expect(ratio.low).toBeLessThanOrEqual(ratio.high)
          expect(ratioOfRounds(subject, base)).toEqual(ratio)
        },
      ),
      { numRuns: 20 },
    )
  })

  it('widens with noise', () => {
    const base = Array.from({ length: 15 }, () => 100)
    const random = seededRandom(1)
    const quiet = ratioOfRounds(
      base.map((b) => b * (2 + random() * 0.01)),
      base,
    )
    const noisy = ratioOfRounds(
      base.map((b) => b * (2 + random())),
      base,
    )
    expect(noisy.high - noisy.low).toBeGreaterThan(quiet.high - quiet.low)
  })

  it('refuses rounds that do not pair up, and a base of zero', () => {
    expect(() => ratioOfRounds([1, 2], [1])).toThrow(RangeError)
    expect(() => ratioOfRounds([1], [0])).toThrow(RangeError)
  })
})

describe('seeded random numbers', () => {
  it('repeat for a seed, differ between seeds, and fill the interval', () => {
    const draw = (seed: number) => Array.from({ length: 1000 }, seededRandom(seed))
    expect(draw(7)).toEqual(draw(7))
    expect(draw(7)).not.toEqual(draw(8))
    const values = draw(7)
    expect(Math.min(...values)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...values)).toBeLessThan(1)
    expect(median(values)).toBeCloseTo(0.5, 1)
  })
})
