/** A growing buffer that writes the primitive encodings of the WebAssembly binary format, always shortest. */

const UTF8: TextEncoder = new TextEncoder()

/** Collects bytes. `bytes()` is a view that later writes invalidate, `copy()` is not. */
export class ByteWriter {
  #buffer: Uint8Array
  #length = 0

  /** @param capacity bytes to make room for at first; the buffer grows on its own. */
  constructor(capacity = 256) {
    this.#buffer = new Uint8Array(capacity)
  }

  /** Bytes written so far. */
  get length(): number {
    return this.#length
  }

  #reserve(extra: number): void {
    const needed = this.#length + extra
    if (needed <= this.#buffer.length) return
    const grown = new Uint8Array(Math.max(this.#buffer.length * 2, needed))
    grown.set(this.#buffer.subarray(0, this.#length))
    this.#buffer = grown
  }

  /** Forgets everything and keeps the buffer. */
  clear(): void {
    this.#length = 0
  }

  byte(value: number): void {
    this.#reserve(1)
    this.#buffer[this.#length++] = value
  }

  /** An unsigned LEB128 number up to 2^53. */
  u32(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest >= 0x80) {
      this.#buffer[this.#length++] = (rest % 0x80) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#buffer[this.#length++] = rest
  }

  /** A signed LEB128 number in the range of safe integers: s32, s33 and s64 share one encoding. */
  signed(value: number): void {
    this.#reserve(8)
    let rest = value
    while (rest < -0x40 || rest >= 0x40) {
      const low = ((rest % 0x80) + 0x80) % 0x80
      this.#buffer[this.#length++] = low | 0x80
      rest = (rest - low) / 0x80
    }
    this.#buffer[this.#length++] = rest & 0x7f
  }

  raw(bytes: Uint8Array | readonly number[]): void {
    this.#reserve(bytes.length)
    this.#buffer.set(bytes, this.#length)
    this.#length += bytes.length
  }

  /** A name: its length in bytes, then UTF-8. */
  name(text: string): void {
    this.sized(UTF8.encode(text))
  }

  /** A length, then that many bytes. */
  sized(bytes: Uint8Array): void {
    this.u32(bytes.length)
    this.raw(bytes)
  }

  /** What was written, without a copy: valid until the next write. */
  bytes(): Uint8Array {
    return this.#buffer.subarray(0, this.#length)
  }

  /** What was written, in a buffer of its own. */
  copy(): Uint8Array {
    return this.#buffer.slice(0, this.#length)
  }
}
