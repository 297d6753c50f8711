/**
 * The numbers of a bench report: medians with their spread, and ratios with their interval.
 *
 * Medians, because a shared machine adds outliers on one side only. Ratios are taken per round, between two
 * subjects measured next to each other, so that a slow second of the machine divides out.
 *
 * 1. Every function is pure; the bootstrap draws from a seeded generator, so equal samples give equal intervals.
 * 2. No function accepts an empty list: a figure without a sample would be an invention.
 */

/** Where most of the samples lie. All in the unit of the samples. */
export interface Summary {
  readonly count: number
  readonly median: number
  /** Median absolute deviation from the median; not scaled. */
  readonly mad: number
  readonly q1: number
  readonly q3: number
  readonly min: number
  readonly max: number
}

/** A ratio with the interval that holds it with 95 % confidence. */
export interface Ratio {
  readonly median: number
  readonly low: number
  readonly high: number
}

function sorted(samples: readonly number[]): number[] {
  if (samples.length === 0) throw new RangeError('statistics need at least one sample')
  return [...samples].sort((a, b) => a - b)
}

/** Quantile `q` (0 to 1) with linear interpolation between neighbours (Hyndman and Fan's type 7). */
export function quantile(samples: readonly number[], q: number): number {
  const ordered = sorted(samples)
  const at = (ordered.length - 1) * q
  const below = Math.floor(at)
  const low = ordered[below] as number
  const high = ordered[Math.ceil(at)] as number
  return low + (high - low) * (at - below)
}

export function median(samples: readonly number[]): number {
  return quantile(samples, 0.5)
}

export function summarise(samples: readonly number[]): Summary {
  const centre = median(samples)
  return {
    count: samples.length,
    median: centre,
    mad: median(samples.map((sample) => Math.abs(sample - centre))),
    q1: quantile(samples, 0.25),
    q3: quantile(samples, 0.75),
    min: Math.min(...samples),
    max: Math.max(...samples),
  }
}

/** Geometric mean of positive numbers: the mean that ratios may have. */
export function geometricMean(samples: readonly number[]): number {
  if (sorted(samples).some((sample) => !(sample > 0))) {
    throw new RangeError('a geometric mean needs positive numbers')
  }
  return Math.exp(samples.reduce((sum, sample) => sum + Math.log(sample), 0) / samples.length)
}

/** A small generator (mulberry32) of numbers from 0 up to, not including, 1. Not for secrets. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * How many times `base` the subject took, round by round: median of the ratios, and the percentile bootstrap
 * interval of that median (Efron 1979; 1,000 resamples).
 * @throws RangeError when the rounds do not pair up or a base is not positive
 */
export function ratioOfRounds(subject: readonly number[], base: readonly number[]): Ratio {
  if (subject.length !== base.length) throw new RangeError('ratios need the same rounds on both sides')
  const ratios = subject.map((sample, round) => {
    const divisor = base[round] as number
    if (!(divisor > 0)) throw new RangeError('a ratio needs a positive base')
    return sample / divisor
  })
  const random = seededRandom(ratios.length)
  const medians = Array.from({ length: 1000 }, () =>
    median(ratios.map(() => ratios[Math.floor(random() * ratios.length)] as number)),
  )
  return { median: median(ratios), low: quantile(medians, 0.025), high: quantile(medians, 0.975) }
}
