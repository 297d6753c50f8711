/** A small seeded generator of random numbers (mulberry32): the same seed gives the same sequence everywhere. */
export class SeededRandom {
  #state: number

  constructor(seed: number) {
    this.#state = seed >>> 0
  }

  /** A random unsigned 32-bit number. */
  u32(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0
    let t = this.#state
    t = Math.imul(t ^ (t >>> 15), t | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return (t ^ (t >>> 14)) >>> 0
  }

  /** A whole number from 0 to `bound - 1`. */
  below(bound: number): number {
    return Math.floor((this.u32() / 2 ** 32) * bound)
  }

  /** True once in `n` times. */
  oneIn(n: number): boolean {
    return this.below(n) === 0
  }

  /** One of the items. */
  pick<T>(items: readonly T[]): T {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  /** Random bytes. */
  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.u32() & 0xff)
  }
}

/** Random unsigned 32-bit numbers, one with each call. */
export function seededNumbers(seed: number): () => number {
  const random = new SeededRandom(seed)
  return () => random.u32()
}
