/** Linear memory of a guest as preview 1 uses it: every look is within it, or EFAULT. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiMemory } from '../../../src/ports/wasi-host.ts'
import { MAX_PATH_BYTES } from '../files/resolve-path.ts'

/** Scatter lists above this are refused, as by the usual systems (IOV_MAX). */
const MAX_VECTORS = 1_024

/** An errno that a check found. */
export class MemoryFault extends Error {
  readonly errno: number

  constructor(errno: number) {
    super(`The guest's arguments were refused with errno ${errno}.`)
    this.errno = errno
  }
}

export class GuestMemory {
  #memory: WasiMemory = { buffer: new ArrayBuffer(0) }

  attach(memory: WasiMemory): void {
    this.#memory = memory
  }

  get buffer(): ArrayBufferLike {
    return this.#memory.buffer
  }

  view(): DataView {
    return new DataView(this.#memory.buffer)
  }

  /** @throws MemoryFault EFAULT */
  requireRange(at: number, length: number): void {
    if (at + length > this.#memory.buffer.byteLength) throw new MemoryFault(wasi.ERRNO_FAULT)
  }

  /** The bytes themselves, not a copy. @throws MemoryFault EFAULT */
  bytes(at: number, length: number): Uint8Array {
    this.requireRange(at, length)
    return new Uint8Array(this.#memory.buffer, at, length)
  }

  /** A path or another short text. @throws MemoryFault EFAULT, ENAMETOOLONG, EILSEQ */
  text(at: number, length: number): string {
    if (length > MAX_PATH_BYTES) throw new MemoryFault(wasi.ERRNO_NAMETOOLONG)
    // A copy: decoders refuse shared memory.
    const bytes = this.bytes(at, length).slice()
    try {
      return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    } catch {
      throw new MemoryFault(wasi.ERRNO_ILSEQ)
    }
  }

  /**
   * A scatter list whose parts all lie in memory and are together no larger than it.
   * @throws MemoryFault EFAULT, EINVAL
   */
  requireVectors(at: number, count: number): void {
    if (count > MAX_VECTORS) throw new MemoryFault(wasi.ERRNO_INVAL)
    this.requireRange(at, count * 8)
    const view = this.view()
    let total = 0
    for (let index = 0; index < count; index += 1) {
      const length = view.getUint32(at + index * 8 + 4, true)
      this.requireRange(view.getUint32(at + index * 8, true), length)
      total += length
    }
    if (total > view.byteLength) throw new MemoryFault(wasi.ERRNO_INVAL)
  }
}
