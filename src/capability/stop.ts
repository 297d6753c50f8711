/**
 * One word to everything at work for a guest: stop. Raised at the deadline, by the embedder's signal, or at
 * the end of the guest.
 *
 * Not an AbortSignal, because every call subscribes and unsubscribes, and in Node an `addEventListener` with
 * its removal costs more than the rest of the gate. Implementations get a real AbortSignal, made on first use.
 */

/** What calls see of a `StopSource`. */
export interface Stop {
  readonly stopped: boolean
  /** Calls `listener` once when raised, never if already raised. Returns what takes it back. */
  onStop(listener: () => void): () => void
}

export class StopSource implements Stop {
  #stopped = false
  readonly #listeners = new Set<() => void>()

  get stopped(): boolean {
    return this.#stopped
  }

  onStop(listener: () => void): () => void {
    if (!this.#stopped) this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Raises it; later calls do nothing. */
  stop(): void {
    if (this.#stopped) return
    this.#stopped = true
    const listeners = [...this.#listeners]
    this.#listeners.clear()
    for (const listener of listeners) listener()
  }
}
