/** The clocks of a host: the real one, and one that stands still for reproducible runs. Web-standard only. */
import { CaissonError } from '../../src/base/errors.ts'
import type { Clock } from '../../src/ports/clock.ts'

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
}

/** A clock whose wall time moves only when it is told to. */
export interface FixedClock extends Clock {
  /** Moves wall time forward by `ms` milliseconds (not negative). */
  advance(ms: number): void
}

/** The largest time that `Date` can hold, in milliseconds. */
const MAX_TIME_MS = 8.64e15

/**
 * A clock that stands at `nowMs` (milliseconds since the epoch). Durations stay real, so that deadlines hold.
 * @throws CaissonError `invalid_argument` where `nowMs` is no time
 */
export function createFixedClock(nowMs: number): FixedClock {
  if (!Number.isFinite(nowMs) || Math.abs(nowMs) > MAX_TIME_MS) {
    throw new CaissonError('invalid_argument', 'A fixed clock needs a time in milliseconds since 1970.')
  }
  let current = nowMs
  return {
    now: () => current,
    monotonic: () => performance.now(),
    advance: (ms) => {
      if (!(ms >= 0)) throw new CaissonError('invalid_argument', 'A clock moves forward only.')
      current = Math.min(current + ms, MAX_TIME_MS)
    },
  }
}
