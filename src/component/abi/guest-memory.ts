/**
 * One linear memory of a guest, as the canonical ABI sees it. Every address and length that comes in is the guest's word:
 * what does not lie in the memory is a `GuestFault`, and nothing was read or written.
 */

/** The guest did what no guest may: the instance ends. A trap in the words of the component model. */
export class GuestFault extends Error {
  override readonly name = 'GuestFault'
}

/** `realloc(old, oldSize, align, size)`, called in the guest. */
export type Realloc = (old: number, oldSize: number, align: number, size: number) => unknown

export class GuestMemory {
  readonly #memory: WebAssembly.Memory
  readonly #realloc: Realloc | undefined
  #view: DataView
  #bytes: Uint8Array

  constructor(memory: WebAssembly.Memory, realloc: Realloc | undefined) {
    this.#memory = memory
    this.#realloc = realloc
    this.#view = new DataView(memory.buffer)
    this.#bytes = new Uint8Array(memory.buffer)
  }

  /** Anything that runs in the guest may grow the memory, which detaches the buffer before. */
  #refresh(): void {
    if (this.#view.buffer === this.#memory.buffer) return
    this.#view = new DataView(this.#memory.buffer)
    this.#bytes = new Uint8Array(this.#memory.buffer)
  }

  get view(): DataView {
    this.#refresh()
    return this.#view
  }

  get bytes(): Uint8Array {
    this.#refresh()
    return this.#bytes
  }

  /** That `size` bytes at `pointer` are there and aligned. @throws GuestFault */
  check(pointer: number, size: number, align: number): void {
    if (pointer % align !== 0)
      throw new GuestFault(`The pointer ${pointer} is not aligned to ${align} bytes.`)
    if (pointer + size > this.bytes.length)
      throw new GuestFault(`${size} bytes at ${pointer} are outside of the guest's memory.`)
  }

  /** Room for `size` bytes, by the guest's own allocator. @throws GuestFault */
  allocate(align: number, size: number): number {
    if (this.#realloc === undefined)
      throw new GuestFault('The guest takes such a value and gives no room for it.')
    const pointer = this.#realloc(0, 0, align, size)
    if (typeof pointer !== 'number') throw new GuestFault("The guest's allocator gave no address.")
    this.check(pointer >>> 0, size, align)
    return pointer >>> 0
  }
}
