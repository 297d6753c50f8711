/**
 * Time as a guest sees it: a number that the host moves, so that equal histories read equal times.
 *
 * Invariants
 * 1. It moves only by `advance` (the host answered) and by one microsecond with each read.
 * 2. It never goes back, so that durations in a guest are never negative, whatever the host's clock does.
 * 3. A loop that waits for a time ends, because reading moves the clock: `while (Date.now() < t)`.
 *
 * Whole microseconds are kept. Milliseconds with fractions tell them apart until the year 2248.
 */
import { CaissonError } from '../base/errors.ts'

/** Latest time that a logical clock can be set to, in milliseconds since the epoch: the end of 2247. */
export const MAX_TIME_MS: number = Date.UTC(2248, 0, 1) - 1

/** A clock as plain data, for snapshots. */
export interface LogicalClockState {
  /** Microseconds since the epoch that the next read gives. */
  readonly microseconds: number
  /** The same at its start. */
  readonly origin: number
}

export class LogicalClock {
  #microseconds: number
  #origin: number

  /**
   * @param nowMs milliseconds since the epoch that the first read gives; fractions below a microsecond are dropped
   * @throws CaissonError `invalid_argument` when it is not in 0 to `MAX_TIME_MS`
   */
  constructor(nowMs: number) {
    this.#microseconds = toMicroseconds(nowMs)
    this.#origin = this.#microseconds
  }

  /** @throws CaissonError `corrupted` when `state` is none */
  static fromState(state: LogicalClockState): LogicalClock {
    const { microseconds, origin } = state
    const isTime = (value: number) => Number.isSafeInteger(value) && value >= 0
    if (!isTime(microseconds) || !isTime(origin) || origin > microseconds) {
      throw new CaissonError('corrupted', 'The state of a clock holds no whole number of microseconds.')
    }
    const clock = new LogicalClock(0)
    clock.#microseconds = microseconds
    clock.#origin = origin
    return clock
  }

  state(): LogicalClockState {
    return { microseconds: this.#microseconds, origin: this.#origin }
  }

  /** Milliseconds since the epoch, with fractions of whole microseconds. For the host's own records: it does not move. */
  peek(): number {
    return this.#microseconds / 1000
  }

  /** As `peek`, in whole microseconds. */
  get microseconds(): number {
    return this.#microseconds
  }

  /** What `peek` gives; the clock then moves by one microsecond. For the guest. */
  read(): number {
    return this.#microseconds++ / 1000
  }

  /** When it started, in milliseconds since the epoch. */
  get originMs(): number {
    return this.#origin / 1000
  }

  /** As `read`, in milliseconds since it started. */
  readSinceOrigin(): number {
    return (this.#microseconds++ - this.#origin) / 1000
  }

  /** Like `read`, in nanoseconds: for `clock_time_get` of WASI. */
  readNanoseconds(): bigint {
    return BigInt(this.#microseconds++) * 1000n
  }

  /**
   * Moves to `nowMs`, or stays when the clock is there already or later.
   * @throws CaissonError `invalid_argument` when `nowMs` is not in 0 to `MAX_TIME_MS`
   */
  advance(nowMs: number): void {
    const target = toMicroseconds(nowMs)
    if (target > this.#microseconds) this.#microseconds = target
  }
}

function toMicroseconds(ms: number): number {
  if (!(ms >= 0 && ms <= MAX_TIME_MS)) {
    throw new CaissonError(
      'invalid_argument',
      `A logical time is ${String(ms)}; it takes milliseconds since the epoch from 0 to ${MAX_TIME_MS}.`,
    )
  }
  // The latest microsecond that is not after `ms`. Multiplying and rounding alone may miss by one.
  let microseconds = Math.round(ms * 1000)
  while (microseconds / 1000 > ms) microseconds--
  while ((microseconds + 1) / 1000 <= ms) microseconds++
  return microseconds
}
