/**
 * Keeps track of promises that were rejected and that nobody handles, and of errors that nobody could catch: those
 * of timers.
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

interface Rejected {
  readonly reason: bigint | undefined
  readonly error: GuestError
}

export class Rejections {
  /** Made on first use: most programs reject nothing. */
  #open: Map<number, Rejected> | undefined
  /** Those that nobody can handle any more. */
  #lost: Rejected[] = []

  /** `read` copies the reason out of the guest; it is only called while there is room. `reason` is its value there. */
  rejected(promise: number, reason: bigint, read: () => GuestError): void {
    this.#open ??= new Map()
    const earlier = this.#open.get(promise)
    if (earlier !== undefined) {
      this.#open.delete(promise)
      this.#lost.push(earlier)
    }
    if (this.#open.size + this.#lost.length < MOST) this.#open.set(promise, { reason, error: read() })
  }

  /** An error that nobody will handle. `read` as of `rejected`. */
  uncaught(read: () => GuestError): void {
    this.#open ??= new Map()
    if (this.#open.size + this.#lost.length < MOST) this.#lost.push({ reason: undefined, error: read() })
  }

  /** Whoever imported the module gets what it was rejected with. */
  forget(reason: bigint): void {
    for (const [promise, rejected] of this.#open ?? []) {
      if (rejected.reason === reason) this.#open?.delete(promise)
    }
    this.#lost = this.#lost.filter((rejected) => rejected.reason !== reason)
  }

  handled(promise: number): void {
    this.#open?.delete(promise)
  }

  /**
   * Takes what is open, without what is the program's end: the promises of the program itself, and those that its
   * modules were rejected with, which have the reason that the program failed with.
   */
  take(own: readonly number[], endReason: bigint | undefined): readonly GuestError[] {
    if (this.#open === undefined || this.#open.size + this.#lost.length === 0) return NONE
    const taken = this.#lost
    this.#lost = []
    for (const [promise, rejected] of this.#open) if (!own.includes(promise)) taken.push(rejected)
    this.#open.clear()
    return taken
      .filter(({ reason }) => reason === undefined || reason !== endReason)
      .map(({ error }) => error)
  }
}
