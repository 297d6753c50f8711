/**
 * Bytes of a guest as text, by the Encoding standard.
 *
 * `windows-1252`, which that standard means by `latin1`, is decoded by a table: Node 20 takes it for ISO-8859-1.
 */
import { CaissonError } from '../base/errors.ts'

/** What bytes 0x80 to 0x9f stand for in windows-1252; every other byte stands for itself. */
const WINDOWS_1252 =
  '\u20ac\x81\u201a\u0192\u201e\u2026\u2020\u2021\u02c6\u2030\u0160\u2039\u0152\x8d\u017d\x8f\x90\u2018\u2019\u201c\u201d\u2022\u2013\u2014\u02dc\u2122\u0161\u203a\u0153\x9d\u017e\u0178'

/**
 * The text that `bytes` are, with a byte order mark as a character of it.
 * @returns undefined where `fatal` is wanted and the bytes are malformed
 * @throws CaissonError `corrupted` for an encoding that no guest's prelude asks for
 */
export function decodeText(bytes: Uint8Array, encoding: string, fatal: boolean): string | undefined {
  switch (encoding) {
    case 'windows-1252':
      return decodeWindows1252(bytes)
    case 'utf-8':
    case 'utf-16le':
      try {
        return new TextDecoder(encoding, { fatal, ignoreBOM: true }).decode(bytes)
      } catch {
        return undefined
      }
    default:
      throw new CaissonError('corrupted', 'The guest asked for an encoding that its prelude does not have.')
  }
}

function decodeWindows1252(bytes: Uint8Array): string {
  const units = Uint16Array.from(bytes, (byte) =>
    byte >= 0x80 && byte <= 0x9f ? WINDOWS_1252.charCodeAt(byte - 0x80) : byte,
  )
  let text = ''
  for (let at = 0; at < units.length; at += 8_192) {
    text += String.fromCharCode(...units.subarray(at, at + 8_192))
  }
  return text
}
