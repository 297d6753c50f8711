/** Deep comparison of cloneable values that also compares which references are shared. */

/** Where `left` and `right` differ, or undefined when they are the same graph. */
export function difference(left: unknown, right: unknown): string | undefined {
  const pairs = new Map<object, object>()
  const paired = new Set<object>()
  const queue: [unknown, unknown, string][] = [[left, right, 'value']]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [a, b, path] = next
    if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
      if (!Object.is(a, b)) return `${path}: ${String(a)} is not ${String(b)}`
      continue
    }
    const known = pairs.get(a)
    if (known !== undefined || paired.has(b)) {
      if (known !== b) return `${path}: shared differently`
      continue
    }
    pairs.set(a, b)
    paired.add(b)
    const kind = kindName(a)
    if (kind !== kindName(b)) return `${path}: a ${kind} is a ${kindName(b)}`
    const [ownA, ownB] = [content(a, kind), content(b, kind)]
    if (ownA.length !== ownB.length) return `${path}: ${ownA.length} parts are ${ownB.length}`
    for (let i = ownA.length - 1; i >= 0; i -= 1) queue.push([ownA[i], ownB[i], `${path}/${i}`])
  }
  return undefined
}

function kindName(value: object): string {
  return value instanceof Error ? `error ${value.name}` : Object.prototype.toString.call(value)
}

function content(value: object, kind: string): unknown[] {
  if (value instanceof Error) return [value.name, value.message, Object.hasOwn(value, 'cause'), value.cause]
  if (value instanceof Date) return [value.getTime()]
  if (value instanceof RegExp) return [value.source, value.flags]
  if (value instanceof Map) return [...value].flat(1)
  if (value instanceof Set) return [...value]
  if (value instanceof ArrayBuffer) return [...new Uint8Array(value)]
  if (ArrayBuffer.isView(value)) return [value.buffer, value.byteOffset, value.byteLength]
  if (/Number|String|Boolean|BigInt/.test(kind)) return [value.valueOf()]
  const keys = Object.keys(value)
  const own = keys.flatMap((key) => [key, Object.getOwnPropertyDescriptor(value, key)?.value as unknown])
  return Array.isArray(value) ? [value.length, ...own] : own
}
