/** Compares any two values that can cross a border: of any depth, with their sharing and cycles. */

/** Something that both values must have, under a label that says where. */
type Part = readonly [label: string, value: unknown]

/**
 * Where two values differ, or undefined when they are the same: equal content, equal sharing, no shared object.
 *
 * Compares what a value is, whichever code made it: kinds by `Object.prototype.toString`, properties with their
 * order if `ordered`, prototypes not at all. Stacks of errors are not compared.
 */
export function differenceOf(left: unknown, right: unknown, ordered = true): string | undefined {
  const rightOf = new Map<object, object>()
  const leftOf = new Map<object, object>()
  const queue: [a: unknown, b: unknown, path: string][] = [[left, right, 'value']]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const [a, b, path] = next
    if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
      if (!Object.is(a, b)) return `${path}: ${String(a)} is not ${String(b)}`
      continue
    }
    if (rightOf.has(a) || leftOf.has(b)) {
      if (rightOf.get(a) !== b || leftOf.get(b) !== a) return `${path}: shared otherwise`
      continue
    }
    if (a === b) return `${path}: the very same object`
    rightOf.set(a, b)
    leftOf.set(b, a)
    const [partsA, partsB] = [partsOf(a, ordered), partsOf(b, ordered)]
    const labelsOf = (parts: readonly Part[]): string => parts.map(([label]) => label).join(', ')
    if (labelsOf(partsA) !== labelsOf(partsB)) {
      return `${path}: ${labelsOf(partsA)} are not ${labelsOf(partsB)}`
    }
    for (const [i, [label, value]] of partsA.entries()) queue.push([value, partsB[i]?.[1], `${path}${label}`])
  }
  return undefined
}

function partsOf(value: object, ordered: boolean): readonly Part[] {
  const kind: Part = [' kind', Object.prototype.toString.call(value)]
  const inner = innerParts(value)
  // Errors and binary data travel without other properties.
  if (value instanceof Error || value instanceof ArrayBuffer || ArrayBuffer.isView(value))
    return [kind, ...inner]
  const keys = ordered ? Object.keys(value) : Object.keys(value).sort()
  const own = keys.map((key): Part => {
    return [`[${JSON.stringify(key)}]`, Object.getOwnPropertyDescriptor(value, key)?.value as unknown]
  })
  return [kind, ...inner, ...own]
}

/** What a value is beside its properties. */
function innerParts(value: object): readonly Part[] {
  if (value instanceof ArrayBuffer) return [[' bytes', String(new Uint8Array(value))]]
  if (ArrayBuffer.isView(value)) {
    const { byteOffset, byteLength, buffer } = value
    return [
      [' offset', byteOffset],
      [' size', byteLength],
      ['.buffer', buffer],
    ]
  }
  if (value instanceof Map) {
    return [...value].flatMap(([key, entry], i): Part[] => [
      [`<key ${i}>`, key],
      [`<value ${i}>`, entry],
    ])
  }
  if (value instanceof Set) return [...value].map((element, i): Part => [`<${i}>`, element])
  if (value instanceof Date) return [[' time', value.getTime()]]
  if (value instanceof RegExp) return [[' pattern', String(value)]]
  if (value instanceof Number || value instanceof String) return [[' inside', value.valueOf()]]
  if (value instanceof Boolean || value instanceof BigInt) return [[' inside', value.valueOf()]]
  if (value instanceof Error) {
    return [
      ['.name', value.name],
      ['.message', value.message],
      [' has message', Object.hasOwn(value, 'message')],
      [' has cause', Object.hasOwn(value, 'cause')],
      ['.cause', value.cause],
    ]
  }
  return Array.isArray(value) ? [['.length', value.length]] : []
}
