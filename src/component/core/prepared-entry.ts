/**
 * How something prepared is written down: numbers are 32-bit, little-endian.
 *
 *     "caisson\0" | format | bytes of data | number of parts | bytes of each part | data | parts | 32 bytes of MAC
 *
 * The data is JSON, and the parts are bytes of its own. The MAC (HMAC-SHA-256) is over the name of the entry and
 * everything before it, so that an entry under another name is none.
 */

/** Plain JSON, and bytes that belong to it. */
export interface PreparedParts {
  readonly data: unknown
  readonly parts: readonly Uint8Array[]
}

/** Raised when the layout changes. */
export const ENTRY_FORMAT = 1

export const MAC_BYTES = 32
const MAGIC: Uint8Array = new TextEncoder().encode('caisson\0')
const WORD = 4
const HEAD_BYTES: number = MAGIC.length + 3 * WORD
const MOST_PARTS = 10_000

/** @returns an entry whose last `MAC_BYTES` are to be filled */
export function encodeEntry({ data, parts }: PreparedParts): Uint8Array {
  const text = new TextEncoder().encode(JSON.stringify(data))
  const lengths = parts.length * WORD
  const body = parts.reduce((sum, part) => sum + part.length, text.length)
  const bytes = new Uint8Array(HEAD_BYTES + lengths + body + MAC_BYTES)
  const view = new DataView(bytes.buffer)
  bytes.set(MAGIC)
  for (const [index, word] of [ENTRY_FORMAT, text.length, parts.length].entries())
    view.setUint32(MAGIC.length + index * WORD, word, true)
  for (const [index, part] of parts.entries()) view.setUint32(HEAD_BYTES + index * WORD, part.length, true)
  let at = HEAD_BYTES + lengths
  for (const piece of [text, ...parts]) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes
}

/**
 * @param bytes an entry that was authenticated; its parts are views of it
 * @returns undefined for another format, or lengths that do not add up
 */
export function decodeEntry(bytes: Uint8Array): PreparedParts | undefined {
  if (bytes.length < HEAD_BYTES + MAC_BYTES || MAGIC.some((byte, at) => bytes[at] !== byte)) return undefined
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const word = (at: number): number => view.getUint32(at, true)
  const [format, textBytes, count] = [0, 1, 2].map((index) => word(MAGIC.length + index * WORD)) as [
    number,
    number,
    number,
  ]
  let at = HEAD_BYTES + count * WORD
  if (format !== ENTRY_FORMAT || count > MOST_PARTS || at > bytes.length) return undefined
  const take = (length: number): Uint8Array => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const text = take(textBytes)
  const parts = Array.from({ length: count }, (_, index) => take(word(HEAD_BYTES + index * WORD)))
  if (at + MAC_BYTES !== bytes.length) return undefined
  return { data: JSON.parse(new TextDecoder().decode(text)) as unknown, parts }
}
