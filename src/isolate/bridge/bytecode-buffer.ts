/**
 * Bytes in QuickJS's object format (`JS_WriteObject`, version 5), grown as needed and reused between writes.
 *
 * The format is a table of the property names followed by one value; so names and value are written into two
 * buffers that are joined at the end. Source: `JS_ReadObjectAtoms` and `JS_ReadObjectRec` in `quickjs.c`.
 *
 * Invariants
 * 1. Only what this file writes is ever given to the engine's decoder: it is not made for hostile bytes.
 * 2. The bytes of a message depend on the value alone, not on earlier messages: a guest's memory and fuel
 *    must be the same in every run.
 * 3. A string arrives unit for unit: in one byte per unit where all fit, else in two.
 */

import { CaissonError } from '../../base/errors.ts'

/** Tags of the format (`BCTagEnum`), as far as they are written here. */
const BC = {
  null: 1,
  undefined: 2,
  false: 3,
  true: 4,
  int32: 5,
  float64: 6,
  string: 7,
  object: 8,
  array: 9,
  bigInt: 10,
  typedArray: 14,
  arrayBuffer: 15,
  date: 17,
  boxed: 18,
} as const

const BC_VERSION = 5
/** `JS_BIGINT_MAX_SIZE`: the engine takes up to 2^20 bits. */
const MAX_BIG_INT_BYTES = 131_072
/** Buffers that grew beyond this are dropped after the write. */
const MAX_KEPT = 1 << 16
/** From this length on, the platform's encoder is faster than a loop. */
const LONG_TEXT = 128

/** Up to this length, a loop is faster than `TypedArray.prototype.set`. */
const SHORT = 64
/** Property names kept from message to message. */
const MAX_NAMES = 512

const utf8 = new TextEncoder()
const floatValue = new Float64Array(1)
const floatBytes = new Uint8Array(floatValue.buffer)

/** A byte buffer that grows. */
class Bytes {
  data: Uint8Array
  length = 0

  constructor(size: number) {
    this.data = new Uint8Array(size)
  }

  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.data.length) return
    const grown = new Uint8Array(Math.max(needed, this.data.length * 2))
    grown.set(this.data.subarray(0, this.length))
    this.data = grown
  }

  byte(value: number): void {
    if (this.length === this.data.length) this.reserve(1)
    this.data[this.length] = value
    this.length += 1
  }

  /** Unsigned LEB128 of a 32-bit number. */
  leb(value: number): void {
    let rest = value
    while (rest > 127) {
      this.byte((rest & 127) | 128)
      rest = rest >>> 7
    }
    this.byte(rest)
  }

  /** Length with the flag for two-byte units, then the units. */
  text(text: string): void {
    const { length } = text
    this.reserve(length + 5)
    const start = this.length
    this.leb(length * 2)
    if (length >= LONG_TEXT) {
      const { read, written } = utf8.encodeInto(text, this.data.subarray(this.length, this.length + length))
      if (read === length && written === length) {
        this.length += length
        return
      }
    }
    const { data } = this
    const at = this.length
    for (let i = 0; i < length; i += 1) {
      const unit = text.charCodeAt(i)
      if (unit > 255) {
        this.length = start
        this.#wide(text)
        return
      }
      data[at + i] = unit
    }
    this.length = at + length
  }

  bytes(source: Uint8Array): void {
    const { length } = source
    this.reserve(length)
    if (length > SHORT) this.data.set(source, this.length)
    else for (let i = 0; i < length; i += 1) this.data[this.length + i] = source[i] as number
    this.length += length
  }

  /** Copies all to `target` from `start` on. Returns where it ended. */
  copyTo(target: Uint8Array, start: number): number {
    const { data, length } = this
    if (length > SHORT) target.set(data.subarray(0, length), start)
    else for (let i = 0; i < length; i += 1) target[start + i] = data[i] as number
    return start + length
  }

  clear(): void {
    this.length = 0
    if (this.data.length > MAX_KEPT) this.data = new Uint8Array(MAX_KEPT)
  }

  #wide(text: string): void {
    const { length } = text
    this.reserve(length * 2 + 5)
    this.leb(length * 2 + 1)
    const { data } = this
    let at = this.length
    for (let i = 0; i < length; i += 1) {
      const unit = text.charCodeAt(i)
      data[at] = unit & 255
      data[at + 1] = unit >>> 8
      at += 2
    }
    this.length = at
  }
}

/** A property name that was written before: this message has it where `message` is this message's number. */
interface KnownName {
  message: number
  index: number
  /** Its encoding, length included. */
  readonly bytes: Uint8Array
}

