/**
 * Equal pages of parked guests, held once.
 *
 * Guests of one program have most of their pages in common, as bytes but not as objects: each wrote its own. A page
 * that is interned is replaced by an equal one that some other guest holds, if there is one.
 *
 * Invariants
 * 1. One store serves one trust domain. Whether a page is shared shows in time and memory, and must tell nobody
 *    anything about somebody else.
 * 2. Pages are found by a quick hash and shared only if every byte is equal: a guest that makes pages collide gets
 *    less sharing, and no other page.
 * 3. The store keeps no page alive, and its own size stays within three times the pages that are.
 * 4. What is gone is looked for a few entries at a time: no page of a large guest waits for all of them.
 */

import type { SamePage } from '../ports/page-tools.ts'
import type { KeepPage } from './dirty-pages.ts'
import { neutralPageTools } from './neutral-page-tools.ts'
import { PAGE_BYTES, type PageChange } from './page-tree.ts'

/** Below so many, nothing is swept. */
const MIN_SWEEP = 256

/** Entries that are looked at for each page that comes, while a sweep goes on. */
const SWEPT_AT_ONCE = 8

const PAGE_WORDS = PAGE_BYTES / 4

export class PageStore {
  readonly #pages = new Map<number, WeakRef<Uint8Array>>()
  readonly #same: SamePage
  #sweepAt = MIN_SWEEP
  #added = 0
  /** Where the sweep is that goes on. */
  #sweep: Iterator<[number, WeakRef<Uint8Array>]> | undefined

  /** @param same the platform's fastest way to compare a page */
  constructor(same: SamePage = neutralPageTools.samePage) {
    this.#same = same
  }

  /** How many pages are known, of which some may be gone. */
  get size(): number {
    return this.#pages.size
  }

  /** How many pages were not there when they came. */
  get added(): number {
    return this.#added
  }

  /**
   * A page with the bytes of `page`: one that was interned before and is still held by somebody, or `page` itself,
   * which nobody may write to from now on. About 1 us (bench: checkpoint, wake).
   */
  intern(page: Uint8Array): Uint8Array {
    return this.#intern(page, (own) => own)
  }

  /** As `intern`, for a view of memory that changes later: copied where nobody has an equal page. */
  readonly keep: KeepPage = (view) => this.#intern(view, (own) => own.slice())

  #intern(page: Uint8Array, own: (page: Uint8Array) => Uint8Array): Uint8Array {
    // Without weak references, as in some edge workers, the store would hold every page of the past.
    if (typeof WeakRef === 'undefined') return own(page)
    const key = hashOf(page)
    const known = this.#pages.get(key)?.deref()
    if (known !== undefined && this.#same(page, 0, known)) return known
    const kept = own(page)
    this.#added += 1
    this.#pages.set(key, new WeakRef(kept))
    if (this.#sweep !== undefined || this.#pages.size >= this.#sweepAt) this.#sweepOn()
    return kept
  }

  /** The changes with their pages interned. */
  internChanges(changes: Iterable<PageChange>): PageChange[] {
    return Array.from(changes, ([index, page]) => [index, page && this.intern(page)])
  }

  #sweepOn(): void {
    this.#sweep ??= this.#pages.entries()
    for (let i = 0; i < SWEPT_AT_ONCE; i++) {
      const { done, value } = this.#sweep.next()
      if (done === true) {
        this.#sweep = undefined
        this.#sweepAt = Math.max(MIN_SWEEP, 2 * this.#pages.size)
        return
      }
      if (value[1].deref() === undefined) this.#pages.delete(value[0])
    }
  }
}

/**
 * Every word counts, so that pages that differ by a counter do not meet. Nothing depends on it being hard to reverse.
 * Four sums at once, none of which waits for another one: a page is hashed in a third of the time that one sum takes.
 */
function hashOf(page: Uint8Array): number {
  const words =
    page.byteOffset % 4 === 0
      ? new Uint32Array(page.buffer, page.byteOffset, PAGE_WORDS)
      : new Uint32Array(page.slice().buffer)
  let a = 0x9e3779b9
  let b = 0x85ebca6b
  let c = 0x27d4eb2f
  let d = 0x165667b1
  for (let i = 0; i < PAGE_WORDS; i += 4) {
    a = Math.imul(a ^ (words[i] as number), 0x01000193)
    b = Math.imul(b ^ (words[i + 1] as number), 0x5bd1e995)
    c = Math.imul(c ^ (words[i + 2] as number), 0x2c1b3c6d)
    d = Math.imul(d ^ (words[i + 3] as number), 0x297a2d39)
  }
  return mixed(mixed(mixed(mixed(0, a), b), c), d) >>> 0
}

/** Takes the sum into a hash so that its high bits, which every word reaches, count as much as its low ones. */
function mixed(hash: number, sum: number): number {
  const x = Math.imul(hash ^ sum ^ (sum >>> 15), 0x9e3779b1)
  return Math.imul(x ^ (x >>> 13), 0xc2b2ae35)
}
