/**
 * Keeps active and idle time apart, and says when one of them is used up.
 *
 * Active: the guest computes, or a capability works for it. Idle: only people or timers are waited for.
 *
 * Invariants
 * 1. Every millisecond between start and end counts as one of the two.
 * 2. `onElapsed` is called at most once, and never before the time is really up by the monotonic clock.
 */
import type { Clock } from '../ports/clock.ts'

/** Longest delay that timers take, about 24.8 days. */
const MAX_TIMER_MS = 2 ** 31 - 1

/** Active and idle milliseconds. */
export interface TimeSpent {
  readonly wallMs: number
  readonly idleMs: number
}

const NOTHING: TimeSpent = { wallMs: 0, idleMs: 0 }

export class TimeKeeper {
  readonly #clock: Clock
  readonly #limitMs: { readonly wall: number; readonly idle: number }
  readonly #onElapsed: (limit: 'wall' | 'idle') => void
  readonly #spentMs: { wall: number; idle: number }
  #counting: 'wall' | 'idle' = 'wall'
  #since: number
  #ended = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #timerDue = Number.POSITIVE_INFINITY

  /** Starts counting active time. Limits in milliseconds; `spent` in an earlier life. */
  constructor(
    clock: Clock,
    wallMs: number,
    idleMs: number,
    onElapsed: (limit: 'wall' | 'idle') => void,
    spent: TimeSpent = NOTHING,
  ) {
    this.#spentMs = { wall: spent.wallMs, idle: spent.idleMs }
    this.#clock = clock
    this.#limitMs = { wall: wallMs, idle: idleMs }
    this.#onElapsed = onElapsed
    this.#since = clock.monotonic()
  }

  get activeMs(): number {
    this.#bookTime()
    return this.#spentMs.wall
  }

  get idleMs(): number {
    this.#bookTime()
    return this.#spentMs.idle
  }

  /** Monotonic milliseconds at which active time would be up if all from now on were active. */
  get deadline(): number {
    this.#bookTime()
    return this.#since + this.#limitMs.wall - this.#spentMs.wall
  }

  /** What is known of an earlier life counts, where that is more than is known here. */
  atLeast({ wallMs, idleMs }: TimeSpent = NOTHING): void {
    this.#bookTime()
    this.#spentMs.wall = Math.max(this.#spentMs.wall, wallMs)
    this.#spentMs.idle = Math.max(this.#spentMs.idle, idleMs)
    if (this.#timer !== undefined) this.watch()
  }

  /** Counts what follows as `kind`. */
  count(kind: 'wall' | 'idle'): void {
    if (kind === this.#counting) return
    this.#bookTime()
    this.#counting = kind
    if (this.#timer !== undefined) this.watch()
  }

  /**
   * Sees to it that `onElapsed` is called while the host waits. Cheap to call again: a timer that is due early
   * enough is kept and looks again when it fires.
   */
  watch(): void {
    if (this.#ended) return
    this.#bookTime()
    const remainingMs = this.#limitMs[this.#counting] - this.#spentMs[this.#counting]
    const due = this.#since + remainingMs
    if (this.#timer !== undefined && this.#timerDue <= due) return
    this.#arm(remainingMs, due)
  }

  /** Stops counting and watching. */
  end(): void {
    this.#bookTime()
    this.#ended = true
    clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #arm(remainingMs: number, due: number): void {
    clearTimeout(this.#timer)
    // Rounded up: a timer that fires early would only have to be set again.
    this.#timer = setTimeout(() => this.#look(), Math.min(Math.max(Math.ceil(remainingMs), 0), MAX_TIMER_MS))
    this.#timerDue = due
  }

  #look(): void {
    this.#timer = undefined
    this.#timerDue = Number.POSITIVE_INFINITY
    if (this.#ended) return
    this.#bookTime()
    if (this.#spentMs[this.#counting] < this.#limitMs[this.#counting]) {
      this.watch()
    } else {
      this.end()
      this.#onElapsed(this.#counting)
    }
  }

  #bookTime(): void {
    if (this.#ended) return
    const now = this.#clock.monotonic()
    this.#spentMs[this.#counting] += Math.max(0, now - this.#since)
    this.#since = now
  }
}
