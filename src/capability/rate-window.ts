/**
 * At most `calls` in any window of `perMs` milliseconds, exactly: a ring of the last `calls` times.
 *
 * Times are monotonic. A snapshot carries ages instead, so that it means the same in another process; time
 * spent parked does not count, which errs on the side of fewer calls.
 */
export class RateWindow {
  readonly calls: number
  readonly perMs: number
  readonly #times: Float64Array
  /** Index of the oldest time, which the next call will replace. */
  #oldest = 0

  constructor(calls: number, perMs: number) {
    this.calls = calls
    this.perMs = perMs
    this.#times = new Float64Array(calls).fill(Number.NEGATIVE_INFINITY)
  }

  /** Milliseconds until a call is allowed; 0 when one is allowed at `nowMs` (monotonic). */
  waitMs(nowMs: number): number {
    const oldest = this.#times[this.#oldest] as number // the ring is never empty
    return Math.max(0, oldest + this.perMs - nowMs)
  }

  /** Counts a call at `nowMs`. Ask `waitMs` first. */
  take(nowMs: number): void {
    this.#times[this.#oldest] = nowMs
    this.#oldest = (this.#oldest + 1) % this.calls
  }

  /** Ages in milliseconds of the calls that still count, oldest first. */
  ages(nowMs: number): number[] {
    const ages: number[] = []
    for (let i = 0; i < this.calls; i++) {
      const age = nowMs - (this.#times[(this.#oldest + i) % this.calls] as number)
      if (age < this.perMs) ages.push(Math.max(0, age))
    }
    return ages
  }

  /** Puts back what `ages` gave. With more ages than fit, the newest count. */
  restore(ages: readonly number[], nowMs: number): void {
    this.#times.fill(Number.NEGATIVE_INFINITY)
    this.#oldest = 0
    for (const age of ages.slice(-this.calls)) this.take(nowMs - age)
  }
}
