/**
 * Values for property tests: graphs of every kind of node, with sharing and cycles.
 *
 * A graph is drawn as a table of nodes whose places hold a primitive or the number of any node, and is then put
 * together, so that fast-check shrinks it well and every shape of reference occurs.
 */
import fc from 'fast-check'

export type NodeKind =
  | 'object'
  | 'array'
  | 'map'
  | 'set'
  | 'error'
  | 'date'
  | 'regexp'
  | 'boxed'
  | 'buffer'
  | 'view'

const EVERY_KIND: readonly NodeKind[] = [
  'object',
  'array',
  'map',
  'set',
  'error',
  'date',
  'regexp',
  'boxed',
  'buffer',
  'view',
]

export interface ArbitraryValueOptions {
  /** Kinds of nodes that occur. Default: all. */
  readonly kinds?: readonly NodeKind[]
  /** Nodes in a graph at most. Default 12. */
  readonly maxNodes?: number
}

/** Numbers with all that JSON loses, and integers around the widths that encodings distinguish. */
const arbitraryNumber: fc.Arbitrary<number> = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(
    0,
    -0,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    Number.NEGATIVE_INFINITY,
    2 ** 31,
    -(2 ** 31),
    2 ** 53,
  ),
)

/** Strings of every UTF-16 unit: NUL, lone surrogates, both widths. */
const arbitraryText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ maxLength: 8 }),
  fc.array(fc.nat(0xffff), { maxLength: 6 }).map((units) => String.fromCharCode(...units)),
  fc.constantFrom('', '\0', '\ud800', '\udc00\ud800', 'é', '日本', 'x'.repeat(300)),
)

/** Property names, hostile ones and array indices among them. */
const arbitraryKey: fc.Arbitrary<string> = fc.oneof(
  arbitraryText,
  fc.constantFrom(
    '__proto__',
    'constructor',
    'prototype',
    'toJSON',
    'then',
    'length',
    '$caisson',
    '0',
    '1',
    '-1',
    '01',
  ),
)

const arbitraryBigint: fc.Arbitrary<bigint> = fc.oneof(
  fc.bigInt(),
  fc.constantFrom(0n, -1n, 255n, 256n, 2n ** 63n, -(2n ** 63n), 2n ** 64n, -(2n ** 1024n), 2n ** 2000n + 1n),
)

/** A value that is no object. */
export const arbitraryPrimitive: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom(undefined, null, true, false),
  arbitraryNumber,
  arbitraryText,
  arbitraryBigint,
)

type ViewConstructor = new (buffer: ArrayBuffer, byteOffset: number, length: number) => ArrayBufferView

const VIEWS: readonly ViewConstructor[] = [
  DataView,
  Int8Array,
  Uint8Array,
  Uint8ClampedArray,
  Int16Array,
  Uint16Array,
  Int32Array,
  Uint32Array,
  Float32Array,
  Float64Array,
  BigInt64Array,
  BigUint64Array,
]

/** A place in a drawn graph: a primitive, or the number of a node, taken modulo their count. */
type Place = { readonly primitive: unknown } | { readonly node: number }

interface DrawnNode {
  readonly kind: NodeKind
  readonly places: readonly Place[]
  readonly keys: readonly string[]
  readonly text: string
  readonly number: number
  readonly bytes: Uint8Array
}

const ERRORS = [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError] as const
const PATTERNS: readonly (readonly [source: string, flags: string])[] = [
  ['', ''],
  ['a/b', 'gi'],
  ['[\n\u2028]', 'm'],
  ['(?<year>\\d+)|x{2,3}?', 'dsuy'],
  ['\\p{L}', 'v'],
  ['^\\\\$', 'g'],
]

function drawnNode(kinds: readonly NodeKind[]): fc.Arbitrary<DrawnNode> {
  const place: fc.Arbitrary<Place> = fc.oneof(
    arbitraryPrimitive.map((primitive) => ({ primitive })),
    fc.nat(63).map((node) => ({ node })),
  )
  return fc.record({
    kind: fc.constantFrom(...kinds),
    places: fc.array(place, { maxLength: 5 }),
    keys: fc.array(arbitraryKey, { minLength: 5, maxLength: 5 }),
    text: arbitraryText,
    number: fc.nat(1_000_000),
    bytes: fc.uint8Array({ maxLength: 40 }),
  })
}

