/** The words that were written last, so that a repeated one (a pointer, a tag) takes one byte. */
import { MIN_RECENT_VALUE, PAGE_WORDS, RECENT_WORDS } from './container-format.ts'

/** Room for more than are remembered: a search is one run over neighbours, and moving them is rare. */
const ROOM = 2 * PAGE_WORDS + RECENT_WORDS

export class RecentWords {
  readonly #words = new Uint32Array(ROOM)
  /** Where the remembered ones begin and end; the newest is the last. */
  #start = 0
  #end = 0

  /** Which of them `value` is, 0 being the newest; -1 for none. */
  find(value: number): number {
    const words = this.#words
    const last = this.#end - 1
    const start = this.#start
    for (let at = last; at >= start; at--) if (words[at] === value) return last - at
    return -1
  }

  /** Number `n`, 0 being the newest; undefined when there are not so many. */
  get(n: number): number | undefined {
    const at = this.#end - 1 - n
    return at < this.#start ? undefined : this.#words[at]
  }

  /** Small values are not remembered: they take one byte anyhow. */
  add(value: number): void {
    if (value < MIN_RECENT_VALUE) return
    if (this.#end === ROOM) this.#moveToStart()
    this.#words[this.#end++] = value
    if (this.#end - this.#start > RECENT_WORDS) this.#start += 1
  }

  clear(): void {
    this.#start = 0
    this.#end = 0
  }

  /** A place to go back to, while no more than the words of one page are added. */
  mark(): number {
    if (this.#end + PAGE_WORDS > ROOM) this.#moveToStart()
    return this.#end
  }

  /** Forgets what was added since `mark` gave this. */
  goBack(mark: number): void {
    this.#end = mark
    this.#start = Math.max(0, mark - RECENT_WORDS)
  }

  #moveToStart(): void {
    this.#words.copyWithin(0, this.#start, this.#end)
    this.#end -= this.#start
    this.#start = 0
  }
}
