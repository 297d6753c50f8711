/** A growing buffer that binary formats are written to. Numbers are little-endian; varints are unsigned LEB128. */

const MIN_CAPACITY = 64

export class ByteWriter {
  #bytes: Uint8Array
  #view: DataView
  #length = 0

  /** @param capacity bytes to make room for at first; more is made when needed */
  constructor(capacity: number = MIN_CAPACITY) {
    this.#bytes = new Uint8Array(Math.max(capacity, MIN_CAPACITY))
    this.#view = new DataView(this.#bytes.buffer)
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#bytes[this.#length++] = value
  }

  /** A whole number from 0 to 2^53 - 1, in as few bytes as possible. */
  varint(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }

  uint32(value: number): void {
    this.#reserve(4)
    this.#view.setUint32(this.#length, value, true)
    this.#length += 4
  }

  float64(value: number): void {
    this.#reserve(8)
    this.#view.setFloat64(this.#length, value, true)
    this.#length += 8
  }

  raw(bytes: Uint8Array): void {
    this.#reserve(bytes.length)
    this.#bytes.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** The units of `text`, one byte each; every unit must be below 256. */
  latin1(text: string): void {
    this.#reserve(text.length)
    const bytes = this.#bytes
    let at = this.#length
    for (let i = 0; i < text.length; i++) bytes[at++] = text.charCodeAt(i)
    this.#length = at
  }

  /** The UTF-16 units of `text`, two bytes each, surrogates as they are. */
  utf16(text: string): void {
    this.#reserve(2 * text.length)
    const bytes = this.#bytes
    let at = this.#length
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      bytes[at++] = unit & 0xff
      bytes[at++] = unit >>> 8
    }
    this.#length = at
  }

  /** Starts anew, with the room that there is. */
  clear(): void {
    this.#length = 0
  }

  /** What was written, in a buffer of its own. */
  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length)
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#bytes.length) return
    const grown = new Uint8Array(Math.max(2 * this.#bytes.length, needed))
    grown.set(this.#bytes.subarray(0, this.#length))
    this.#bytes = grown
    this.#view = new DataView(grown.buffer)
  }
}
