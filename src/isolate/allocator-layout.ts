/**
 * Where the engine's allocator keeps what: dlmalloc 2.8.6 as Emscripten builds it into the pinned module, with
 * 32-bit words and chunks on boundaries of 8 bytes.
 *
 * Like `bridge/heap-layout.ts` these are constants of one build, pinned by the hash of its bytes, and proved by
 * `probeAllocatorLayout` when the engine is built. Names are those of dlmalloc's `malloc.c`.
 */

/** `struct malloc_state`, the one of all of the heap. Words count from its address. */
export const ALLOCATOR = {
  /** In bytes. */
  address: 88_260,
  dvSizeWord: 2,
  topSizeWord: 3,
  dvWord: 5,
  topWord: 6,
  treeBinsWord: 76,
  treeBins: 32,
} as const

/**
 * `struct malloc_tree_chunk`. A chunk's size stands in its head, above flags, and once more behind a free chunk,
 * in the next one's first word.
 */
export const CHUNK = {
  previousSizeWord: 0,
  headWord: 1,
  /** The next chunk of the same size, in a ring. */
  forwardWord: 2,
  leftWord: 4,
  rightWord: 5,
  /** What a free chunk of at least 256 bytes uses of itself. */
  headerBytes: 32,
  flagsMask: 7,
  /** Flag: the chunk before this one is in use, as it always is before a free one. The next flag says that of this one. */
  previousInUse: 1,
} as const

/** The first of the tree bins whose chunks have at least `LARGE_BYTES`: two bins for each power of two from 256. */
export const FIRST_LARGE_BIN = 8
export const LARGE_BYTES = 4_096
