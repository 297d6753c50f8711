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
/** What is digested of a part: its number and its digest. */
const ENTRY_BYTES = 36

/** `PAGE_BYTES` of memory; undefined stands for zeros. */
export type Page = Uint8Array | undefined

/** What a page became, by its number. */
export type PageChange = readonly [index: number, page: Page]

/** SHA-256: 32 bytes. */
export type HashBytes = (bytes: Uint8Array) => Uint8Array

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
  changesSince(earlier: PageTree): PageChange[] {
    const changes: PageChange[] = []
    const most = Math.max(this.#groups.length, earlier.#groups.length)
    for (let at = 0; at < most; at += 1) this.#addChanges(changes, at, earlier)
    return changes
  }

  /** As `changesSince`, found as they are asked for: all changes of a large guest take a while to list. */
  *eachChangeSince(earlier: PageTree): Iterable<PageChange> {
    const most = Math.max(this.#groups.length, earlier.#groups.length)
    for (let at = 0; at < most; at += 1) {
      const changes: PageChange[] = []
      this.#addChanges(changes, at, earlier)
      yield* changes
    }
  }

  /** Adds those of group `at`. */
  #addChanges(changes: PageChange[], at: number, earlier: PageTree): void {
    const now = this.#groups[at]
    const then = earlier.#groups[at]
    if (now === then) return
    for (let i = 0; i < GROUP_PAGES; i += 1) {
      const page = now?.pages[i]
      if (page !== then?.pages[i]) changes.push([at * GROUP_PAGES + i, page])
    }
  }

  /**
   * The Merkle root: SHA-256 over the numbers and digests of the groups, which are SHA-256 over the numbers and
   * digests of their pages. `docs/checkpoint-format.md` says it byte by byte.
   */
  root(hash: HashBytes = sha256Bytes): Digest {
    this.#root ??= digestOf(digestOfParts(this.#groups, groupDigest, hash))
    return this.#root
  }

  /**
   * Digests what is new, piece by piece, so that `root` has nothing left but the groups to join.
   * @returns the bytes of each piece, after it was digested
   */
  *digestInPieces(hash: HashBytes): Iterable<number> {
    for (const group of this.#groups) {
      if (group === undefined || group.digest !== undefined) continue
      for (const page of group.pages) {
        if (page === undefined || pageDigests.has(page)) continue
        pageDigest(page, hash)
        yield PAGE_BYTES
      }
      groupDigest(group, hash)
      yield group.count * ENTRY_BYTES
    }
  }
}

function groupDigest(group: Group, hash: HashBytes): Uint8Array {
  group.digest ??= digestOfParts(group.pages, pageDigest, hash)
  return group.digest
}

function pageDigest(page: Uint8Array, hash: HashBytes): Uint8Array {
  let digest = pageDigests.get(page)
  if (digest === undefined) {
    digest = hash(page)
    pageDigests.set(page, digest)
  }
  return digest
}

/** What the digest of a group takes: it is filled anew each time, since every checkpoint digests some. */
const scratch = new Uint8Array(GROUP_PAGES * ENTRY_BYTES)

/** Digest over the digests of those parts that are there, each after its number in four bytes, little-endian. */
function digestOfParts<T>(
  parts: readonly (T | undefined)[],
  digestOfPart: (part: T, hash: HashBytes) => Uint8Array,
  hash: HashBytes,
): Uint8Array {
  const room = parts.length * ENTRY_BYTES
  const digests: (Uint8Array | undefined)[] = parts.map((part) => part && digestOfPart(part, hash))
  const bytes = room > scratch.length ? new Uint8Array(room) : scratch
  let at = 0
  for (let number = 0; number < digests.length; number += 1) {
    const digest = digests[number]
    if (digest === undefined) continue
    bytes[at] = number
    bytes[at + 1] = number >>> 8
    bytes[at + 2] = number >>> 16
    bytes[at + 3] = number >>> 24
    bytes.set(digest, at + 4)
    at += ENTRY_BYTES
  }
  return hash(bytes.subarray(0, at))
}
