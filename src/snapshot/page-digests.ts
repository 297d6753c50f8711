/**
 * The digests of a group of pages, in one piece of memory: a large guest has thousands of pages, and an object for each
 * of their digests would keep the collector busy for longer than the digests take.
 *
 * A group that is made of another one begins with what that one knows, and digests what changed.
 *
 * Invariants
 * 1. A digest that is known is that of the page at its place. It is never written again in the memory where it lies, which
 *    later groups share until they have a digest of their own to put there.
 */
import type { HashBytes, Page } from './page.ts'

/** Pages of a group: 256 KiB. */
export const GROUP_PAGES = 64

/** What is digested of a part: its number and its digest. */
export const ENTRY_BYTES = 36
const NUMBER_BYTES = 4

/** Pages that one word of flags is for. */
const WORD_PAGES = 32

/** What the digest of a group takes: it is filled anew each time, since every checkpoint digests some. */
const scratch = new Uint8Array(GROUP_PAGES * ENTRY_BYTES)

export class PageDigests {
  /** The entry of each page at its place; undefined while none is known. */
  #entries: Uint8Array | undefined
  #isShared: boolean
  /** Flags of pages whose digest is known. */
  #low: number
  #high: number

  /** @param before those of the group that this one is made of */
  constructor(before?: PageDigests) {
    this.#entries = before === undefined ? undefined : before.#entries
    this.#isShared = true
    this.#low = before === undefined ? 0 : before.#low
    this.#high = before === undefined ? 0 : before.#high
  }

  /** Page `i` is another one now. */
  forget(i: number): void {
    if (i < WORD_PAGES) this.#low &= ~(1 << i)
    else this.#high &= ~(1 << (i - WORD_PAGES))
  }

  /** Whether the digest of page `i` is known. */
  knows(i: number): boolean {
    return ((i < WORD_PAGES ? this.#low >>> i : this.#high >>> (i - WORD_PAGES)) & 1) === 1
  }

  /** Digests page `i`, unless that is known. */
  learn(i: number, page: Uint8Array, hash: HashBytes): void {
    if (this.knows(i)) return
    this.#own().set(hash(page), i * ENTRY_BYTES + NUMBER_BYTES)
    if (i < WORD_PAGES) this.#low |= 1 << i
    else this.#high |= 1 << (i - WORD_PAGES)
  }

  /** The digest over the numbers and digests of the pages that are not zeros. */
  digest(pages: readonly Page[], hash: HashBytes): Uint8Array {
    let length = 0
    for (let i = 0; i < pages.length; ) {
      if (pages[i] === undefined) {
        i += 1
        continue
      }
      const first = i
      for (; i < pages.length; i += 1) {
        const page = pages[i]
        if (page === undefined) break
        this.learn(i, page, hash)
      }
      scratch.set(this.#own().subarray(first * ENTRY_BYTES, i * ENTRY_BYTES), length)
      length += (i - first) * ENTRY_BYTES
    }
    return hash(scratch.subarray(0, length))
  }

  #own(): Uint8Array {
    if (this.#entries === undefined) this.#entries = emptyEntries()
    else if (this.#isShared) this.#entries = this.#entries.slice()
    this.#isShared = false
    return this.#entries
  }
}

function emptyEntries(): Uint8Array {
  const entries = new Uint8Array(GROUP_PAGES * ENTRY_BYTES)
  for (let i = 0; i < GROUP_PAGES; i += 1) entries[i * ENTRY_BYTES] = i
  return entries
}

/** Digest over the digests of those parts that are there, each after its number in four bytes, little-endian. */
export function digestOfParts(parts: readonly (Uint8Array | undefined)[], hash: HashBytes): Uint8Array {
  const room = parts.length * ENTRY_BYTES
  const bytes = room > scratch.length ? new Uint8Array(room) : scratch
  let at = 0
  for (let number = 0; number < parts.length; number += 1) {
    const digest = parts[number]
    if (digest === undefined) continue
    bytes[at] = number
    bytes[at + 1] = number >>> 8
    bytes[at + 2] = number >>> 16
    bytes[at + 3] = number >>> 24
    bytes.set(digest, at + NUMBER_BYTES)
    at += ENTRY_BYTES
  }
  return hash(bytes.subarray(0, at))
}
