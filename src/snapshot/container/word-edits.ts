/**
 * What changed in a page, word by word, in as few bytes as are quick to find.
 *
 * A heap changes in a way of its own: counters by little, pointers to what lies near, the same few values again and
 * again, and the rest small numbers. Said like that, a step of a guest takes half of what it takes as an XOR that is
 * then deflated, and a whole heap of objects a third (bench: checkpoint); deflate finds little more in it.
 *
 * Invariants
 * 1. `applyWordEdits` of what `encodeWordEdits` wrote, on the same page before, gives the same page after.
 * 2. Where nothing was written (too long), the recent words are as before.
 * 3. Hostile bytes write inside of the page only, and cost what they are long.
 */
import type { ByteReader } from '../../base/byte-reader.ts'
import type { Page } from '../page.ts'
import { PAGE_BYTES } from '../page-tree.ts'
import { MIN_RECENT_VALUE, PAGE_WORDS, WORD } from './container-format.ts'
import { RecentWords } from './recent-words.ts'
import { unzigzag, zigzag } from './zigzag.ts'

/** What the longest encoding of one run's start and one word takes beside each other. */
const LONGEST_STEP = 16

const ZEROS: Uint8Array = new Uint8Array(PAGE_BYTES)

/** Nibbles of a run's first byte: 15 says that more follows. */
const MANY = 15

const TWO_TO_31 = 2 ** 31
const TWO_TO_32 = 2 ** 32

/** Writes edits; used by one encoding at a time. */
export class WordEditor {
  readonly #recent = new RecentWords()
  readonly #bytes: Uint8Array
  readonly #maxBytes: number
  /** Where runs of changed words begin and end. */
  readonly #runs = new Uint16Array(PAGE_WORDS + 2)
  #length = 0

  /** @param maxBytes edits of a page that would take more are given up */
  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
    this.#bytes = new Uint8Array(maxBytes + LONGEST_STEP)
  }

  /** Forgets the recent words: at the beginning of a section. */
  begin(): void {
    this.#recent.clear()
  }

  /** The edits that turn `before` into `after`; undefined when they are too long. Valid until the next call. */
  encode(index: number, before: Page, after: Uint8Array): Uint8Array | undefined {
    const from = wordsOf(before ?? ZEROS)
    const to = wordsOf(after)
    const ends = this.#findRuns(from, to)
    const mark = this.#recent.mark()
    this.#length = 0
    this.#varint(ends / 2)
    for (let run = 0, last = 0; run < ends; run += 2) {
      const start = this.#runs[run] as number
      const end = this.#runs[run + 1] as number
      this.#run(start - last, end - start)
      last = end
      for (let word = start; word < end; word++) {
        this.#word(index * PAGE_BYTES + 4 * word, from[word] as number, to[word] as number)
        if (this.#length > this.#maxBytes) {
          this.#recent.goBack(mark)
          return undefined
        }
      }
    }
    return this.#bytes.subarray(0, this.#length)
  }

  /** Fills in the runs, and says how many ends they have. */
  #findRuns(from: Uint32Array, to: Uint32Array): number {
    const runs = this.#runs
    let ends = 0
    let word = 0
    for (;;) {
      while (word < PAGE_WORDS && from[word] === to[word]) {
        // Eight at once: most of a page is as before, and this is where most of the time goes.
        if ((word & 7) === 0 && areSameEight(from, to, word)) word += 8
        else word += 1
      }
      if (word === PAGE_WORDS) return ends
      runs[ends++] = word
      while (word < PAGE_WORDS && from[word] !== to[word]) word++
      runs[ends++] = word
    }
  }

  #run(skip: number, length: number): void {
    this.#bytes[this.#length++] = (Math.min(skip, MANY) << 4) | Math.min(length - 1, MANY)
    if (skip >= MANY) this.#varint(skip - MANY)
    if (length - 1 >= MANY) this.#varint(length - 1 - MANY)
  }

  #word(address: number, previous: number, value: number): void {
    let kind: number = WORD.value
    let number = value
    if (value >= MIN_RECENT_VALUE) {
      const recent = this.#recent.find(value)
      if (recent >= 0) {
        kind = WORD.recent
        number = recent
      } else {
        const difference = zigzag(value - previous)
        if (difference < number) {
          kind = WORD.previous
          number = difference
        }
        const distance = (value - address) | 0
        if ((distance & 3) === 0 && zigzag(distance >> 2) < number) {
          kind = WORD.address
          number = zigzag(distance >> 2)
        }
      }
    }
    this.#varint(4 * number + kind)
    this.#recent.add(value)
  }

  #varint(value: number): void {
    let rest = value
    while (rest > 0x7f) {
      this.#bytes[this.#length++] = (rest & 0x7f) | 0x80
      rest = Math.floor(rest / 0x80)
    }
    this.#bytes[this.#length++] = rest
  }
}

