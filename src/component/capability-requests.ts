/**
 * Calls that a component begins and does not wait for one by one: their records, and what came for them.
 *
 * Invariant
 * 1. An answer is counted once, in the turn in which the guest goes on, and kept until nobody asks for it any more.
 */
import type { Answer, PendingCall } from '../capability/call.ts'

export class CapabilityRequests {
  readonly #pending = new Map<number, PendingCall>()
  readonly #answers = new Map<number, Answer>()
  /** Nobody asks for these, and somebody is at work on them. */
  readonly #dropped = new Set<number>()
  #uncounted: Answer[] = []
  /** Makes the call again of an import that waits for any of them. */
  #again: (() => unknown) | undefined

  get pending(): Iterable<PendingCall> {
    return this.#pending.values()
  }

  /** Those that are under way, and those whose answer is kept. */
  get size(): number {
    return this.#pending.size + this.#answers.size
  }

  begin(call: PendingCall): void {
    this.#pending.set(call.id, call)
  }

  answer(answer: Answer): void {
    this.#pending.delete(answer.id)
    if (!this.#dropped.delete(answer.id)) this.#answers.set(answer.id, answer)
    this.#uncounted.push(answer)
  }

  answerTo(id: number): Answer | undefined {
    return this.#answers.get(id)
  }

  /** @param isAsked somebody is at work on it: its answer is still expected */
  forget(id: number, isAsked: boolean): void {
    this.#answers.delete(id)
    if (!this.#pending.has(id)) return
    if (isAsked) this.#dropped.add(id)
    else this.#pending.delete(id)
  }

  takeUncounted(): readonly Answer[] {
    const taken = this.#uncounted
    this.#uncounted = []
    return taken
  }

  wait(again: () => unknown): void {
    this.#again = again
  }

  takeWait(): (() => unknown) | undefined {
    const again = this.#again
    this.#again = undefined
    return again
  }

  clear(): void {
    this.#pending.clear()
    this.#answers.clear()
    this.#dropped.clear()
    this.#uncounted = []
    this.#again = undefined
  }
}
