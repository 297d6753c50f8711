/**
 * Some lines at the end of a terminal that are written again in place.
 *
 * Invariants
 * 1. What was there before is overwritten line by line, in one write, and only where it differs: nothing is cleared
 *    first, so nothing flickers.
 * 2. No line is as wide as the terminal, and never more lines are written than it has: else it would scroll, and what
 *    goes up would not come back to where the frame began.
 * 3. After a change of its width everything is written anew, below what the terminal made of the old frame.
 */
import type { CliOutput } from '../cli-io.ts'

/** What is written between them is shown at once, where the terminal knows that. */
const BEGIN_FRAME = '\x1b[?2026h'
const END_FRAME = '\x1b[?2026l'
const CLEAR_LINE_END = '\x1b[K'
const CLEAR_BELOW = '\x1b[J'

const FEWEST_COLUMNS = 20
const DEFAULT_ROWS = 24

export class LiveScreen {
  readonly #output: CliOutput
  #shown: readonly string[] = []
  #columns = 0

  constructor(output: CliOutput) {
    this.#output = output
  }

  /** Within which lines fit. */
  get size(): { readonly width: number; readonly height: number } {
    const { columns, rows = DEFAULT_ROWS } = this.#output
    return { width: Math.max(FEWEST_COLUMNS, columns) - 1, height: Math.max(4, rows - 1) }
  }

  /** @param lines that fit into `size` */
  show(lines: readonly string[]): void {
    const { columns } = this.#output
    if (columns !== this.#columns) this.#forget()
    this.#columns = columns
    const before = this.#shown
    if (lines.length === before.length && lines.every((line, i) => line === before[i])) return
    const up = before.length > 0 ? `\x1b[${before.length}A` : ''
    const body = lines.map((line, i) => (line === before[i] ? '\n' : `\r${line}${CLEAR_LINE_END}\n`)).join('')
    const rest = lines.length < before.length ? CLEAR_BELOW : ''
    this.#output.write(`${BEGIN_FRAME}${up}\r${body}${rest}${END_FRAME}`)
    this.#shown = lines
  }

  /** Leaves the frame where it is. */
  #forget(): void {
    this.#shown = []
  }
}
