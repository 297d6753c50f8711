/**
 * Counts a value against its limits while it is read: the canonical size rule of `limits.ts` in code.
 */
import { CaissonError } from '../base/errors.ts'
import type { ValueLimits } from './limits.ts'

/** Regular expressions are parsed when they are created; a longer source is somebody's attack. UTF-16 units. */
export const MAX_REGEXP_SOURCE = 65_536

/** Bytes of a node that carries no text and no binary data. */
export const NODE_BYTES = 8

/** Bytes of a bigint by the size rule; at least `NODE_BYTES`. Above `cap` bytes any number greater than `cap`. */
export function bigintBytes(value: bigint, cap: number): number {
  if (BigInt.asIntN(64, value) === value) return NODE_BYTES
  // Doubling first: the text of a bigint that is far too large must not be made only to see that it is.
  let bits = 128
  while (bits / 16 <= cap && BigInt.asIntN(bits, value) !== value) bits *= 2
  if (bits / 16 > cap) return cap + 1
  const hexDigits = value.toString(16).length - (value < 0n ? 1 : 0)
  return Math.max(NODE_BYTES, Math.ceil(hexDigits / 2))
}

/** Says where the value stands that is being counted; called only when a limit is reached. */
export type Where = () => string

export class ValueMeter {
  bytes = 0
  nodes = 0
  readonly #limits: ValueLimits
  readonly #where: Where

  constructor(limits: ValueLimits, where: Where) {
    this.#limits = limits
    this.#where = where
  }

  /** Counts `count` nodes. @throws CaissonError `value_too_large` */
  addNodes(count: number): void {
    this.nodes += count
    if (this.nodes > this.#limits.nodes) throw this.#tooLarge('nodes', this.nodes, this.#limits.nodes)
  }

  /** Counts `count` bytes. @throws CaissonError `value_too_large` */
  addBytes(count: number): void {
    this.bytes += count
    if (this.bytes > this.#limits.bytes) throw this.#tooLarge('bytes', this.bytes, this.#limits.bytes)
  }

  addBigint(value: bigint): void {
    this.addBytes(bigintBytes(value, this.#limits.bytes - this.bytes))
  }

  /** @throws CaissonError `value_too_deep` */
  checkDepth(depth: number): void {
    if (depth <= this.#limits.depth) return
    throw new CaissonError(
      'value_too_deep',
      `${this.#where()} is nested ${depth} deep; the limit is ${this.#limits.depth}.`,
      { details: { depth, limit: this.#limits.depth } },
    )
  }

  /** Refuses a RegExp whose source is too long to be parsed. @throws CaissonError `value_too_large` */
  checkRegExp(sourceLength: number): void {
    if (sourceLength > MAX_REGEXP_SOURCE) throw this.#tooLarge('characters', sourceLength, MAX_REGEXP_SOURCE)
  }

  #tooLarge(unit: 'bytes' | 'nodes' | 'characters', atLeast: number, limit: number): CaissonError {
    return new CaissonError(
      'value_too_large',
      `The value is too large: at ${this.#where()} it reaches ${atLeast} ${unit}; the limit is ${limit}.`,
      { details: { unit, atLeast, limit } },
    )
  }
}
