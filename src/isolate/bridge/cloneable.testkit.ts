/** Arbitrary cloneable values for property tests: any kinds, holes, sharing and cycles. */
import fc from 'fast-check'

const strings = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: fc.nat(0xffff).map((unit) => String.fromCharCode(unit)), maxLength: 40 }),
  fc.constantFrom(
    '',
    '\0',
    'a\0b',
    '\ud800',
    '\udfff\ud800',
    '\u00e9\u0080',
    'x'.repeat(200),
    '\u65e5'.repeat(150),
  ),
)
const numbers = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(-0, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, -(2 ** 31), 2 ** 53, 5e-324),
)
const bigints = fc.oneof(
  fc.bigInt({ min: -(2n ** 200n), max: 2n ** 200n }),
  fc.constantFrom(
    0n,
    -1n,
    127n,
    128n,
    -128n,
    -129n,
    2n ** 31n,
    -(2n ** 31n),
    2n ** 63n,
    2n ** 64n,
    -(2n ** 64n),
  ),
)
export const primitives: fc.Arbitrary<unknown> = fc.oneof(
  strings,
  numbers,
  bigints,
  fc.boolean(),
  fc.constantFrom(null, undefined),
)
const keys = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 6 }) },
  {
    weight: 2,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'length', 'then'),
  },
  { weight: 2, arbitrary: fc.nat(300).map(String) },
  { weight: 1, arbitrary: strings },
)

type Part = { readonly ref: number } | { readonly value: unknown }
interface NodePlan {
  readonly kind: string
  readonly parts: readonly Part[]
  readonly keys: readonly string[]
  readonly bytes: Uint8Array
  readonly primitive: unknown
  readonly choice: number
}

const KINDS = [
  'object',
  'object',
  'object',
  'array',
  'array',
  'sparse',
  'map',
  'set',
  'error',
  'date',
  'regexp',
  'boxed',
  'buffer',
  'view',
  'view',
]
const VIEWS = [
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  BigInt64Array,
  BigUint64Array,
  Float32Array,
  Float64Array,
] as const
const ERRORS = [Error, TypeError, RangeError, SyntaxError] as const

const plans: fc.Arbitrary<NodePlan[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    parts: fc.array(
      fc.oneof(
        fc.nat(40).map((ref): Part => ({ ref })),
        primitives.map((value): Part => ({ value })),
      ),
      { maxLength: 6 },
    ),
    keys: fc.array(keys, { minLength: 6, maxLength: 6 }),
    bytes: fc.uint8Array({ maxLength: 24 }),
    primitive: primitives,
    choice: fc.nat(1000),
  }),
  { minLength: 1, maxLength: 14 },
)

function define(target: object, key: string, value: unknown): void {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Builds the graph: first every object, then what they hold, so that references can go anywhere. */
function build(plan: readonly NodePlan[]): unknown {
  const nodes: object[] = []
  for (const node of plan) nodes.push(create(node, nodes))
  plan.forEach((node, i) => {
    const values = node.parts.map((part) => ('ref' in part ? nodes[part.ref % nodes.length] : part.value))
    fill(nodes[i] as object, node, values)
  })
  return nodes[0]
}

function create(node: NodePlan, before: readonly object[]): object {
  const { choice, primitive, bytes } = node
  switch (node.kind) {
    case 'array':
    case 'sparse':
      return []
    case 'map':
      return new Map()
    case 'set':
      return new Set()
    case 'error': {
      const error = new (ERRORS[choice % ERRORS.length] ?? Error)(
        choice % 3 === 0 ? undefined : `m${String(primitive)}`,
      )
      if (choice % 7 === 0)
        Object.defineProperty(error, 'name', { value: 'CustomError', configurable: true, writable: true })
      return error
    }
    case 'date':
      return new Date(choice % 5 === 0 ? Number.NaN : choice * 1e9)
    case 'regexp':
      return new RegExp(
        ['a+', '[\\u0000-\\uffff]', '/', '', '(?<n>x)'][choice % 5] ?? '',
        ['', 'g', 'imsu', 'dy'][choice % 4],
      )
    case 'boxed':
      return primitive === null || primitive === undefined ? Object(choice) : Object(primitive)
    case 'buffer':
      return bytes.slice().buffer
    case 'view': {
      const View = VIEWS[choice % VIEWS.length] ?? Uint8Array
      const shared = before.findLast((other) => other instanceof ArrayBuffer) as ArrayBuffer | undefined
      const buffer = choice % 2 === 0 && shared !== undefined ? shared : (bytes.slice().buffer as ArrayBuffer)
      if (choice % 11 === 0) return new DataView(buffer)
      const length = Math.floor(buffer.byteLength / View.BYTES_PER_ELEMENT)
      // A view of a part only of a buffer that the value holds besides: others travel as just their bytes.
      const skip = buffer === shared && length > 1 ? View.BYTES_PER_ELEMENT : 0
      return new View(buffer, skip, length - (skip === 0 ? 0 : 1))
    }
    default:
      return {}
  }
}

function fill(target: object, node: NodePlan, values: readonly unknown[]): void {
  switch (node.kind) {
    case 'object':
      values.forEach((value, i) => {
        define(target, node.keys[i] ?? '', value)
      })
      return
    case 'array':
      ;(target as unknown[]).push(...values)
      return
    case 'sparse': {
      const array = target as unknown[]
      array.length = node.choice % 20
      values.forEach((value, i) => {
        if (i % 2 === 0) array[(node.choice + i * 7) % 50] = value
        else if (node.keys[i] !== 'length') define(array, node.keys[i] ?? '', value)
      })
      return
    }
    case 'map':
      for (let i = 0; i + 1 < values.length; i += 2)
        (target as Map<unknown, unknown>).set(values[i], values[i + 1])
      return
    case 'set':
      for (const value of values) (target as Set<unknown>).add(value)
      return
    case 'error':
      if (values.length > 0)
        Object.defineProperty(target, 'cause', { value: values[0], configurable: true, writable: true })
      return
    default:
  }
}

/** Values that hold views of a part of a buffer that only they know travel with less of it: not the same graph. */
function isLossless(value: unknown): boolean {
  const buffers = new Set<unknown>()
  const views: ArrayBufferView[] = []
  const seen = new Set<object>()
  const queue: unknown[] = [value]
  for (let next = queue.pop(); queue.length > 0 || next !== undefined; next = queue.pop()) {
    if (typeof next !== 'object' || next === null || seen.has(next)) continue
    seen.add(next)
    if (next instanceof ArrayBuffer) buffers.add(next)
    else if (ArrayBuffer.isView(next)) views.push(next)
    else if (next instanceof Map) queue.push(...[...next].flat(1))
    else if (next instanceof Set) queue.push(...next)
    else if (next instanceof Error) queue.push(next.cause)
    else queue.push(...Object.values(next))
  }
  return views.every((view) => buffers.has(view.buffer) || view.byteLength === view.buffer.byteLength)
}

/** A graph of up to 14 objects. */
export const cloneableGraphs: fc.Arbitrary<unknown> = plans.map(build).filter(isLossless)