/** The node without what it refers to; buffers and views complete. */
function shellOf(
  node: DrawnNode,
  nodes: readonly DrawnNode[],
  buffers: ReadonlyMap<DrawnNode, ArrayBuffer>,
): object {
  switch (node.kind) {
    case 'object':
      return {}
    case 'array':
      return []
    case 'map':
      return new Map()
    case 'set':
      return new Set()
    case 'error': {
      const Class = ERRORS[node.number % ERRORS.length] ?? Error
      const error = node.places.length % 2 === 0 ? new Class(node.text) : new Class()
      if (node.number % 7 === 0) {
        Object.defineProperty(error, 'name', { value: 'CustomError', writable: true, configurable: true })
      }
      return error
    }
    case 'date':
      return new Date(node.places.length === 0 ? Number.NaN : node.number * 1e7 - 1e12)
    case 'regexp': {
      const [source, flags] = PATTERNS[node.number % PATTERNS.length] ?? ['', '']
      return new RegExp(source, flags)
    }
    case 'boxed': {
      const primitives = [node.number, node.text, node.number % 2 === 0, BigInt(node.number)]
      return Object(primitives[node.places.length % 4]) as object
    }
    case 'buffer':
      return buffers.get(node) as ArrayBuffer
    case 'view': {
      // Over the buffer of another node, or over its own.
      const holders = nodes.filter((other) => other.kind === 'buffer')
      const holder =
        node.places.length % 2 === 0 ? undefined : holders[node.number % Math.max(1, holders.length)]
      const buffer = (holder && buffers.get(holder)) ?? node.bytes.slice().buffer
      const View = VIEWS[node.number % VIEWS.length] ?? Uint8Array
      const width = (View as { BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1
      const elements = Math.floor(buffer.byteLength / width)
      const start = node.text.length % 3 === 0 ? 0 : node.number % (elements + 1)
      return new View(
        buffer,
        start * width,
        node.text.length % 3 === 0 ? elements : (node.number >> 4) % (elements - start + 1),
      )
    }
  }
}

function connect(node: DrawnNode, object: object, valueAt: (place: Place) => unknown): void {
  const define = (key: string, value: unknown): void => {
    Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true })
  }
  switch (node.kind) {
    case 'object':
      for (const [i, place] of node.places.entries()) define(node.keys[i] as string, valueAt(place))
      return
    case 'array': {
      const array = object as unknown[]
      for (const place of node.places) array.push(valueAt(place))
      if (node.number % 4 === 0 && array.length > 0) delete array[node.number % array.length]
      if (node.number % 5 === 0) array.length += node.number % 3
      const extra = node.keys[0] as string
      if (node.number % 7 === 0 && extra !== 'length' && !/^\d+$/.test(extra)) define(extra, node.text)
      return
    }
    case 'map':
      for (let i = 0; i + 1 < node.places.length; i += 2) {
        ;(object as Map<unknown, unknown>).set(
          valueAt(node.places[i] as Place),
          valueAt(node.places[i + 1] as Place),
        )
      }
      return
    case 'set':
      for (const place of node.places) (object as Set<unknown>).add(valueAt(place))
      return
    case 'error': {
      const [cause] = node.places
      if (cause)
        Object.defineProperty(object, 'cause', { value: valueAt(cause), writable: true, configurable: true })
      return
    }
    default:
      // Leaves have no places.
      return
  }
}

/** A value that can cross every border: a primitive, or a graph with sharing and cycles. */
export function arbitraryValue(options: ArbitraryValueOptions = {}): fc.Arbitrary<unknown> {
  const kinds = options.kinds ?? EVERY_KIND
  const graph = fc
    .array(drawnNode(kinds), { minLength: 1, maxLength: options.maxNodes ?? 12 })
    .map((nodes) => {
      const buffers = new Map<DrawnNode, ArrayBuffer>()
      for (const node of nodes) if (node.kind === 'buffer') buffers.set(node, node.bytes.slice().buffer)
      const objects = nodes.map((node) => shellOf(node, nodes, buffers))
      const valueAt = (place: Place): unknown =>
        'node' in place ? objects[place.node % objects.length] : place.primitive
      for (const [i, node] of nodes.entries()) connect(node, objects[i] as object, valueAt)
      return objects[0]
    })
  return fc.oneof({ weight: 1, arbitrary: arbitraryPrimitive }, { weight: 6, arbitrary: graph })
}
