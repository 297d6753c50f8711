/**
 * A guest's linear memory as bounds-checked views.
 *
 * Everything in it is hostile: a pointer is a number that must prove itself before it is followed.
 *
 * Invariants
 * 1. No view is used after the memory grew: every entry point of the bridge calls `refresh` first, and no
 *    wasm runs between that and its return.
 * 2. A pointer that leads out of the memory, or is misaligned, raises `corrupted` and nothing else.
 */
import { CaissonError } from '../../base/errors.ts'

export class HeapMemory {
  readonly #memory: WebAssembly.Memory
  u8: Uint8Array = new Uint8Array(0)
  u16: Uint16Array = new Uint16Array(0)
  u32: Uint32Array = new Uint32Array(0)
  /** Bytes in the memory now. */
  size = 0

  constructor(memory: WebAssembly.Memory) {
    this.#memory = memory
  }

  /** Takes fresh views when the old ones are gone. Growing detaches them, which shows as a length of zero. */
  refresh(): void {
    if (this.u32.length !== 0) return
    const buffer = this.#memory.buffer
    this.u8 = new Uint8Array(buffer)
    this.u16 = new Uint16Array(buffer)
    this.u32 = new Uint32Array(buffer)
    this.size = buffer.byteLength
  }

  /**
   * Proves that `bytes` bytes at `pointer` lie inside the memory and on a boundary of 8 bytes, as everything
   * does that the engine's allocator hands out. Returns the index of the first 32-bit word.
   */
  block(pointer: number, bytes: number, what: string): number {
    if ((pointer & 7) !== 0 || pointer >>> 0 !== pointer || pointer === 0 || pointer + bytes > this.size) {
      throw new CaissonError(
        'corrupted',
        `The guest's memory contradicts itself: ${what} at ${pointer} is out of place.`,
      )
    }
    return pointer >>> 2
  }
}

/** The guest's memory says two things that cannot both be true. */
export function corrupted(what: string): CaissonError {
  return new CaissonError('corrupted', `The guest's memory contradicts itself: ${what}.`)
}
