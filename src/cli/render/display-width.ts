/** How many columns of a terminal a text takes. */

const ZERO = /^(?:\p{M}|\u200d|\ufe0f)$/u
const DOUBLE =
  /^[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]$/u

/** Columns of `text`, which must be escaped: no controls. Wide (East Asian, emoji) characters count two. */
export function displayWidth(text: string): number {
  let width = 0
  for (const character of text) width += ZERO.test(character) ? 0 : DOUBLE.test(character) ? 2 : 1
  return width
}
