/**
 * Finds what changed in a guest's memory since a state that is known.
 *
 * Reading is what this costs: all of the live memory is compared, at some gigabytes a second, and only what
 * differs is copied (bench: checkpoint).
 */
import type { SamePage } from '../ports/same-page.ts'
import { PAGE_BYTES, type PageChange, type PageTree } from './page-tree.ts'

/** Bytes of memory that count, from `start` up to `end`; both are multiples of `PAGE_BYTES`. What lies between ranges counts as zeros. */
export interface LiveRange {
  readonly start: number
  readonly end: number
}

const ZEROS = new Uint8Array(PAGE_BYTES)

/** Changes against `known` inside of the ranges, in ascending order; the pages are copies. */
export function dirtyPages(
  memory: Uint8Array,
  known: PageTree,
  ranges: readonly LiveRange[],
  same: SamePage = samePage,
): PageChange[] {
  const changes: PageChange[] = []
  for (const { start, end } of ranges) {
    for (let at = start; at < end; at += PAGE_BYTES) {
      const page = known.page(at / PAGE_BYTES)
      if (same(memory, at, page ?? ZEROS)) continue
      const zeros = page !== undefined && same(memory, at, ZEROS)
      changes.push([at / PAGE_BYTES, zeros ? undefined : memory.slice(at, at + PAGE_BYTES)])
    }
  }
  return changes
}

/** In plain JavaScript, four bytes at a time: for platforms that have nothing faster. */
export function samePage(memory: Uint8Array, start: number, page: Uint8Array): boolean {
  const offset = memory.byteOffset + start
  const words = PAGE_BYTES / 4
  if (offset % 4 !== 0 || page.byteOffset % 4 !== 0) return sameBytes(memory, start, page)
  const a = new Uint32Array(memory.buffer, offset, words)
  const b = new Uint32Array(page.buffer, page.byteOffset, words)
  for (let i = 0; i < words; i += 1) if (a[i] !== b[i]) return false
  return true
}

function sameBytes(memory: Uint8Array, start: number, page: Uint8Array): boolean {
  for (let i = 0; i < PAGE_BYTES; i += 1) if (memory[start + i] !== page[i]) return false
  return true
}
