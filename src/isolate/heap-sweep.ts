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
 * 2. Only what lies inside of free chunks is written (`free-chunks.ts`), in time and fuel bounded by the heap.
 * 3. A guest whose heap still fits into the first size of its memory costs one read.
 */
import type { EngineInstance } from './engine-instance.ts'
import { type FreeBlock, FreeChunks } from './free-chunks.ts'

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
