/**
 * xoshiro128++ 1.0 of David Blackman and Sebastiano Vigna (https://prng.di.unimi.it/xoshiro128plusplus.c).
 *
 * Fast and statistically good, and not unpredictable: whoever sees some outputs can compute the rest. So its state
 * is a hash of a secret, from which neither the secret nor another stream can be found.
 */

/** Four words of 32 bits, not all zero. */
export type XoshiroState = readonly [number, number, number, number]

export class Xoshiro128 {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(state: XoshiroState) {
    this.#a = state[0] | 0
    this.#b = state[1] | 0
    this.#c = state[2] | 0
    this.#d = state[3] | 0
    // All zeros is the one state that yields only zeros.
    if ((this.#a | this.#b | this.#c | this.#d) === 0) this.#a = 1
  }

  state(): XoshiroState {
    return [this.#a >>> 0, this.#b >>> 0, this.#c >>> 0, this.#d >>> 0]
  }

  /** A float in [0, 1) with 53 random bits, made of two outputs. */
  nextFloat(): number {
    const high = this.nextUint32() >>> 5
    const low = this.nextUint32() >>> 6
    return (high * 0x400_0000 + low) / 0x20_0000_0000_0000
  }

  /** A whole number of 32 random bits. */
  nextUint32(): number {
    const sum = (this.#a + this.#d) | 0
    const result = (((sum << 7) | (sum >>> 25)) + this.#a) >>> 0
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result
  }
}
