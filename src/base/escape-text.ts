/**
 * Makes hostile text safe to show: in a terminal, and in HTML.
 *
 * Guest output, tool results and approval texts can carry escape sequences that move the cursor, rewrite
 * earlier lines, set the window title or reorder what is read (Trojan Source). They are shown, not obeyed.
 *
 * Invariants
 * 1. The output of `escapeText` has no C0 or C1 control (but tab and newline where allowed), no bidi control,
 *    no invisible format character, no line separator and no lone surrogate.
 * 2. Backslashes are doubled only where they stand before an escape or what looks like one, so that paths stay
 *    readable and two different texts never look the same.
 * 3. The output of `escapeHtml` is inert as element content and inside a quoted attribute.
 */

/**
 * What a terminal or a reader could be misled by: C0, DEL, C1, soft hyphen, Arabic letter mark, fillers, zero-width
 * and bidi controls, line separators, invisible operators, byte order mark, interlinear marks, lone surrogates,
 * tags and supplementary variation selectors.
 */
const UNSAFE =
  '[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180e\\u200b-\\u200f\\u2028-\\u202e' +
  '\\u2060-\\u206f\\u3164\\ufeff\\uffa0\\ufff9-\\ufffb\\ud800-\\udfff\\u{e0000}-\\u{e0fff}]'

/** Also whole runs of backslashes before what is, or looks like, an escape. The lookbehind keeps it linear. */
const UNSAFE_OR_AMBIGUOUS = new RegExp(`${UNSAFE}|(?<!\\\\)\\\\+(?=[xu]|${UNSAFE})`, 'gu')

const LINE_SAFE = /^[\n\t]$/

/**
 * `text` with everything that a terminal would obey shown as `\xHH`, `\uHHHH` or `\u{H}`.
 * @param keep `'lines'` leaves newline and tab as they are; the default escapes them too, for one-line output.
 */
export function escapeText(text: string, keep: 'none' | 'lines' = 'none'): string {
  return text.replace(UNSAFE_OR_AMBIGUOUS, (unsafe) => {
    if (unsafe.startsWith('\\')) return unsafe + unsafe
    if (keep === 'lines' && LINE_SAFE.test(unsafe)) return unsafe
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
