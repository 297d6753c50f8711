/**
 * How large a value is for code that walks it as a tree, as validators and JSON do: a shared object counts
 * each time it is reached. A value of 50 small objects can have 2^50 nodes so.
 *
 * A reference back to an ancestor counts one: a validator that follows it for ever ends with the host's own
 * stack, which the gate contains.
 */

/** Whether `value`, a plain copy, has more than `max` nodes as a tree. Looks at every object once. */
export function expandsBeyond(value: unknown, max: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return expandedSize(value, new Map(), max) > max
}

function expandedSize(value: object, sizes: Map<object, number>, max: number): number {
  const known = sizes.get(value)
  if (known !== undefined) return known
  sizes.set(value, 1) // while its parts are counted, a way back to it is a cycle
  let size = 1
  const add = (part: unknown): void => {
    size += typeof part === 'object' && part !== null ? expandedSize(part, sizes, max) : 1
    if (size > max) size = max + 1 // no need to know by how much
  }
  if (Array.isArray(value)) {
    for (const part of value) add(part)
  } else if (value instanceof Map) {
    for (const [key, part] of value) {
      add(key)
      add(part)
    }
  } else if (value instanceof Set) {
    for (const part of value) add(part)
  } else if (!ArrayBuffer.isView(value)) {
    for (const key of Object.keys(value)) add((value as Record<string, unknown>)[key])
    if (value instanceof Error) add(value.cause)
  }
  sizes.set(value, size)
  return size
}
