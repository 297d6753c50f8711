/**
 * Canonical bytes of plain data of which no part is met twice, in one pass and without a copy of it.
 *
 * The canonical encoding writes containers level by level. Of a tree each level has its parts in the order in which they
 * are met on the way down: so each is written to the bytes of its level at once, and nothing waits in a queue.
 *
 * Invariants
 * 1. The bytes are those that `encodeCanonical` gives of a copy in which nothing is shared, without members that are undefined but in values.
 *    Whatever is of another kind, deep, or large is left to it: nothing is refused here.
 * 2. What is given is data of the host itself: none of its members is an accessor.
 */

import { ByteWriter } from '../base/byte-writer.ts'
import { concatBytes } from '../base/bytes.ts'
import { CANONICAL_VERSION, NAN_HIGH_WORD, TAG } from './canonical-format.ts'
import type { ValueLimits } from './limits.ts'

const MOST_DEPTH = 60
/** More than any place that is no text takes by the size rule. */
const PLACE_BYTES = 16

/**
 * @param isValue whether of a member all members count, also those that are undefined; it must not meet a part twice
 * @returns undefined where it is left to `encodeCanonical`
 */
export function encodeTree(
  value: unknown,
  limits: ValueLimits,
  isValue: (part: object) => boolean,
): Uint8Array | undefined {
  try {
    return new TreeEncoder(limits, isValue).encode(value)
  } catch (error) {
    if (error !== OTHER) throw error
    return undefined
  }
}

class TreeEncoder {
  readonly #isValue: (part: object) => boolean
  readonly #levels: ByteWriter[] = []
  /** Objects of the value that is being written: met twice, they are told by their numbers. */
  readonly #met = new Set<object>()
  #nodesLeft: number
  #bytesLeft: number
  readonly #depth: number

  constructor(limits: ValueLimits, isValue: (part: object) => boolean) {
    this.#isValue = isValue
    this.#nodesLeft = limits.nodes
    this.#bytesLeft = limits.bytes
    this.#depth = Math.min(limits.depth, MOST_DEPTH)
  }

  encode(value: unknown): Uint8Array {
    this.#level(0).byte(CANONICAL_VERSION)
    this.#place(value, 0, false)
    return concatBytes(this.#levels.map((level) => level.finish()))
  }

  #level(depth: number): ByteWriter {
    const known = this.#levels[depth]
    if (known !== undefined) return known
    if (depth > this.#depth) throw OTHER
    const level = new ByteWriter(1_024)
    this.#levels[depth] = level
    return level
  }

  #place(value: unknown, depth: number, inValue: boolean): void {
    const level = this.#level(depth)
    this.#nodesLeft -= 1
    this.#bytesLeft -= PLACE_BYTES
    if (this.#nodesLeft < 0 || this.#bytesLeft < 0) throw OTHER
    switch (typeof value) {
      case 'string':
        this.#text(level, value)
        return
      case 'number':
        this.#number(level, value)
        return
      case 'boolean':
        level.byte(value ? TAG.true : TAG.false)
        return
      case 'undefined':
        level.byte(TAG.undefined)
        return
      case 'object':
        if (value === null) level.byte(TAG.null)
        else this.#object(level, value, depth, inValue)
        return
      default:
        throw OTHER
    }
  }

  #number(level: ByteWriter, value: number): void {
    level.byte(TAG.number)
    if (Number.isNaN(value)) {
      level.uint32(0)
      level.uint32(NAN_HIGH_WORD)
    } else level.float64(value)
  }

  #object(level: ByteWriter, object: object, depth: number, inValue: boolean): void {
    if (inValue) {
      if (this.#met.has(object)) throw OTHER
      this.#met.add(object)
    }
    if (Array.isArray(object)) {
      level.byte(TAG.array)
      this.#elements(object, depth + 1, inValue)
      return
    }
    const prototype: unknown = Object.getPrototypeOf(object)
    if (prototype !== Object.prototype && prototype !== null) throw OTHER
    level.byte(TAG.object)
    const isValue = !inValue && this.#isValue(object)
    if (isValue) this.#met.clear()
    this.#members(object, depth + 1, inValue || isValue)
  }

  #elements(array: readonly unknown[], depth: number, inValue: boolean): void {
    const { length } = array
    if (Object.keys(array).length !== length) throw OTHER
    const level = this.#level(depth)
    level.varint(length)
    for (let i = 0; i < length; i += 1) {
      if (!Object.hasOwn(array, i)) throw OTHER
      this.#place(array[i], depth, inValue)
    }
    level.varint(0)
  }

  #members(object: object, depth: number, inValue: boolean): void {
    const members = object as Readonly<Record<string, unknown>>
    const keys = Object.keys(object)
    const written = inValue ? keys : keys.filter((key) => members[key] !== undefined)
    // The default order compares UTF-16 units.
    written.sort()
    const level = this.#level(depth)
    level.varint(written.length)
    for (const key of written) {
      this.#text(level, key)
      this.#place(members[key], depth, inValue)
    }
  }

  #text(level: ByteWriter, text: string): void {
    this.#bytesLeft -= text.length
    let isLatin1 = true
    for (let i = 0; i < text.length && isLatin1; i += 1) isLatin1 = text.charCodeAt(i) <= 0xff
    level.byte(isLatin1 ? TAG.latin1 : TAG.utf16)
    level.varint(text.length)
    if (isLatin1) level.latin1(text)
    else level.utf16(text)
  }
}

/** Thrown for what is left to others: made once, as a stack takes longer than the value. */
const OTHER: Error = new Error('Not a small tree of plain data.')
