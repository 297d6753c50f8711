/** A text of somebody else, for people: nothing in it that a terminal obeys, and no longer than is read. */
import { clipText, escapeText } from '../../base/escape-text.ts'

/** @param most characters of it; what is cut off is said */
export function shownText(text: string, most: number = 2_000): string {
  return escapeText(clipText(text, most))
}
