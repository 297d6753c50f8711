/** The line of a program at which something happened, with a caret below the place. */
import { escapeText } from '../../base/escape-text.ts'
import { indexOfPlace } from '../../program/source-place.ts'
import { displayWidth } from './display-width.ts'

/** Where the caret stands at most before the line is cut on its left. */
const BEFORE_CARET = 0.6

/**
 * Two lines: the source line, cut to `width` columns around the place, and the caret.
 * @param line 1-based; @param column 1-based, in code points
 * @returns nothing where the source has no such line
 */
export function sourceExcerpt(
  source: string,
  line: number,
  column: number,
  width: number,
): readonly string[] {
  const text = source.split(/\r?\n/, line)[line - 1]
  if (text === undefined) return []
  const gutter = `${line} | `
  const room = Math.max(16, width - gutter.length)
  const caret = indexOfPlace(text, { line: 1, column })
  // Tabs would put the caret anywhere.
  const flat = (part: string): string => escapeText(part.replaceAll('\t', '  '))
  const start = Math.max(0, caret - Math.floor(room * BEFORE_CARET))
  const lead = start > 0 ? '…' : ''
  const before = lead + flat(text.slice(start, caret))
  let shown = before
  for (const character of text.slice(caret, caret + room)) {
    const next = shown + flat(character)
    if (displayWidth(next) > room) break
    shown = next
  }
  return [gutter + shown, `${' '.repeat(gutter.length - 2)}| ${' '.repeat(displayWidth(before))}^`]
}
