/**
 * The clock that an embedder gave, as runs are timed by it: a clock that fails for a while (a machine without its time,
 * a date of another century) must not get into logs, where no later process could read it as a time.
 *
 * Invariants
 * 1. `now` is a time that a guest can have: from 0 to `MAX_TIME_MS`.
 * 2. While the clock says something else, time stands.
 */
import { MAX_TIME_MS } from '../isolate/logical-clock.ts'
import type { Clock } from '../ports/clock.ts'

export function soundClock(clock: Clock): Clock {
  let lastMs = 0
  return {
    monotonic: () => clock.monotonic(),
    now: () => {
      const now = clock.now()
      if (isTime(now)) lastMs = now
      return lastMs
    },
  }
}

/** Whether a guest can have it as its time, in milliseconds since the epoch. */
export function isTime(ms: number): boolean {
  return ms >= 0 && ms <= MAX_TIME_MS
}
