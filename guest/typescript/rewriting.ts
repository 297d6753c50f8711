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
}

/** Flat quadruples: line and column in the text, line and column in the source; 1-based, columns in code points. */
export type Places = Int32Array

const LINE_BREAK = /[\n\r\u2028\u2029]/

export class Rewriting {
  readonly source: string
  readonly #edits: Edit[] = []

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
    let text = ''
    for (let at = start; at < end; at++) {
      const unit = this.source.charCodeAt(at)
      // The second half of a pair is no column of its own.
      if (unit >= 0xdc00 && unit <= 0xdfff && at > start) continue
      text += unit === 10 || unit === 13 || unit === 0x2028 || unit === 0x2029 ? this.source[at] : ' '
    }
    if (first !== '') text = first + text.slice(1)
    if (last !== '') text = text.slice(0, -1) + last
    this.replace(start, end, text)
  }

  /** Blanks a range, without its line breaks: what follows has to stand in the line of what is before. */
  close(start: number, end: number): void {
    this.replace(start, end, ' ')
  }

  replace(start: number, end: number, text: string): void {
    this.#edits.push({ start, end, text })
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
    const edits = this.#edits.sort((a, b) => a.start - b.start || a.end - b.end)
    const from = new Cursor()
    const to = new Cursor()
    const places: number[] = []
    let code = ''
    let at = 0
    const mark = (): void => {
      places.push(to.line, to.column, from.line, from.column)
    }
    for (const { start, end, text } of edits) {
      const kept = this.source.slice(at, start)
      const cut = this.source.slice(start, end)
      code += kept + text
      from.pass(kept)
      to.pass(kept)
      const shaped = sameShape(cut, text)
      if (!shaped) mark()
      from.pass(cut)
      to.pass(text)
      if (!shaped) mark()
      at = end
    }
    return { code: code + this.source.slice(at), places: new Int32Array(places) }
  }
}

/** The place behind all text that was passed. */
class Cursor {
  line = 1
  column = 1

  pass(text: string): void {
    const lastBreak = text.lastIndexOf('\n')
    if (lastBreak >= 0) {
      this.line += text.split('\n').length - 1
      this.column = 1
    }
    this.column += codePoints(text, lastBreak + 1)
  }
}

function codePoints(text: string, from = 0): number {
  let count = 0
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit < 0xdc00 || unit > 0xdfff) count += 1
  }
  return count
}

/** Whether what follows stands at the same place after either. */
function sameShape(a: string, b: string): boolean {
  const linesA = a.split('\n')
  const linesB = b.split('\n')
  return (
    linesA.length === linesB.length && codePoints(linesA.at(-1) ?? '') === codePoints(linesB.at(-1) ?? '')
  )
}
