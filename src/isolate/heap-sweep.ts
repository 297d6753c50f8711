/**
 * Zeroes what a guest freed, so that snapshots do not carry the dead.
 *
 * The allocator never gives memory back and leaves in it what was there: a guest that built 14 MB and dropped it
 * would weigh 14 MB in each of its snapshots. Pages of zeros weigh nothing (`snapshot/page-tree`). So at the end
 * of a turn the host looks into the allocator's free chunks, and zeroes them when enough in them is not zero.
 *
 * Looking is sampling: some words of every free chunk of at least a page, from its end downwards. Chunks are cut
 * from their low end, so what was used lies below what was not, and the highest word that is not zero tells how
 * much of the chunk is. A word that is missed leaves some dead bytes in a snapshot, and nothing else.
 *
 * Invariants
 * 1. What is zeroed, and when, follows from the guest's memory alone. No mark is kept: captured or not, restored
 *    or not, a guest has the same memory after the same turns.
 * 2. Everything that stands in the memory is hostile. No chunk is believed before it agrees with its neighbours,
 *    all of them together are not longer than the heap, and at the first contradiction nothing is touched at all.
 * 3. What the allocator keeps in a free chunk stays as it is.
 * 4. A guest whose heap still fits into the first size of its memory costs one read.
 */
import { ALLOCATOR, CHUNK, FIRST_LARGE_BIN, LARGE_BYTES } from './allocator-layout.ts'
import type { EngineInstance } from './engine-instance.ts'

const PAGE = 65_536

/** Bytes that are free and not zero, from which on they are zeroed. */
const WORTH_BYTES = 262_144

/** Samples of a look, over all free chunks that it looks at. */
const SAMPLES = 256

/**
 * Chunks that a look takes, the largest first: a heap in thousands of pieces would cost more than a small turn
 * (bench: turn). Those few stand for the others then, so that less of them is enough.
 */
const LOOKED_AT = 64
const WORTH_BYTES_OF_SOME = WORTH_BYTES / 2

/**
 * Bytes between two samples at the closest: less than a page of a snapshot, and no multiple of what objects
 * measure, so that samples do not always meet the same field.
 */
const CLOSEST = 4_056

/** Words of a sample. */
const SAMPLE_WORDS = 4

/** Fuel for what the host does here (bench: turn). */
const FUEL_PER_CHUNK = 800
const FUEL_PER_SAMPLE = 100
const FUEL_PER_BYTE = 2

/** What may be zeroed of a free chunk: byte addresses, multiples of 8. */
interface FreeBlock {
  readonly start: number
  readonly end: number
}

/** Sweeps when it is worth it, at the end of a turn. Returns the fuel that the guest owes for it. */
export function sweepFreed(instance: EngineInstance): number {
  const { stackBase, initialPages, heapEndAddress } = instance.engine.layout
  const { bytes, words } = instance
  const end = Math.min(words[heapEndAddress >>> 2] ?? 0, bytes.length)
  if (end <= initialPages * PAGE) return 0
  const look = new FreeChunks(words, stackBase, end, LOOKED_AT)
  const spread = Math.max(CLOSEST, (Math.floor(look.total / SAMPLES) & ~63) + (CLOSEST % 64))
  let used = 0
  for (const block of look.blocks) used += usedEnd(words, block, spread) - block.start
  const fuel = look.visited * FUEL_PER_CHUNK + SAMPLES * FUEL_PER_SAMPLE
  if (used < (look.complete ? WORTH_BYTES : WORTH_BYTES_OF_SOME)) return fuel

  const all = look.complete ? look : new FreeChunks(words, stackBase, end)
  let zeroed = 0
  for (const block of all.blocks) {
    // The look's own samples too: what they met would make every later look sweep again.
    const to = Math.max(usedEnd(words, block, CLOSEST), usedEnd(words, block, spread))
    bytes.fill(0, block.start, to)
    zeroed += to - block.start
  }
  const samples = Math.floor(all.total / CLOSEST) + SAMPLES
  return fuel + all.visited * FUEL_PER_CHUNK + samples * FUEL_PER_SAMPLE + zeroed * FUEL_PER_BYTE
}

/** Where the used part of a block ends, as samples tell: its start when none of them meets anything. */
function usedEnd(words: Uint32Array, { start, end }: FreeBlock, spread: number): number {
  for (let at = end - SAMPLE_WORDS * 4; at >= start; at -= spread) {
    const word = at >>> 2
    if (words[word] || words[word + 1] || words[word + 2] || words[word + 3])
      return Math.min(end, at + spread)
  }
  return start
}

/** The free chunks of at least `LARGE_BYTES`, the largest first: smaller ones never cover a page. */
class FreeChunks {
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
  constructor(words: Uint32Array, start: number, end: number, most = Number.POSITIVE_INFINITY) {
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
