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
import type { HashBytes, Page } from './page.ts'
import { digestOfParts, ENTRY_BYTES, GROUP_PAGES, PageDigests } from './page-digests.ts'

/** Bytes of a page. */
export const PAGE_BYTES = 4_096

/** What a page became, by its number. */
export type PageChange = readonly [index: number, page: Page]

interface Group {
  /** Up to `GROUP_PAGES`. */
  readonly pages: readonly Page[]
  /** Of them, those that are not zeros. */
  readonly count: number
  readonly digests: PageDigests
  digest?: Uint8Array
}

/** A group that is being made. */
interface Draft {
  readonly pages: Page[]
  readonly digests: PageDigests
  /** How many more pages it has that are not zeros. */
  more: number
}

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
    /** Groups that this call makes, and may still change. */
    const drafts = new Map<number, Draft>()
    let at = -1
    let draft: Draft | undefined
    for (const [index, page] of changes) {
      const i = index % GROUP_PAGES
      if (draft === undefined || (index - i) / GROUP_PAGES !== at) {
        at = (index - i) / GROUP_PAGES
        draft = drafts.get(at)
        if (draft === undefined) {
          draft = draftOf(groups[at])
          drafts.set(at, draft)
        }
      }
      const { pages } = draft
      while (pages.length < i) pages.push(undefined)
      draft.more += (page === undefined ? 0 : 1) - (pages[i] === undefined ? 0 : 1)
      pages[i] = page
      draft.digests.forget(i)
    }
    let { pageCount } = this
    for (const [at, { pages, digests, more }] of drafts) {
      const count = (groups[at]?.count ?? 0) + more
      pageCount += more
      while (groups.length < at) groups.push(undefined)
      groups[at] = count === 0 ? undefined : { pages, count, digests }
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
    this.#root ??= digestOf(
      digestOfParts(
        this.#groups.map((group) => group && groupDigest(group, hash)),
        hash,
      ),
    )
    return this.#root
  }

  /**
   * Digests what is new, piece by piece, so that `root` has nothing left but the groups to join.
   * @returns the bytes of each piece, after it was digested
   */
  *digestInPieces(hash: HashBytes): Iterable<number> {
    for (const group of this.#groups) {
      if (group === undefined || group.digest !== undefined) continue
      const { pages, digests } = group
      for (let i = 0; i < pages.length; i += 1) {
        const page = pages[i]
        if (page === undefined || digests.knows(i)) continue
        digests.learn(i, page, hash)
        yield PAGE_BYTES
      }
      groupDigest(group, hash)
      yield group.count * ENTRY_BYTES
    }
  }
}

function draftOf(group: Group | undefined): Draft {
  return { pages: [...(group?.pages ?? [])], digests: new PageDigests(group?.digests), more: 0 }
}

function groupDigest(group: Group, hash: HashBytes): Uint8Array {
  group.digest ??= group.digests.digest(group.pages, hash)
  return group.digest
}
