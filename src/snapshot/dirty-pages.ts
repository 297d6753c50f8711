/**
 * Finds what changed in a guest's memory since a state that is known.
 *
 * Reading is what this costs: all of the live memory is compared, at some gigabytes a second, and only what
 * differs is copied (bench: checkpoint).
 */
import type { SamePage } from '../ports/page-tools.ts'
import { neutralPageTools } from './neutral-page-tools.ts'
import { PAGE_BYTES, type PageChange, type PageTree } from './page-tree.ts'

/** Bytes of memory that count, from `start` up to `end`; both are multiples of `PAGE_BYTES`. What lies between ranges counts as zeros. */
export interface LiveRange {
  readonly start: number
  readonly end: number
}

/** Pages that are looked at in one go, and again one by one where one of them changed. */
const RUN_PAGES = 32
const ZERO_PAGE = new Uint8Array(PAGE_BYTES)

/** What a page that changed is kept as, from a view of the memory: a copy of it, or an equal page that somebody has. */
export type KeepPage = (page: Uint8Array) => Uint8Array

/** Distance of the bytes that are looked at before a whole page is compared with zeros. */
const SAMPLED_BYTES = 252

export const copyOf: KeepPage = (page) => page.slice()

/** Changes against `known` inside of the ranges, in ascending order; nothing of the memory itself is in them. */
export function dirtyPages(
  memory: Uint8Array,
  known: PageTree,
  ranges: readonly LiveRange[],
  same: SamePage = neutralPageTools.samePage,
  keep: KeepPage = copyOf,
): PageChange[] {
  const changes: PageChange[] = []
  for (const { start, end } of ranges) {
    /** Up to here no run is looked for: one of its pages changed. */
    let oneByOne = start
    for (let at = start; at < end; at += PAGE_BYTES) {
      const index = at / PAGE_BYTES
      const page = known.page(index)
      if (at >= oneByOne) {
        const most = Math.min(RUN_PAGES, (end - at) / PAGE_BYTES)
        const pages = page === undefined ? zeroRun(known, index, most) : runInMemory(known, index, page, most)
        const isSame =
          page === undefined
            ? areZeros(memory, at, pages, same)
            : same(
                memory,
                at,
                pages === 1 ? page : new Uint8Array(page.buffer, page.byteOffset, pages * PAGE_BYTES),
              )
        if (isSame) {
          at += (pages - 1) * PAGE_BYTES
          continue
        }
        oneByOne = at + pages * PAGE_BYTES
        if (pages > 1 && same(memory, at, page ?? ZERO_PAGE)) continue
      } else if (same(memory, at, page ?? ZERO_PAGE)) continue
      const zeros = page !== undefined && isZeros(memory, at, same)
      changes.push([index, zeros ? undefined : keep(memory.subarray(at, at + PAGE_BYTES))])
    }
  }
  return changes
}

/** How many pages from `index` on are known as zeros, up to `most`. */
function zeroRun(known: PageTree, index: number, most: number): number {
  let count = 1
  while (count < most && known.page(index + count) === undefined) count += 1
  return count
}

/** How many pages from `index` on, up to `most`, lie one behind the other where they are known. */
function runInMemory(known: PageTree, index: number, first: Uint8Array, most: number): number {
  // Asked once: it takes longer than to find a page.
  const { buffer, byteOffset } = first
  let count = 1
  for (; count < most; count += 1) {
    const page = known.page(index + count)
    if (page?.buffer !== buffer || page.byteOffset !== byteOffset + count * PAGE_BYTES) break
  }
  return count
}

function isZeros(memory: Uint8Array, start: number, same: SamePage): boolean {
  for (let at = start; at < start + PAGE_BYTES; at += SAMPLED_BYTES) if (memory[at] !== 0) return false
  return same(memory, start, ZERO_PAGE)
}

/**
 * Whether the first page is zeros, and each of the others what the one before it is. Most of a guest's memory was
 * never touched: this way it is read once, and no other zeros beside it.
 */
function areZeros(memory: Uint8Array, start: number, pages: number, same: SamePage): boolean {
  if (!same(memory, start, ZERO_PAGE)) return false
  const others = memory.subarray(start, start + (pages - 1) * PAGE_BYTES)
  return pages === 1 || same(memory, start + PAGE_BYTES, others)
}
