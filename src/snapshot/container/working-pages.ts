/**
 * Pages while they are read: each is copied once, however many checkpoints of a chain change it.
 *
 * Invariants
 * 1. The tree that it starts from never changes.
 * 2. Once it was made a tree it is not used again: the pages are the tree's.
 */
import type { Page } from '../page.ts'
import { PAGE_BYTES, type PageTree } from '../page-tree.ts'
import { RecentWords } from './recent-words.ts'

export class WorkingPages {
  readonly #from: PageTree
  readonly #changed = new Map<number, Page>()
  /** Those of the section that is being read. */
  readonly recent: RecentWords = new RecentWords()

  constructor(from: PageTree) {
    this.#from = from
  }

  set(index: number, page: Page): void {
    this.#changed.set(index, page)
  }

  /** What page `index` is by now, to be changed in place. */
  own(index: number): Uint8Array {
    let page = this.#changed.get(index)
    if (page === undefined) {
      const from = this.#changed.has(index) ? undefined : this.#from.page(index)
      page = from === undefined ? new Uint8Array(PAGE_BYTES) : from.slice()
      this.#changed.set(index, page)
    }
    return page
  }

  toTree(): PageTree {
    return this.#from.with(this.#changed)
  }
}
