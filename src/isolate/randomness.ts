/**
 * The randomness of one isolate: separate streams from one secret, recorded seed.
 *
 * Invariants
 * 1. Equal seeds give equal streams, on every runtime.
 * 2. The streams are independent: what a guest sees of one tells nothing about another, the seed, or a fork's.
 *    Every key is SHA-256 over a name of its own and the seed.
 * 3. A fork never shares a sequence with its parent or with a fork of another label.
 * 4. Nothing is computed before first use, so that a program without randomness costs nothing and has one digest.
 *
 * `Math.random` is xoshiro128++; cryptographic bytes are SHA-256 in counter mode.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import { sha256Bytes } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { Xoshiro128, type XoshiroState } from './xoshiro128.ts'

/** Bytes of a seed. */
export const SEED_BYTES = 32
const BLOCK_BYTES = 32

/** The streams as plain data, for snapshots. As secret as the seed that it holds. */
export interface RandomState {
  /** Hexadecimal. */
  readonly seed: string
  /** Undefined while `Math.random` was not used. */
  readonly mathRandom: XoshiroState | undefined
  /** Cryptographic bytes given so far. */
  readonly cryptoBytes: number
}

export class RandomStreams {
  readonly #seed: Uint8Array
  #math: Xoshiro128 | undefined
  /** Key, then an 8-byte counter: what is hashed for a block. */
  #cryptoInput: Uint8Array | undefined
  #cryptoBlock: Uint8Array = new Uint8Array(BLOCK_BYTES)
  #cryptoBytes = 0

  /**
   * @param seed 32 bytes, copied
   * @throws CaissonError `invalid_argument` when it has another length
   */
  constructor(seed: Uint8Array) {
    if (seed.length !== SEED_BYTES) {
      throw new CaissonError(
        'invalid_argument',
        `A seed has ${seed.length} bytes; it takes ${SEED_BYTES}. Use seedFromInteger for small numbers.`,
      )
    }
    this.#seed = new Uint8Array(seed)
  }

  /** @throws CaissonError `corrupted` when `state` is none */
  static fromState(state: RandomState): RandomStreams {
    checkRandomState(state)
    const { seed, mathRandom, cryptoBytes } = state
    const streams = new RandomStreams(fromHex(seed))
    if (mathRandom !== undefined) streams.#math = new Xoshiro128(mathRandom)
    streams.#cryptoBytes = cryptoBytes
    if (cryptoBytes % BLOCK_BYTES !== 0) streams.#loadBlock(Math.floor(cryptoBytes / BLOCK_BYTES))
    return streams
  }

  state(): RandomState {
    return { seed: toHex(this.#seed), mathRandom: this.#math?.state(), cryptoBytes: this.#cryptoBytes }
  }

  /** The next number of `Math.random`: in [0, 1), 53 random bits. */
  mathRandom(): number {
    this.#math ??= new Xoshiro128(wordsOf(derive('math.random', this.#seed)))
    return this.#math.nextFloat()
  }

  /** Fills `target` with the next bytes of the cryptographic stream. */
  fillCrypto(target: Uint8Array): void {
    let filled = 0
    while (filled < target.length) {
      const used = this.#cryptoBytes % BLOCK_BYTES
      if (used === 0) this.#loadBlock(this.#cryptoBytes / BLOCK_BYTES)
      const count = Math.min(BLOCK_BYTES - used, target.length - filled)
      target.set(this.#cryptoBlock.subarray(used, used + count), filled)
      filled += count
      this.#cryptoBytes += count
    }
  }

  /**
   * Streams for a guest that goes on from here on another way.
   * @param label tells the forks of one guest apart: equal labels give equal streams, other labels independent ones
   */
  fork(label: string): RandomStreams {
    return new RandomStreams(derive(`fork ${label}`, this.#seed))
  }

  #loadBlock(index: number): void {
    if (this.#cryptoInput === undefined) {
      this.#cryptoInput = new Uint8Array(SEED_BYTES + 8)
      this.#cryptoInput.set(derive('crypto', this.#seed))
    }
    new DataView(this.#cryptoInput.buffer).setBigUint64(SEED_BYTES, BigInt(index), true)
    this.#cryptoBlock = sha256Bytes(this.#cryptoInput)
  }
}

/** A seed as text; small letters are what is written. */
const SEED_HEX = /^[0-9a-fA-F]{64}$/

/** @throws CaissonError `corrupted` when `state` is none */
export function checkRandomState({ seed, mathRandom, cryptoBytes }: RandomState): void {
  const wordsAreValid =
    mathRandom === undefined || (mathRandom.length === 4 && mathRandom.every((word) => word >>> 0 === word))
  if (SEED_HEX.test(seed) && wordsAreValid && Number.isSafeInteger(cryptoBytes) && cryptoBytes >= 0) return
  throw new CaissonError('corrupted', 'The state of the random streams contradicts itself.')
}

/**
 * The seed that `--seed n` stands for.
 * @throws CaissonError `invalid_argument` unless `n` is a whole number from 0 to 2^53 - 1
 */
export function seedFromInteger(n: number): Uint8Array {
  if (!Number.isSafeInteger(n) || n < 0) {
    throw new CaissonError(
      'invalid_argument',
      `A seed number is ${String(n)}; it takes a whole number from 0 to 2^53 - 1.`,
    )
  }
  return derive(`seed ${n}`, new Uint8Array())
}

/** A key of its own for every purpose: the name cannot run into the secret, because it ends with a zero byte. */
function derive(purpose: string, secret: Uint8Array): Uint8Array {
  const name = new TextEncoder().encode(`caisson randomness 1: ${JSON.stringify(purpose)}\0`)
  const input = new Uint8Array(name.length + secret.length)
  input.set(name)
  input.set(secret, name.length)
  return sha256Bytes(input)
}

function wordsOf(bytes: Uint8Array): XoshiroState {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  return [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true), view.getUint32(12, true)]
}
