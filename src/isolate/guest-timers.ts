/**
 * The timers of a guest, which its prelude keeps (`guest/prelude/timers.ts`): asked when the next one is due, and told
 * to fire it. The host believes no more of the answers than that they are for this guest.
 */
import { CaissonError } from '../base/errors.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import type { PooledInstance } from './instance-pool.ts'
import { MAX_TIME_MS } from './logical-clock.ts'

export class GuestTimers {
  readonly #pooled: PooledInstance

  constructor(pooled: PooledInstance) {
    this.#pooled = pooled
  }

  /**
   * Fires the first timer if it is due at `at`, microseconds since the epoch, and leaves its jobs to be run.
   * @returns whether one was due
   */
  fire(at: number): boolean {
    const argument = this.#pooled.writer.writeNumber(at)
    const fired = this.#ask(this.#pooled.guest.fireTimer, argument)
    this.#pooled.free(argument)
    return fired === true
  }

  /**
   * Logical time at which the next timer is due, milliseconds since the epoch; undefined without one.
   * @throws CaissonError `corrupted` for what is no time
   */
  next(): number | undefined {
    const due = this.#ask(this.#pooled.guest.nextTimer)
    if (due === -1) return undefined
    const ms = typeof due === 'number' ? due / 1_000 : Number.NaN
    if (ms >= 0 && ms <= MAX_TIME_MS) return ms
    throw new CaissonError('corrupted', 'A timer of the guest is due at no time that there is.')
  }

  /** How many are set that the program waits for at its end. */
  count(): number {
    return Number(this.#ask(this.#pooled.guest.countTimers))
  }

  #ask(fn: number, argument?: number): unknown {
    const cell = this.#pooled.call(fn, argument)
    const answer = this.#pooled.reader.read(cell, DEFAULT_VALUE_LIMITS, 'timers')
    this.#pooled.free(cell)
    return answer
  }
}
