/**
 * Reads binary formats from bytes that may be hostile.
 *
 * Invariants
 * 1. Nothing outside of the given bytes is read: what would be is refused as `corrupted`, with the offset.
 * 2. A varint in more bytes than needed, or above 2^53 - 1, is refused: one number has one encoding.
 * 3. A length is checked against the bytes that are left before anything is allocated for it.
 */
import { CaissonError } from './errors.ts'

/** Units given to `String.fromCharCode` at once: well below the number of arguments that engines take. */
const CHUNK = 4096

const SHORT = 12
const SHORT_COPY = 64
const ASCII: TextDecoder = new TextDecoder()

const hostIsLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

export class ByteReader {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** Where the next byte is read. */
  get offset(): number {
    return this.#offset
  }

  /** Bytes that are left. */
  get remaining(): number {
    return this.#bytes.length - this.#offset
  }

  /** Goes back over the last `length` bytes read, to read them again in another way. */
  back(length: number): void {
    this.#offset -= Math.min(length, this.#offset)
  }

  byte(): number {
    return this.#bytes[this.#take(1)] as number
  }

  /** A whole number from 0 to 2^53 - 1. */
  varint(): number {
    // Most take one byte, and nearly all others two to four: without steps, and without numbers beyond 32 bits.
    const bytes = this.#bytes
    const at = this.#offset
    if (at + 4 <= bytes.length) {
      const first = bytes[at] as number
      if (first < 0x80) return this.#short(first, 1)
      const second = bytes[at + 1] as number
      if (second < 0x80) return this.#short((first & 0x7f) | (second << 7), 2)
      const third = bytes[at + 2] as number
      const low = (first & 0x7f) | ((second & 0x7f) << 7)
      if (third < 0x80) return this.#short(low | (third << 14), 3)
      const fourth = bytes[at + 3] as number
      if (fourth < 0x80) return this.#short(low | ((third & 0x7f) << 14) | (fourth << 21), 4)
    }
    let value = 0
    let scale = 1
    for (let i = 0; i < 8; i++) {
      const byte = this.byte()
      value += (byte & 0x7f) * scale
      if (byte < 0x80) {
        if (byte === 0 && i > 0) throw this.corrupted('a number takes more bytes than it needs')
        if (value > Number.MAX_SAFE_INTEGER) break
        return value
      }
      scale *= 0x80
    }
    throw this.corrupted('a number is too large')
  }

  /** A varint of so many bytes that was read. */
  #short(value: number, bytes: number): number {
    this.#offset += bytes
    if (bytes > 1 && value < 1 << (7 * (bytes - 1)))
      throw this.corrupted('a number takes more bytes than it needs')
    return value
  }

  uint32(): number {
    return this.#view.getUint32(this.#take(4), true)
  }

  float64(): number {
    return this.#view.getFloat64(this.#take(8), true)
  }

  /** The next `length` bytes: a view of the input, not a copy. */
  raw(length: number): Uint8Array {
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /** Copies the next `length` bytes to `target` from `at` on, where there must be room for them. */
  copyTo(target: Uint8Array, at: number, length: number): void {
    const start = this.#take(length)
    const bytes = this.#bytes
    // A view of a few bytes takes longer than they do.
    if (length > SHORT_COPY) target.set(bytes.subarray(start, start + length), at)
    else for (let i = 0; i < length; i++) target[at + i] = bytes[start + i] as number
  }

  /** A string of `length` units, one byte each. */
  latin1(length: number): string {
    const start = this.#take(length)
    // Short ones, which most are, are cheapest byte by byte; long ones natively, if ASCII, which they mostly are.
    if (length > SHORT) return fromLatin1(this.#bytes.subarray(start, start + length))
    let text = ''
    for (let i = start; i < start + length; i++) text += String.fromCharCode(this.#bytes[i] as number)
    return text
  }

  /** A string of `length` UTF-16 units, two bytes each. */
  utf16(length: number): string {
    const bytes = this.raw(2 * length)
    const copy = new Uint8Array(bytes)
    if (!hostIsLittleEndian) for (let i = 0; i < copy.length; i += 2) copy.subarray(i, i + 2).reverse()
    return fromUnits(new Uint16Array(copy.buffer))
  }

  /** The error for input that contradicts its format here. */
  corrupted(what: string): CaissonError {
    return new CaissonError('corrupted', `At byte ${this.#offset}: ${what}.`, {
      details: { offset: this.#offset },
    })
  }

  #take(length: number): number {
    if (length > this.remaining) throw this.corrupted('the bytes end too early')
    const start = this.#offset
    this.#offset += length
    return start
  }
}

function fromLatin1(bytes: Uint8Array): string {
  for (let i = 0; i < bytes.length; i++) if ((bytes[i] as number) > 0x7f) return fromUnits(bytes)
  return ASCII.decode(bytes)
}

function fromUnits(units: Uint8Array | Uint16Array): string {
  if (units.length <= CHUNK) return String.fromCharCode.apply(null, units as unknown as number[])
  const parts: string[] = []
  for (let i = 0; i < units.length; i += CHUNK) parts.push(fromUnits(units.subarray(i, i + CHUNK)))
  return parts.join('')
}
