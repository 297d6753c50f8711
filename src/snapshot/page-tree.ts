/**
 * The memory of a guest as pages, in a tree that never changes: a later state shares every page and every group
 * of pages that is still equal with the earlier one.
 *
 * So a guest that is parked, and every checkpoint of it, costs what it changed, and so do digests: pages and
 * groups remember theirs.
 *
 * Invariants
 * 1. A page's bytes never change once it is in a tree. Whoever hands one in keeps no other use of it.
 * 2. A page of zeros is not kept: it is `undefined`. Equal contents have equal roots, however they came about.
 */
import { type Digest, digestOf, sha256Bytes } from '../base/digest.ts'

/** Bytes of a page. */
export const PAGE_BYTES = 4_096

/** Pages of a group: 256 KiB. */
const GROUP_PAGES = 64

/** `PAGE_BYTES` of memory; undefined stands for zeros. */
export type Page = Uint8Array | undefined

/** What a page became, by its number. */
export type PageChange = readonly [index: number, page: Page]

interface Group {
  /** Up to `GROUP_PAGES`. */
  readonly pages: readonly Page[]
  /** Of them, those that are not zeros. */
  readonly count: number
  digest?: Uint8Array
}

const pageDigests = new WeakMap<Uint8Array, Uint8Array>()

export class PageTree {
  static readonly empty: PageTree = new PageTree([], 0)

  readonly #groups: readonly (Group | undefined)[]
  /** Pages that are not zeros. */
  readonly pageCount: number
  #root: Digest | undefined

  private constructor(groups: readonly (Group | undefined)[], pageCount: number) {
    this.#groups = groups
    this.pageCount = pageCount
  }

  /** Page number `index`, from 0. Not to be written to. */
  page(index: number): Page {
    return this.#groups[Math.floor(index / GROUP_PAGES)]?.pages[index % GROUP_PAGES]
  }

  /** One more than the number of the last page that is not zeros; 0 without any. */
  get end(): number {
    const at = this.#groups.findLastIndex((group) => group !== undefined)
    const last = this.#groups[at]?.pages.findLastIndex((page) => page !== undefined) ?? -1
    return last < 0 ? 0 : at * GROUP_PAGES + last + 1
  }

  /** The pages that are not zeros, in ascending order. */
  pages(): Iterable<readonly [index: number, page: Uint8Array]> {
    return this.changesSince(PageTree.empty) as Iterable<readonly [number, Uint8Array]>
  }

  /** The tree with these changes. The pages are taken over; they must not be all zeros, which `undefined` says. */
  with(changes: Iterable<PageChange>): PageTree {
    const groups = [...this.#groups]
    /** Groups that this call made, and may still change. */
    const own = new Map<number, (Uint8Array | undefined)[]>()
    for (const [index, page] of changes) {
      const at = Math.floor(index / GROUP_PAGES)
      let pages = own.get(at)
      if (pages === undefined) {
        pages = [...(groups[at]?.pages ?? [])]
        own.set(at, pages)
      }
      while (pages.length < index % GROUP_PAGES) pages.push(undefined)
      pages[index % GROUP_PAGES] = page
    }
    let pageCount = this.pageCount
    for (const [at, pages] of own) {
      const count = pages.reduce((sum, page) => (page === undefined ? sum : sum + 1), 0)
      pageCount += count - (groups[at]?.count ?? 0)
      while (groups.length < at) groups.push(undefined)
      groups[at] = count === 0 ? undefined : { pages, count }
    }
    return new PageTree(groups, pageCount)
  }

  /** What is different from an earlier tree, in ascending order. Costs what changed, where the two share groups. */
  *changesSince(earlier: PageTree): Iterable<PageChange> {
    const most = Math.max(this.#groups.length, earlier.#groups.length)
    for (let at = 0; at < most; at += 1) {
      const now = this.#groups[at]
      const then = earlier.#groups[at]
      if (now === then) continue
      for (let i = 0; i < GROUP_PAGES; i += 1) {
        const page = now?.pages[i]
        if (page !== then?.pages[i]) yield [at * GROUP_PAGES + i, page]
      }
    }
  }

  /**
   * The Merkle root: SHA-256 over the numbers and digests of the groups, which are SHA-256 over the numbers and
   * digests of their pages. `docs/checkpoint-format.md` says it byte by byte.
   */
  root(hash: (bytes: Uint8Array) => Uint8Array = sha256Bytes): Digest {
    this.#root ??= digestOf(
      digestOfParts(
        this.#groups.map((group) => group && groupDigest(group, hash)),
        hash,
      ),
    )
    return this.#root
  }
}

function groupDigest(group: Group, hash: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  group.digest ??= digestOfParts(
    group.pages.map((page) => page && pageDigest(page, hash)),
    hash,
  )
  return group.digest
}

function pageDigest(page: Uint8Array, hash: (bytes: Uint8Array) => Uint8Array): Uint8Array {
  let digest = pageDigests.get(page)
  if (digest === undefined) {
    digest = hash(page)
    pageDigests.set(page, digest)
  }
  return digest
}

/** Digest over those parts that are there, each after its number in four bytes, little-endian. */
function digestOfParts(
  parts: readonly (Uint8Array | undefined)[],
  hash: (bytes: Uint8Array) => Uint8Array,
): Uint8Array {
  const there = parts.filter((part) => part !== undefined).length
  const bytes = new Uint8Array(there * 36)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const [number, part] of parts.entries()) {
    if (part === undefined) continue
    view.setUint32(at, number, true)
    bytes.set(part, at + 4)
    at += 36
  }
  return hash(bytes)
}