export class BytecodeBuffer {
  readonly #names = new Bytes(512)
  readonly #body = new Bytes(2048)
  /** Names of this and earlier messages. */
  readonly #known = new Map<string, KnownName>()
  #message = 0
  #nameCount = 0
  #knownBytes = 0

  /** Begins a message. */
  clear(): void {
    this.#names.clear()
    this.#body.clear()
    this.#message += 1
    this.#nameCount = 0
    if (this.#knownBytes > MAX_KEPT || this.#known.size > MAX_NAMES) {
      this.#known.clear()
      this.#knownBytes = 0
    }
  }

  /** Most bytes that the finished message takes: version and count of names take six of them. */
  get size(): number {
    return 6 + this.#names.length + this.#body.length
  }

  /** Writes the finished message to `target` from `start` on. Returns the bytes written. */
  copyTo(target: Uint8Array, start: number): number {
    let at = start
    target[at++] = BC_VERSION
    let count = this.#nameCount
    while (count > 127) {
      target[at++] = (count & 127) | 128
      count >>>= 7
    }
    target[at++] = count
    at = this.#names.copyTo(target, at)
    return this.#body.copyTo(target, at) - start
  }

  null(): void {
    this.#body.byte(BC.null)
  }

  undefined(): void {
    this.#body.byte(BC.undefined)
  }

  boolean(value: boolean): void {
    this.#body.byte(value ? BC.true : BC.false)
  }

  number(value: number): void {
    const body = this.#body
    if ((value | 0) === value && !Object.is(value, -0)) {
      body.byte(BC.int32)
      body.leb(((value << 1) ^ (value >> 31)) >>> 0)
      return
    }
    body.byte(BC.float64)
    floatValue[0] = value
    body.bytes(floatBytes)
  }

  string(value: string): void {
    this.#body.byte(BC.string)
    this.#body.text(value)
  }

  /** Two's complement in as few bytes as hold it. @throws CaissonError `value_too_large` */
  bigInt(value: bigint): void {
    const body = this.#body
    body.byte(BC.bigInt)
    if (value === 0n) {
      body.leb(0)
      return
    }
    const magnitude = (value < 0n ? -value : value).toString(16)
    // One bit more than the magnitude has, for the sign.
    const count = Math.floor((magnitude.length * 4) / 8) + 1
    if (count > MAX_BIG_INT_BYTES) {
      throw new CaissonError('value_too_large', `A BigInt of ${count} bytes is too long for a guest.`, {
        details: { unit: 'bytes', atLeast: count, limit: MAX_BIG_INT_BYTES },
      })
    }
    const hex = BigInt.asUintN(count * 8, value)
      .toString(16)
      .padStart(count * 2, '0')
    body.leb(count)
    body.reserve(count)
    for (let i = count - 1; i >= 0; i -= 1) body.byte(Number.parseInt(hex.slice(2 * i, 2 * i + 2), 16))
  }

  /** An object of `count` properties: `name` and a value for each follow. */
  object(count: number): void {
    this.#body.byte(BC.object)
    this.#body.leb(count)
  }

  /** Name of a property. The engine's reader makes index names what they are. */
  name(name: string): void {
    let known = this.#known.get(name)
    if (known === undefined) known = this.#learn(name)
    if (known.message !== this.#message) {
      known.message = this.#message
      this.#nameCount += 1
      known.index = this.#nameCount
      this.#names.bytes(known.bytes)
    }
    this.#body.leb(known.index << 1)
  }

  #learn(name: string): KnownName {
    const bytes = new Bytes(name.length + 5)
    bytes.text(name)
    const known = { message: 0, index: 0, bytes: bytes.data.slice(0, bytes.length) }
    this.#known.set(name, known)
    this.#knownBytes += bytes.length
    return known
  }

  /** An array of `length` elements, which follow. */
  array(length: number): void {
    this.#body.byte(BC.array)
    this.#body.leb(length)
  }

  /** Milliseconds since the epoch. */
  date(time: number): void {
    this.#body.byte(BC.date)
    this.number(time)
  }

  /** A wrapper object around the primitive that follows. */
  boxed(): void {
    this.#body.byte(BC.boxed)
  }

  buffer(bytes: Uint8Array): void {
    const body = this.#body
    body.byte(BC.arrayBuffer)
    body.leb(bytes.length)
    // The largest length says that the buffer has a fixed size.
    body.leb(0xffff_ffff)
    body.bytes(bytes)
  }

  /** A typed array of `length` elements; its buffer follows. `kind` counts from `Uint8ClampedArray`. */
  typedArray(kind: number, length: number, byteOffset: number): void {
    const body = this.#body
    body.byte(BC.typedArray)
    body.byte(kind)
    body.leb(length)
    body.leb(byteOffset)
  }
}
