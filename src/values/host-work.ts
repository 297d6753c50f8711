/**
 * Work that built-ins of the host do for a value that was chosen to make them slow, in units of about a
 * nanosecond. Whoever makes such values out of hostile bytes charges it before calling the built-in.
 *
 * - A host's own Map and Set hash numbers and BigInts without a secret: keys can be chosen that all fall into
 *   one bucket. 60,000 such integers keep V8 busy for five seconds.
 * - Compiling a RegExp expands its classes of Unicode: 80 sets of emoji take seconds.
 *
 * Invariants
 * 1. Keys that could collide on purpose are bounded by the time that they could take, not by their number; so
 *    the answer depends on the keys alone, never on an engine's hash.
 * 2. The sum over one value is bounded: many small Maps are as good as a large one.
 */
import { CaissonError } from '../base/errors.ts'

/** Some 0.3 s for the worst value. */
const MAX_WORK = 2 ** 28
/** What one comparison of keys costs before it looks at their digits, in words. */
const COMPARE_COST = 8
/** Integers in a range of at most this many times their number are dense enough to spread over the buckets. */
const DENSE = 64
/** Compiling a pattern: for itself, for each unit, class of Unicode, set of emoji. */
const PATTERN_WORK = { pattern: 2 ** 12, unit: 2 ** 7, property: 2 ** 16, emoji: 2 ** 25 }

/** The work of one value. */
export class HostWork {
  #units = 0

  /** What was added so far. */
  get units(): number {
    return this.#units
  }

  /** Starts the count for another value. */
  reset(): void {
    this.#units = 0
  }

  /** Adds `units`. False when the value would cost too much. */
  add(units: number): boolean {
    this.#units += units
    return this.#units <= MAX_WORK
  }

  /** As `add`. @throws CaissonError `value_too_large` when the value would cost too much */
  charge(units: number): void {
    if (this.add(units)) return
    throw new CaissonError(
      'value_too_large',
      'The value would keep its reader busy for too long: it has Maps or Sets with too many scattered numbers ' +
        'as keys, or regular expressions that cost too much to compile.',
      { details: { unit: 'work', atLeast: this.#units, limit: MAX_WORK } },
    )
  }
}

/** The most that adding these keys to one Map or Set can cost. */
export function keysWork(keys: Iterable<unknown>): number {
  let scattered = 0
  let words = 0
  let integers = 0
  let least = Number.POSITIVE_INFINITY
  let most = Number.NEGATIVE_INFINITY
  for (const key of keys) {
    if (typeof key === 'number') {
      if ((key | 0) === key) {
        integers += 1
        if (key < least) least = key
        if (key > most) most = key
      } else {
        scattered += 1
        words += 1
      }
    } else if (typeof key === 'bigint') {
      scattered += 1
      words += bigIntWords(key)
    }
  }
  if (most - least >= integers * DENSE) {
    scattered += integers
    words += integers
  }
  return (scattered * (words + scattered * COMPARE_COST)) / 2
}

/** About how many 64-bit digits `value` has, without writing them out. */
function bigIntWords(value: bigint): number {
  if (BigInt.asIntN(64, value) === value) return 1
  let words = 2
  while (BigInt.asIntN(64 * words, value) !== value) words *= 2
  return words
}

/** The most that compiling this pattern can cost: what looks like a class counts as one, wherever it stands. */
export function patternWork(source: string): number {
  const { pattern, unit, property, emoji } = PATTERN_WORK
  const properties = source.split(/\\p/i).length - 1
  const emojis = source.split('Emoji').length - 1
  return pattern + source.length * unit + properties * property + emojis * emoji
}
