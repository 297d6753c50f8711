/**
 * The memory that a guest's allocator holds free, as the allocator's own lists tell.
 *
 * Invariants
 * 1. Everything that stands in the memory is hostile: no read leaves the views, and every chunk that counts lies
 *    inside of the heap.
 * 2. No chunk is believed before its neighbour agrees that it is free and how long it is. At the first
 *    contradiction there are no free chunks at all.
 * 3. All chunks together are not longer than the heap: lists that were tied to circles come to an end.
 * 4. What the allocator itself keeps in a free chunk belongs to no block.
 */
import { ALLOCATOR, CHUNK, FIRST_LARGE_BIN, LARGE_BYTES } from './allocator-layout.ts'

/** What may be zeroed of a free chunk: byte addresses, multiples of 8. */
export interface FreeBlock {
  readonly start: number
  readonly end: number
}

/** The free chunks of at least `LARGE_BYTES`, the largest first: smaller ones never cover a page. */
export class FreeChunks {
  /** None after a contradiction. */
  readonly blocks: FreeBlock[] = []
  /** Bytes of the chunks. */
  total = 0
  /** Whether these are all. */
  complete = true
  /** Chunks that were looked at, good or bad. */
  visited = 0
  readonly #words: Uint32Array
  readonly #start: number
  readonly #end: number
  readonly #most: number

  /** @param most chunks after which to stop */
  constructor(words: Uint32Array, start: number, end: number, most: number = Number.POSITIVE_INFINITY) {
    this.#words = words
    this.#start = start
    this.#end = end
    this.#most = most
    this.#collect()
  }

  #collect(): void {
    const topSize = this.#state(ALLOCATOR.topSizeWord)
    if (topSize >= LARGE_BYTES && !this.#take(this.#state(ALLOCATOR.topWord), topSize, true)) return
    const dvSize = this.#state(ALLOCATOR.dvSizeWord)
    if (dvSize >= LARGE_BYTES && !this.#take(this.#state(ALLOCATOR.dvWord), dvSize)) return
    for (let bin = ALLOCATOR.treeBins - 1; bin >= FIRST_LARGE_BIN; bin -= 1) {
      const root = this.#state(ALLOCATOR.treeBinsWord + bin)
      if (root !== 0 && !this.#takeTree(root)) return
    }
  }

  /** Every node is counted before its links are followed: a cycle ends when the heap is used up. */
  #takeTree(root: number): boolean {
    const nodes = [root]
    for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
      let chunk = node
      do {
        if (!this.#take(chunk)) return false
        chunk = this.#word(chunk, CHUNK.forwardWord)
      } while (chunk !== node)
      for (const side of [CHUNK.leftWord, CHUNK.rightWord]) {
        const child = this.#word(node, side)
        if (child !== 0) nodes.push(child)
      }
    }
    return true
  }

  /**
   * False when there is nothing more to take.
   * @param stated what the allocator says that the chunk's size is
   * @param topmost whether it has no neighbour behind it to agree with
   */
  #take(chunk: number, stated?: number, topmost = false): boolean {
    if (this.blocks.length >= this.#most) {
      this.complete = false
      return false
    }
    this.visited += 1
    const size = this.#sizeOfFree(chunk, topmost)
    this.total += size
    if (size === 0 || size !== (stated ?? size) || this.total > this.#end - this.#start) {
      this.blocks.length = 0
      return false
    }
    this.blocks.push({ start: chunk + CHUNK.headerBytes, end: chunk + size })
    return true
  }

  /** Size of a chunk that proves to be free, large and inside of the heap; otherwise 0. */
  #sizeOfFree(chunk: number, topmost: boolean): number {
    if (chunk % 8 !== 0 || chunk < this.#start || chunk >= this.#end) return 0
    const head = this.#word(chunk, CHUNK.headWord)
    const flags = head & CHUNK.flagsMask
    const size = head - flags
    const next = chunk + size
    if (flags !== CHUNK.previousInUse || size < LARGE_BYTES || next + 8 > this.#end) return 0
    if (topmost) return size
    const agrees =
      this.#word(next, CHUNK.previousSizeWord) === size &&
      (this.#word(next, CHUNK.headWord) & CHUNK.previousInUse) === 0
    return agrees ? size : 0
  }

  #state(word: number): number {
    return this.#words[(ALLOCATOR.address >>> 2) + word] ?? 0
  }

  #word(chunk: number, word: number): number {
    return this.#words[(chunk >>> 2) + word] ?? 0
  }
}
