/**
 * Keeps track of promises that were rejected and that nobody handles.
 *
 * The engine reports a rejection when it happens and again when a handler comes later. What is left at the
 * end of a turn is reported. Bounded: a guest may reject as many promises as its fuel allows.
 *
 * Invariants
 * 1. A promise is rejected once. So where one is rejected at an address that is known, the earlier one was
 *    freed: nobody can handle it any more, and it is kept.
 */
import type { GuestError } from '../machine/turn.ts'

const MOST = 100
const NONE: readonly GuestError[] = []

export class Rejections {
  /** Made on first use: most programs reject nothing. */
  #open: Map<number, GuestError> | undefined
  /** Those that nobody can handle any more. */
  #lost: GuestError[] = []

  /** `read` copies the reason out of the guest; it is only called while there is room. */
  rejected(promise: number, read: () => GuestError): void {
    this.#open ??= new Map()
    const earlier = this.#open.get(promise)
    if (earlier !== undefined) {
      this.#open.delete(promise)
      this.#lost.push(earlier)
    }
    if (this.#open.size + this.#lost.length < MOST) this.#open.set(promise, read())
  }

  handled(promise: number): void {
    this.#open?.delete(promise)
  }

  /** Takes what is open, without the promises of the program itself: their rejection is the program's end. */
  take(own: readonly number[]): readonly GuestError[] {
    if (this.#open === undefined || this.#open.size + this.#lost.length === 0) return NONE
    const errors = this.#lost
    this.#lost = []
    for (const [promise, error] of this.#open) if (!own.includes(promise)) errors.push(error)
    this.#open.clear()
    return errors
  }
}