/**
 * Changes the page in place.
 * @throws CaissonError `corrupted`, having changed some of it
 */
export function applyWordEdits(
  reader: ByteReader,
  index: number,
  page: Uint8Array,
  recent: RecentWords,
): void {
  const view = new DataView(page.buffer, page.byteOffset, PAGE_BYTES)
  const runs = reader.varint()
  let word = 0
  for (let run = 0; run < runs; run++) {
    const first = reader.byte()
    const skip = first >>> 4
    const length = (first & MANY) + 1
    word += skip < MANY ? skip : MANY + reader.varint()
    const end = word + (length <= MANY ? length : length + reader.varint())
    if (end > PAGE_WORDS) throw reader.corrupted('an edit reaches beyond its page')
    for (; word < end; word++) {
      const at = 4 * word
      const value = readWord(reader, index * PAGE_BYTES + at, view.getUint32(at, true), recent)
      view.setUint32(at, value, true)
      recent.add(value)
    }
  }
}

function readWord(reader: ByteReader, address: number, previous: number, recent: RecentWords): number {
  const token = reader.varint()
  const kind = token & 3
  const number = token < TWO_TO_31 ? token >>> 2 : (token - kind) / 4
  if (number >= TWO_TO_32) throw reader.corrupted('a word is too large')
  switch (kind) {
    case WORD.value:
      return number
    case WORD.address:
      return (address + 4 * unzigzag(number)) >>> 0
    case WORD.previous:
      return (previous + unzigzag(number)) >>> 0
    default: {
      const value = recent.get(number)
      if (value === undefined) throw reader.corrupted('a word refers to one that was not written')
      return value
    }
  }
}

/** Whether the eight words from `word` on are the same. */
function areSameEight(a: Uint32Array, b: Uint32Array, word: number): boolean {
  const d0 = (a[word] as number) ^ (b[word] as number)
  const d1 = (a[word + 1] as number) ^ (b[word + 1] as number)
  const d2 = (a[word + 2] as number) ^ (b[word + 2] as number)
  const d3 = (a[word + 3] as number) ^ (b[word + 3] as number)
  const d4 = (a[word + 4] as number) ^ (b[word + 4] as number)
  const d5 = (a[word + 5] as number) ^ (b[word + 5] as number)
  const d6 = (a[word + 6] as number) ^ (b[word + 6] as number)
  const d7 = (a[word + 7] as number) ^ (b[word + 7] as number)
  return (d0 | d1 | d2 | d3 | d4 | d5 | d6 | d7) === 0
}

const hostIsLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** The words of a page: a view where the platform can have one, which is several times as fast as a DataView. */
function wordsOf(page: Uint8Array): Uint32Array {
  if (hostIsLittleEndian && page.byteOffset % 4 === 0)
    return new Uint32Array(page.buffer, page.byteOffset, PAGE_WORDS)
  const view = new DataView(page.buffer, page.byteOffset)
  return Uint32Array.from({ length: PAGE_WORDS }, (_, word) => view.getUint32(4 * word, true))
}
