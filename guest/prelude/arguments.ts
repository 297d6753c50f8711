/**
 * Arguments of functions that guests call, as Web IDL takes them: one that is given and undefined counts. So their number
 * is that of `arguments`, and the linter lets it stand in this folder (`biome.json`): rest parameters would change the
 * `length` of the functions.
 */

/** @throws TypeError unless `given` arguments are enough */
export function requireArguments(given: number, needed: number, what: string): void {
  if (given >= needed) return
  throw new TypeError(`${what} takes ${needed} argument${needed === 1 ? '' : 's'}, and got ${given}.`)
}

/** A `USVString`: lone surrogates become U+FFFD. */
export function usvString(value: unknown): string {
  return (`${value as string}` as string & { toWellFormed(): string }).toWellFormed()
}

/** The bytes that a `BufferSource` shows, not copied. @throws TypeError for anything else */
export function bytesOf(source: unknown, what: string): Uint8Array {
  if (ArrayBuffer.isView(source)) return new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
  if (source instanceof ArrayBuffer || source instanceof SharedArrayBuffer) return new Uint8Array(source)
  throw new TypeError(`${what} takes an ArrayBuffer or a view of one.`)
}

/** As `bytesOf`, of a buffer of its own: what the host reads is no more than these. */
export function ownBytesOf(source: unknown, what: string): Uint8Array {
  return new Uint8Array(bytesOf(source, what))
}

/** A dictionary argument. @throws TypeError for what is none */
export function dictionary(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {}
  if (typeof value === 'object' || typeof value === 'function') return value as Record<string, unknown>
  throw new TypeError(`${what} takes an object of options.`)
}

/**
 * The pairs of a sequence of two things each, or of a record, in the order in which they are read: a name, then its
 * value, and then the next.
 * @param text takes each of them @throws TypeError for what is neither, and what `text` throws
 */
export function pairsOf(
  init: unknown,
  what: string,
  text: (part: unknown) => string,
): (readonly [string, string])[] {
  if ((typeof init !== 'object' && typeof init !== 'function') || init === null) {
    throw new TypeError(`${what} takes an object, or pairs of a name and a value.`)
  }
  const record = init as Readonly<Record<PropertyKey, unknown>>
  const method = record[Symbol.iterator]
  if (method === undefined || method === null) {
    const pairs: (readonly [string, string])[] = []
    for (const key of Reflect.ownKeys(init)) {
      if (!Object.getOwnPropertyDescriptor(init, key)?.enumerable) continue
      const name = text(key)
      pairs.push([name, text(record[key])])
    }
    return pairs
  }
  return [...(init as Iterable<Iterable<unknown>>)].map((pair) => {
    const parts = typeof pair === 'object' && pair !== null ? [...pair] : []
    if (parts.length !== 2) throw new TypeError(`${what} takes pairs of a name and a value.`)
    return [text(parts[0]), text(parts[1])]
  })
}

/** A `ByteString`. @throws TypeError for a character above U+00FF */
export function byteString(value: unknown, what: string): string {
  const text = `${value as string}`
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) > 255) throw new TypeError(`${what} takes characters up to U+00FF only.`)
  }
  return text
}
