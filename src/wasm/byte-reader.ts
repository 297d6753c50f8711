/**
 * A bounded reader over the bytes of a module.
 *
 * 1. It never reads outside of `[position, end)`: what would is an `invalid_module` error with the offset.
 * 2. Counts are checked against the bytes that are left (an item takes at least one), so that no count makes
 *    anybody allocate more than the input holds.
 * 3. LEB128 numbers longer than the format allows, or with unused bits set, are refused.
 */
import { invalidModule } from './module-error.ts'

const UTF8: TextDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Reads the primitive encodings of the WebAssembly binary format. */
export class ByteReader {
  readonly bytes: Uint8Array
  /** Where the next byte is read, as an index into `bytes`. */
  position: number
  /** Index after the last byte that may be read. */
  readonly end: number
  /** Offset in the whole module of `bytes[0]`, for messages. */
  readonly base: number

  constructor(bytes: Uint8Array, start = 0, end: number = bytes.length, base = 0) {
    this.bytes = bytes
    this.position = start
    this.end = end
    this.base = base
  }

  /** Whether everything was read. */
  get done(): boolean {
    return this.position >= this.end
  }

  /** Offset of the next byte in the whole module. */
  get offset(): number {
    return this.base + this.position
  }

  /** One byte. */
  byte(): number {
    if (this.position >= this.end) throw invalidModule('Unexpected end', this.offset)
    return this.bytes[this.position++] as number
  }

  /** An unsigned 32-bit LEB128 number. */
  u32(): number {
    let result = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      if (shift === 28 && byte > 0x0f) break
      result |= (byte & 0x7f) << shift
      if (byte < 0x80) return result >>> 0
    }
    throw invalidModule('A number exceeds 32 bits', this.offset - 1)
  }

  /** A signed 32-bit LEB128 number. */
  s32(): number {
    let result = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      if (shift === 28) {
        const top = byte & 0x78
        if (byte > 0x7f || (top !== 0 && top !== 0x78)) break
        return result | (byte << 28)
      }
      result |= (byte & 0x7f) << shift
      if (byte < 0x80) return (result << (25 - shift)) >> (25 - shift)
    }
    throw invalidModule('A number exceeds 32 bits', this.offset - 1)
  }

  /** A signed 33-bit LEB128 number: block types and heap types. */
  s33(): number {
    let result = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      if (shift === 28) {
        const top = byte & 0x70
        if (byte > 0x7f || (top !== 0 && top !== 0x70)) break
        const high = byte & 0x1f
        return result + (high >= 0x10 ? high - 0x20 : high) * 0x1000_0000
      }
      result |= (byte & 0x7f) << shift
      if (byte < 0x80) {
        const sign = 0x40 << shift
        return (result ^ sign) - sign
      }
    }
    throw invalidModule('A number exceeds 33 bits', this.offset - 1)
  }

  /** An unsigned 64-bit LEB128 number, as a float: exact up to 2^53. */
  u64(): number {
    let result = 0
    let scale = 1
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.byte()
      if (shift === 63 && byte > 0x01) break
      result += (byte & 0x7f) * scale
      scale *= 128
      if (byte < 0x80) return result
    }
    throw invalidModule('A number exceeds 64 bits', this.offset - 1)
  }

  /** A signed 64-bit LEB128 number. */
  s64(): bigint {
    let result = 0n
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = this.byte()
      result |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return BigInt.asIntN(64, byte >= 0x40 ? result - (1n << (shift + 7n)) : result)
    }
    throw invalidModule('A number exceeds 64 bits', this.offset - 1)
  }

  /** Passes over a signed 64-bit LEB128 number. */
  skipS64(): void {
    for (let length = 1; length <= 10; length++) if (this.byte() < 0x80) return
    throw invalidModule('A number exceeds 64 bits', this.offset - 1)
  }

  /** Passes over `length` bytes. */
  skip(length: number): void {
    if (length > this.end - this.position) throw invalidModule('Unexpected end', this.base + this.end)
    this.position += length
  }

  /** The number of items that follow, each at least `bytesPerItem` long. */
  count(bytesPerItem = 1): number {
    const offset = this.offset
    const count = this.u32()
    if (count * bytesPerItem > this.end - this.position) {
      throw invalidModule('A count exceeds the bytes that follow it', offset)
    }
    return count
  }

  /** A view of the next `length` bytes. */
  take(length: number): Uint8Array {
    const start = this.position
    this.skip(length)
    return this.bytes.subarray(start, start + length)
  }

  /** A name: its length, then UTF-8. */
  name(): string {
    const offset = this.offset
    const bytes = this.take(this.u32())
    try {
      return UTF8.decode(bytes)
    } catch {
      throw invalidModule('A name is not UTF-8', offset)
    }
  }

  /** A reader over the next `length` bytes, which this one passes over. */
  section(length: number): ByteReader {
    const start = this.position
    this.skip(length)
    return new ByteReader(this.bytes, start, start + length, this.base)
  }
}
