/** When a timer of a program is due, for people. */
import { MAX_TIME_MS } from '../../isolate/logical-clock.ts'

/** @param wakeAtMs milliseconds since the epoch; what was read from a store may be any number */
export function timerText(wakeAtMs: number): string {
  const known = wakeAtMs >= 0 && wakeAtMs <= MAX_TIME_MS
  return known ? `a timer that is due at ${new Date(wakeAtMs).toISOString()}` : 'a timer'
}
