/**
 * Changes of pages as sections of a container, and back.
 *
 * Invariants
 * 1. Pages stand in ascending order, each once, within the memory that the header names.
 * 2. No page that is read is all zeros: zeros are said as such, which is what a tree of pages relies on.
 */
import { ByteReader } from '../../base/byte-reader.ts'
import { ByteWriter } from '../../base/byte-writer.ts'
import { PAGE_BYTES, type PageChange, type PageTree } from '../page-tree.ts'
import { PAGE_KIND } from './container-format.ts'
import type { RecentWords } from './recent-words.ts'
import { applyWordEdits, WordEditor } from './word-edits.ts'
import type { WorkingPages } from './working-pages.ts'

/** A section is closed when it has reached this size: what is compressed at once. */
const FULL_SECTION_BYTES = 262_144

/** A page whose edits take more is better said as it is: text and binary data deflate better so (bench: checkpoint). */
const MAX_EDIT_BYTES = PAGE_BYTES / 2

/** The number and kind of a page take at most this. */
const PAGE_HEAD_BYTES = 8

/** What a page may take in a section. */
export const MAX_PAGE_ENTRY_BYTES: number = PAGE_HEAD_BYTES + PAGE_BYTES

/** Room for the pages of a small step. */
const FIRST_BYTES = 1_024

/** What has written more pages has a room that is too large to keep. */
const MOST_PAGES_IDLE = 16

/** Tables and room of some kilobytes, which one checkpoint after the other fills anew. */
interface Tools {
  readonly editor: WordEditor
  readonly writer: ByteWriter
}

/** Without work. */
let idle: Tools | undefined

/** Writes pages one after the other. */
export class PageSectionWriter {
  readonly #writer: ByteWriter
  readonly #editor: WordEditor
  #last = -1
  #count = 0

  constructor() {
    const tools = idle ?? { editor: new WordEditor(MAX_EDIT_BYTES), writer: new ByteWriter(FIRST_BYTES) }
    idle = undefined
    this.#editor = tools.editor
    this.#writer = tools.writer
    this.#writer.clear()
    this.#editor.begin()
  }

  /** Pages written. */
  get count(): number {
    return this.#count
  }

  /** Whether the section should be taken before another page is added. */
  get isFull(): boolean {
    return this.#writer.length >= FULL_SECTION_BYTES
  }

  add([index, page]: PageChange, parent: PageTree): void {
    const gap = index - this.#last - 1
    this.#last = index
    this.#count += 1
    if (page === undefined) {
      this.#writer.varint(4 * gap + PAGE_KIND.zeros)
      return
    }
    const edits = this.#editor.encode(index, parent.page(index), page)
    this.#writer.varint(4 * gap + (edits === undefined ? PAGE_KIND.literal : PAGE_KIND.words))
    this.#writer.raw(edits ?? page)
  }

  /** What was added since the last time; empty if nothing was. */
  take(): Uint8Array {
    const section = this.#writer.finish()
    this.#writer.clear()
    this.#editor.begin()
    return section
  }

  /** Gives back what the next one can have. Nothing is added after that. */
  close(): void {
    if (this.#count <= MOST_PAGES_IDLE) idle = { editor: this.#editor, writer: this.#writer }
  }
}

/** Reads pages one after the other, from section after section. */
export class PageSectionReader {
  readonly #pages: WorkingPages
  readonly #memoryPages: number
  readonly #recent: RecentWords
  #reader = new ByteReader(new Uint8Array(0))
  #last = -1
  #count = 0

  /** @param pages those of the parent, in which pages are changed */
  constructor(pages: WorkingPages, memoryPages: number) {
    this.#pages = pages
    this.#memoryPages = memoryPages
    this.#recent = pages.recent
  }

  /** Pages read. */
  get count(): number {
    return this.#count
  }

  begin(section: Uint8Array): void {
    this.#reader = new ByteReader(section)
    this.#recent.clear()
  }

  /** Changes one page. False at the end of the section. @throws CaissonError `corrupted` */
  next(): boolean {
    const reader = this.#reader
    if (reader.remaining === 0) return false
    const head = reader.varint()
    const kind = head % 4
    const index = this.#last + 1 + (head - kind) / 4
    if (index >= this.#memoryPages) throw reader.corrupted('a page lies outside of the memory')
    this.#last = index
    this.#count += 1
    this.#change(kind, index)
    return true
  }

  #change(kind: number, index: number): void {
    const reader = this.#reader
    switch (kind) {
      case PAGE_KIND.zeros:
        this.#pages.set(index, undefined)
        return
      case PAGE_KIND.literal: {
        const page = reader.raw(PAGE_BYTES).slice()
        this.#check(page)
        this.#pages.set(index, page)
        return
      }
      case PAGE_KIND.words: {
        const page = this.#pages.own(index)
        applyWordEdits(reader, index, page, this.#recent)
        this.#check(page)
        return
      }
      default:
        throw reader.corrupted('there is no such kind of page')
    }
  }

  #check(page: Uint8Array): void {
    if (isZeros(page)) throw this.#reader.corrupted('a page of zeros in a longer form')
  }
}

function isZeros(page: Uint8Array): boolean {
  for (let i = 0; i < PAGE_BYTES; i++) if (page[i] !== 0) return false
  return true
}
