/**
 * What the pages of one guest are kept as: those of other guests where they are equal, copies where that is rare.
 *
 * Asking the store takes a guest as long as comparing all of its memory. One that does something of its own has pages
 * that nobody else has, and asks only now and then.
 *
 * Invariants
 * 1. Whether a page is shared changes nothing but memory: its bytes are the same.
 * 2. Guests whose pages are equal go on sharing them: who finds most of what it asks for never stops asking.
 */
import { copyOf, type KeepPage } from './dirty-pages.ts'
import type { PageStore } from './page-store.ts'

/** Looks at the memory in which nothing is asked after one that found little. */
const REST_LOOKS = 7

/** Pages asked for after which a look that finds little ends to ask: a large guest would ask for thousands. */
const MOST_IN_VAIN = 64

/** One page in so many has to be found. */
const WORTH_ONE_IN = 4

export class PageKeeper {
  readonly #store: PageStore
  #resting = 0
  /** Of the last look that asked. */
  #asked = 0
  #found = 0

  constructor(store: PageStore) {
    this.#store = store
  }

  /** For one look at the guest's memory. */
  beginLook(): KeepPage {
    if (this.#resting > 0) {
      this.#resting -= 1
      return copyOf
    }
    if (this.#foundLittle) {
      this.#asked = 0
      this.#found = 0
      this.#resting = REST_LOOKS - 1
      return copyOf
    }
    this.#asked = 0
    this.#found = 0
    return this.#keep
  }

  get #foundLittle(): boolean {
    return WORTH_ONE_IN * this.#found < this.#asked
  }

  readonly #keep: KeepPage = (view) => {
    if (this.#asked >= MOST_IN_VAIN && this.#foundLittle) return copyOf(view)
    const before = this.#store.added
    const page = this.#store.keep(view)
    this.#asked += 1
    if (this.#store.added === before) this.#found += 1
    return page
  }
}
