/** Arguments and results of stores as plain data that crosses between a page and Node. */

const BYTES = '$bytes'

/** Plain data for a value of plain objects, lists, texts, numbers and bytes. */
export function toWire(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [BYTES]: toBase64(value) }
  if (Array.isArray(value)) return value.map(toWire)
  // What JSON cannot say, for arguments that a store must refuse.
  if (typeof value === 'number' && !Number.isFinite(value)) return { $number: String(value) }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, toWire(part)]))
}

/** The value again. */
export function fromWire(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(fromWire)
  if (typeof value !== 'object' || value === null) return value
  if (BYTES in value) return fromBase64(String(value[BYTES]))
  if ('$number' in value) return Number(value.$number)
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, fromWire(part)]))
}

function toBase64(bytes: Uint8Array): string {
  const pieces: string[] = []
  for (let at = 0; at < bytes.length; at += 4_096) {
    pieces.push(String.fromCharCode(...bytes.subarray(at, at + 4_096)))
  }
  return btoa(pieces.join(''))
}

function fromBase64(text: string): Uint8Array {
  const letters = atob(text)
  const bytes = new Uint8Array(letters.length)
  // Going through a text letter by letter, as an iterator does, takes seconds for megabytes.
  for (let at = 0; at < bytes.length; at++) bytes[at] = letters.charCodeAt(at)
  return bytes
}
