/** The words that were written last, so that a repeated one (a pointer, a tag) takes one byte. */
import { MIN_RECENT_VALUE, RECENT_WORDS } from './container-format.ts'

export class RecentWords {
  readonly #ring = new Uint32Array(RECENT_WORDS)
  #next = 0
  #held = 0

  /** Which of them `value` is, 0 being the newest; -1 for none. */
  find(value: number): number {
    const ring = this.#ring
    for (let n = 0; n < this.#held; n++) {
      if (ring[(this.#next - 1 - n) & (RECENT_WORDS - 1)] === value) return n
    }
    return -1
  }

  /** Number `n`, 0 being the newest; undefined when there are not so many. */
  get(n: number): number | undefined {
    return n < this.#held ? this.#ring[(this.#next - 1 - n) & (RECENT_WORDS - 1)] : undefined
  }

  /** Small values are not remembered: they take one byte anyhow. */
  add(value: number): void {
    if (value < MIN_RECENT_VALUE) return
    this.#ring[this.#next] = value
    this.#next = (this.#next + 1) & (RECENT_WORDS - 1)
    if (this.#held < RECENT_WORDS) this.#held += 1
  }

  clear(): void {
    this.#next = 0
    this.#held = 0
  }

  /** Becomes equal to `other`. */
  copyFrom(other: RecentWords): void {
    this.#ring.set(other.#ring)
    this.#next = other.#next
    this.#held = other.#held
  }
}
