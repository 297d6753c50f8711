/**
 * Proves on a live engine that `allocator-layout.ts` describes its allocator: the engine build runs this, so that
 * an engine with another one fails there, and does not silently keep what guests freed.
 *
 * Invariants
 * 1. Every constant of `allocator-layout.ts` is needed by at least one of the blocks that are freed here.
 */
import { CaissonError } from '../base/errors.ts'
import type { EngineInstance } from './engine-instance.ts'
import { sweepFreed } from './heap-sweep.ts'

/** What the probe takes, in fuel units and bytes. */
const FUEL = 10_000_000_000
const STACK_BYTES = 1_048_576
export const PROBE_MEMORY_BYTES = 33_554_432

const USED = 0x5a
const FREED = 0xa5

/** What the allocator keeps in the first bytes of a freed block: two links of a ring, two sides, parent and bin. */
const LINK_BYTES = 24

/** A request that no chunk in a small bin answers: it is cut from the least chunk in a tree, the rest becomes `dv`. */
const SMALL = 240
const CUT = 4_600

/** Multiples of 8, so that a block ends where the next chunk begins. */
const SIZES: readonly number[] = [
  CUT,
  // One bin: a tree with both sides, and a ring of equals.
  ...[5_000, 5_904, 4_904, 5_400, 5_000, 5_000, 5_808, 4_808],
  // The least that counts, and one that does not.
  ...[4_088, 3_600],
  // Bins up to the last.
  ...[6_200, 9_000, 70_000, 300_000, 1_500_000, 13_000_000],
  // Before the end of the heap: this one becomes part of `top`.
  90_000,
]

interface Block {
  readonly pointer: number
  readonly bytes: number
}

/**
 * @param instance one that never ran anything, with room for `PROBE_MEMORY_BYTES`
 * @throws CaissonError `engine_mismatch`
 */
export function probeAllocatorLayout(instance: EngineInstance): void {
  const { exports, gauge } = instance
  instance.serve({ call: () => 0, readClock: () => 0, promiseRejection: () => {} }, PROBE_MEMORY_BYTES)
  gauge.reset(FUEL)
  gauge.begin(STACK_BYTES, Number.POSITIVE_INFINITY, undefined)
  exports.__wasm_call_ctors()
  const take = (bytes: number, content: number): Block => {
    const pointer = instance.allocate(bytes)
    instance.bytes.fill(content, pointer, pointer + bytes)
    return { pointer, bytes }
  }

  const used: Block[] = []
  const freed = SIZES.map((bytes, i) => {
    const block = take(bytes, FREED)
    if (i < SIZES.length - 1) used.push(take(16, USED))
    return block
  })
  const [cut, ...whole] = freed as [Block, ...Block[]]
  exports.free(cut.pointer)
  const small = take(SMALL, USED)
  if (small.pointer !== cut.pointer) throw moved('A small block was not cut from the only chunk.')
  used.push(small)
  for (const { pointer } of whole) exports.free(pointer)
  const rest: Block = { pointer: cut.pointer + SMALL + 8, bytes: CUT - SMALL - 8 }
  const swept = [rest, ...whole.filter(({ bytes }) => bytes >= 4_088)]

  const links = (): string =>
    swept.map(({ pointer }) => instance.bytes.slice(pointer, pointer + LINK_BYTES)).join()
  const before = links()
  sweepFreed(instance)
  if (links() !== before) throw moved('What the allocator keeps in a free chunk was not kept.')
  for (const block of swept) {
    if (!holds(instance, block, LINK_BYTES, 0))
      throw moved(`A freed block of ${block.bytes} bytes was not zeroed.`)
  }
  for (const block of used) {
    if (!holds(instance, block, 0, USED)) throw moved(`A block of ${block.bytes} bytes in use was changed.`)
  }

  // The allocator goes on: it gives out what was freed, and nothing twice.
  const again = SIZES.map((bytes) => take(bytes, FREED))
  if (![...used].every((block) => holds(instance, block, 0, USED)))
    throw moved('A block was given out twice.')
  for (const { pointer } of [...again, ...used]) exports.free(pointer)
}

function holds(instance: EngineInstance, { pointer, bytes }: Block, from: number, content: number): boolean {
  return instance.bytes.subarray(pointer + from, pointer + bytes).every((byte) => byte === content)
}

function moved(what: string): CaissonError {
  return new CaissonError('engine_mismatch', `The allocator's layout does not fit this engine. ${what}`)
}
