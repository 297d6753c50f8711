/** JSON that is safe to print to a terminal, and the same JSON to every parser. */

/** Controls, format and bidi characters, separators, unassigned and private ones, lone surrogates, fillers. */
const UNSAFE = /\p{C}|\p{Zl}|\p{Zp}|\u034f|\u115f|\u1160|\u17b4|\u17b5|\u3164|\uffa0/gu

/** `value` as one line of JSON; what a terminal would obey stands as `\uXXXX`. */
export function jsonText(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (unsafe) => {
    let escaped = ''
    for (let i = 0; i < unsafe.length; i++) {
      escaped += `\\u${unsafe.charCodeAt(i).toString(16).padStart(4, '0')}`
    }
    return escaped
  })
}
