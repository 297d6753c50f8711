/** One line of several pieces, cut to a width before it is painted. */
import { displayWidth } from './display-width.ts'

export interface LinePiece {
  /** Escaped: no controls. */
  readonly text: string
  readonly paint?: (text: string) => string
}

/** @param width in columns; what is cut off is said with an ellipsis */
export function paintedLine(pieces: readonly LinePiece[], width: number): string {
  let left = width
  let line = ''
  for (const [i, { text, paint = (plain: string): string => plain }] of pieces.entries()) {
    const more = pieces.slice(i + 1).some((piece) => piece.text.trim() !== '')
    const own = displayWidth(text.trimEnd())
    // One column is kept for the ellipsis where something follows that would not fit.
    if (own < left || (own === left && !more)) {
      line += paint(text)
      left -= displayWidth(text)
      continue
    }
    const cut = cutTo(text, left - 1)
    return `${line}${paint(cut)}…`
  }
  return line.trimEnd()
}

/** As much of an escaped text as has at most so many columns. */
function cutTo(text: string, width: number): string {
  let shown = ''
  let used = 0
  for (const character of text) {
    used += displayWidth(character)
    if (used > width) break
    shown += character
  }
  return shown
}
