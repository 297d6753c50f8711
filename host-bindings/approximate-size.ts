/**
 * Roughly how much memory a value takes, for caps on what is kept or handed over. Not the canonical size of values: it
 * never refuses, and it is cheap.
 */

const NODE_BYTES = 16

/**
 * Bytes of `value`: two for every UTF-16 code unit, binary data by its length, 16 for every other node. A shared or
 * cyclic part counts once. Stops counting above `enough`, so that a huge value costs no more than a large one.
 */
export function approximateBytes(value: unknown, enough: number = Number.POSITIVE_INFINITY): number {
  const seen = new Set<object>()
  const pending: unknown[] = [value]
  let bytes = 0
  while (pending.length > 0 && bytes <= enough) {
    const part = pending.pop()
    bytes += NODE_BYTES
    if (typeof part === 'string') bytes += part.length * 2
    if (typeof part !== 'object' || part === null || seen.has(part)) continue
    seen.add(part)
    if (part instanceof ArrayBuffer || ArrayBuffer.isView(part)) bytes += part.byteLength
    else if (part instanceof Map) for (const [key, entry] of part) pending.push(key, entry)
    else if (part instanceof Set) for (const entry of part) pending.push(entry)
    else if (Array.isArray(part)) for (const entry of part) pending.push(entry)
    else {
      for (const key of Object.keys(part)) {
        bytes += key.length * 2
        pending.push((part as Record<string, unknown>)[key])
      }
    }
  }
  return bytes
}
