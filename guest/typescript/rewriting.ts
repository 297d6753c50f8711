/**
 * A source on its way to another text: what is cut out, what is put in, and where everything went.
 *
 * Invariants
 * 1. What is blanked keeps its line breaks, and a space for every code point: nothing behind it moves.
 * 2. Where something did move, `places` tells it, and only there.
 */

interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
  /** Whether what follows stands where it stood. */
  readonly keeps: boolean
}

/** Flat quadruples: line and column in the text, line and column in the source; 1-based, columns in code points. */
export type Places = Int32Array

/** What is as many blanks as it has UTF-16 units. */
const PLAIN = /^[^\n\r\u2028\u2029\ud800-\udfff]*$/
const NO_BREAKS = /[^\n\r\u2028\u2029]+/g
const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/g
const LINE_BREAK = /[\n\r\u2028\u2029]/

export class Rewriting {
  readonly source: string
  readonly #edits: Edit[] = []
  #inOrder = true

  constructor(source: string) {
    this.source = source
  }

  /** Whether a line ends in the range. */
  breaksLine(start: number, end: number): boolean {
    return LINE_BREAK.test(this.source.slice(start, end))
  }

  /**
   * Blanks a range.
   * @param first takes the place of its first character
   * @param last takes the place of its last character
   */
  blank(start: number, end: number, first = '', last = ''): void {
    const cut = this.source.slice(start, end)
    let text = PLAIN.test(cut) ? ' '.repeat(cut.length) : cut.replace(NO_BREAKS, blanksFor)
    if (first !== '') text = first + text.slice(1)
    if (last !== '') text = text.slice(0, -1) + last
    this.#push({ start, end, text, keeps: true })
  }

  /** Blanks a range, without its line breaks: what follows has to stand in the line of what is before. */
  close(start: number, end: number): void {
    this.replace(start, end, ' ')
  }

  replace(start: number, end: number, text: string): void {
    this.#push({ start, end, text, keeps: text.length === end - start && PLAIN.test(text) })
  }

  #push(edit: Edit): void {
    const last = this.#edits.at(-1)
    if (last !== undefined && isBefore(edit, last)) this.#inOrder = false
    this.#edits.push(edit)
  }

  insert(at: number, text: string): void {
    this.replace(at, at, text)
  }

  /** Replaces a range by text of one line, and keeps the line breaks of the range behind it. */
  replaceKeepingLines(start: number, end: number, text: string): void {
    this.replace(start, end, text + this.source.slice(start, end).replace(/[^\n\r\u2028\u2029]/g, ''))
  }

  finish(): { readonly code: string; readonly places: Places } {
    // Stable: what was put in at one place stays in its order.
    const edits = this.#inOrder
      ? this.#edits
      : this.#edits.sort((a, b) => (isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : 0))
    const parts: string[] = []
    /** Indexes into the code and into the source, before and behind each edit after which something moved. */
    const moved: number[] = []
    let at = 0
    let length = 0
    for (const { start, end, text, keeps } of edits) {
      const kept = this.source.slice(at, start)
      parts.push(kept, text)
      length += kept.length
      if (!keeps) moved.push(length, start, length + text.length, end)
      length += text.length
      at = end
    }
    parts.push(this.source.slice(at))
    const code = parts.join('')
    return { code, places: placesOf(code, this.source, moved) }
  }
}

function isBefore(a: Edit, b: Edit): boolean {
  return a.start < b.start || (a.start === b.start && a.end < b.end)
}

function placesOf(code: string, source: string, moved: readonly number[]): Places {
  const places = new Int32Array(moved.length * 2)
  const to = new Cursor(code)
  const from = new Cursor(source)
  for (let i = 0; i < moved.length; i += 2) {
    to.go(moved[i] as number)
    from.go(moved[i + 1] as number)
    places.set([to.line, to.column, from.line, from.column], i * 2)
  }
  return places
}

/** Goes through a text, and counts: each character once. */
class Cursor {
  line = 1
  column = 1
  readonly #text: string
  #index = 0
  #nextBreak: number

  constructor(text: string) {
    this.#text = text
    this.#nextBreak = breakFrom(text, 0)
  }

  go(index: number): void {
    while (this.#nextBreak < index) {
      this.line += 1
      this.column = 1
      this.#index = this.#nextBreak + 1
      this.#nextBreak = breakFrom(this.#text, this.#index)
    }
    this.column += widthOf(this.#text.slice(this.#index, index))
    this.#index = index
  }
}

/** Index of the next line break, or infinity: nobody looks for it again then. */
function breakFrom(text: string, index: number): number {
  const found = text.indexOf('\n', index)
  return found < 0 ? Number.POSITIVE_INFINITY : found
}

/** Code points of a text. */
function widthOf(text: string): number {
  return text.length - (text.match(PAIRS)?.length ?? 0)
}

function blanksFor(text: string): string {
  return ' '.repeat(widthOf(text))
}
