/**
 * A cursor over WebAssembly bytes: LEB128 numbers, names, slices.
 *
 * Written for the oracle alone, from the binary format chapter of the core specification, so that a
 * misreading in the product's reader cannot hide in a misreading here.
 */

/** Thrown for bytes that the oracle cannot read; tests let it fail them. */
export class OracleError extends Error {
  override readonly name = 'OracleError'
}

/** Reads forward from `at`; never past the end. */
export class ByteReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at = 0) {
    this.bytes = bytes
    this.at = at
  }

  u8(): number {
    const byte = this.bytes[this.at]
    if (byte === undefined) throw new OracleError(`read past the end at ${this.at}`)
    this.at += 1
    return byte
  }

  /** An unsigned LEB128 number below 2^32. */
  u32(): number {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.u8()
      value += (byte & 0x7f) * 2 ** shift
      if ((byte & 0x80) === 0) return value
    }
  }

  /** A signed LEB128 number of any width up to 64 bits. */
  signed(): bigint {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = BigInt(this.u8())
      value |= (byte & 0x7fn) << shift
      if ((byte & 0x80n) === 0n) return byte & 0x40n ? value - (1n << (shift + 7n)) : value
    }
  }

  /** A signed LEB128 number that fits a double exactly (i32 constants, block types). */
  smallSigned(): number {
    return Number(this.signed())
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.bytes.length) throw new OracleError(`read past the end at ${this.at}`)
    this.at += length
    return this.bytes.subarray(this.at - length, this.at)
  }

  name(): string {
    return new TextDecoder().decode(this.take(this.u32()))
  }

  /** A vector: a count, then that many items. */
  list<T>(item: () => T): T[] {
    return Array.from({ length: this.u32() }, item)
  }
}
