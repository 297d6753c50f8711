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

/** Pages of zeros that are looked at in one go, and again one by one where one of them changed. */
const ZERO_PAGES = 32
const ZERO_PAGE = new Uint8Array(PAGE_BYTES)

/** What a page that changed is kept as, from a view of the memory: a copy of it, or an equal page that somebody has. */
export type KeepPage = (page: Uint8Array) => Uint8Array

const copyOf: KeepPage = (page) => page.slice()

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
    for (let at = start; at < end; at += PAGE_BYTES) {
      const index = at / PAGE_BYTES
      const page = known.page(index)
      if (page === undefined) {
        const pages = zeroRun(known, index, (end - at) / PAGE_BYTES)
        if (areZeros(memory, at, pages, same)) {
          at += (pages - 1) * PAGE_BYTES
          continue
        }
      }
      if (same(memory, at, page ?? ZERO_PAGE)) continue
      const zeros = page !== undefined && same(memory, at, ZERO_PAGE)
      changes.push([index, zeros ? undefined : keep(memory.subarray(at, at + PAGE_BYTES))])
    }
  }
  return changes
}

/** How many pages from `index` on are known as zeros, up to `most`. */
function zeroRun(known: PageTree, index: number, most: number): number {
  let count = 1
  while (count < most && count < ZERO_PAGES && known.page(index + count) === undefined) count += 1
  return count
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
