/**
 * Makes hostile text safe to show: in a terminal, and in HTML.
 *
 * Guest output, tool results and approval texts can carry escape sequences that move the cursor, rewrite
 * earlier lines, set the window title or reorder what is read (Trojan Source). They are shown, not obeyed.
 *
 * Invariants
 * 1. The output of `escapeText` has no C0 or C1 control (but tab and newline where allowed), no bidi control,
 *    no invisible format character, no line separator and no lone surrogate.
 * 2. A backslash is doubled only where what follows it could be mistaken for one of our escapes, so that two
 *    different texts never look the same.
 * 3. The output of `escapeHtml` is inert as element content and inside a quoted attribute.
 */

/**
 * What a terminal or a reader could be misled by: C0, DEL, C1, Arabic letter mark, zero-width and bidi
 * controls, line separators, invisible operators and fillers, tags, variation selectors' supplement,
 * interlinear marks, lone surrogates; and a backslash that stands before `x` or `u`.
 */
const UNSAFE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding control characters is the point
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: single code points, matched in unicode mode
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\u{e0000}-\u{e0fff}]|\\(?=[xu])/gu

const LINE_SAFE = /^[\n\t]$/

/**
 * `text` with everything that a terminal would obey shown as `\xHH`, `\uHHHH` or `\u{H}`.
 * @param keep `'lines'` leaves newline and tab as they are; the default escapes them too, for one-line output.
 */
export function escapeText(text: string, keep: 'none' | 'lines' = 'none'): string {
  return text.replace(UNSAFE, (unsafe) => {
    if (keep === 'lines' && LINE_SAFE.test(unsafe)) return unsafe
    if (unsafe === '\\') return '\\\\'
    const code = unsafe.codePointAt(0) ?? 0
    const hex = code.toString(16)
    if (code < 0x100) return `\\x${hex.padStart(2, '0')}`
    return code < 0x10000 ? `\\u${hex.padStart(4, '0')}` : `\\u{${hex}}`
  })
}

/**
 * `text` cut to at most `maxLength` UTF-16 units, saying how much was cut. Cut first, then escape:
 * a cut through an escape would show half of it.
 */
export function clipText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text
  return `${text.slice(0, maxLength)}… (${text.length - maxLength} more)`
}

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
}

/** `text` for HTML element content or a quoted attribute value. Controls and bidi marks are shown as by `escapeText`. */
export function escapeHtml(text: string): string {
  return escapeText(text, 'lines').replace(/[&<>"'`]/g, (character) => HTML[character] ?? '')
}
