/** One line of several pieces, cut to a width before it is painted. */
import { displayWidth } from './display-width.ts'

export interface LinePiece {
  /** Escaped: no controls. */
  readonly text: string
  readonly paint?: (text: string) => string
}

/** @param width in columns; what is cut off is said with an ellipsis */
export function paintedLine(pieces: readonly LinePiece[], width: number): string {
  const whole = pieces.map(({ text }) => text).join('')
  if (displayWidth(whole.trimEnd()) <= width) return pieces.map(painted).join('').trimEnd()
  let left = width - 1
  let line = ''
  for (const { text, paint } of pieces) {
    const cut = cutTo(text, left)
    line += painted({ text: cut, ...(paint && { paint }) })
    left -= displayWidth(cut)
    if (cut !== text) break
  }
  return `${line}…`
}

function painted({ text, paint }: LinePiece): string {
  return paint === undefined || text === '' ? text : paint(text)
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
