/**
 * For how long something has looked the same to this process: the one way to find a silent holder dead that needs no
 * clock which others share.
 */
export class StillnessWatch {
  readonly #seen = new Map<string, { readonly what: string; readonly sinceMs: number }>()

  /**
   * Looks at what `key` is now.
   * @param nowMs by a clock of this process that never goes back
   * @returns milliseconds since it was first seen as it is; 0 when it has changed
   */
  unchangedMs(key: string, what: string, nowMs: number): number {
    const seen = this.#seen.get(key)
    if (seen?.what === what) return nowMs - seen.sinceMs
    this.#seen.set(key, { what, sinceMs: nowMs })
    return 0
  }

  /** There is nothing more to watch. */
  forget(key: string): void {
    this.#seen.delete(key)
  }
}
