/**
 * The one walk over a host value: counts it against its limits and, if asked, copies it.
 *
 * Invariants
 * 1. Nothing is copied before it was counted, so that memory taken stays within the limits.
 * 2. No recursion: nesting and sharing of the value never meet the native stack, and a graph that is
 *    exponential as a tree costs its size as a graph.
 * 3. No accessor of the value runs; one that is enumerable is refused. Traps of a Proxy may run; whatever they
 *    throw becomes `value_refused`.
 * 4. The copy is made of fresh objects of this realm: own enumerable string-keyed properties with their values,
 *    sharing and cycles kept. `__proto__` as a key is data.
 */
import { CaissonError } from '../base/errors.ts'
import { BinaryCopy, BinaryRefused } from './binary-copy.ts'
import { CopyTable } from './copy-table.ts'
import { createError, ErrorPropertyRefused, errorParts, setCause } from './error-value.ts'
import type { ValueLimits } from './limits.ts'
import { isArrayIndex, setProperty } from './object-parts.ts'
import { type ContainerKind, kindOf } from './value-kind.ts'
import { copyLeaf } from './value-leaf.ts'
import { NODE_BYTES, ValueMeter } from './value-meter.ts'
import { type Holder, placePath } from './value-path.ts'

/** A container that was met; what it holds is walked when its turn in the queue comes. */
interface Container extends Holder {
  readonly source: object
  /** The copy, filled later; undefined when only counting. */
  readonly copy: object | undefined
  readonly depth: number
  readonly parent: Container | undefined
}

const keysOf = Object.keys
const descriptorOf = Object.getOwnPropertyDescriptor
const mapForEach = Map.prototype.forEach
const setForEach = Set.prototype.forEach
const mapSize = descriptorOf(Map.prototype, 'size')?.get as (this: unknown) => number
const setSize = descriptorOf(Set.prototype, 'size')?.get as (this: unknown) => number

// A fourth of the cost of a descriptor where the key is an index, and as safe: finding an accessor runs nothing.
const lookupGetter = (Object.prototype as { __lookupGetter__?: (key: PropertyKey) => unknown })
  .__lookupGetter__

/** What a walk found. */
export interface Walked {
  /** The copy; undefined when only counting. */
  readonly copy: unknown
  readonly bytes: number
  readonly nodes: number
  /** The copies of all containers, in the order in which they were met. */
  readonly containers: readonly { readonly kind: ContainerKind; readonly copy: object | undefined }[]
  /** Whether the value holds anything that `Object.freeze` cannot make constant. */
  readonly unfreezable: boolean
}

/**
 * Walks `value`.
 * @param build whether to copy; false only counts
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`, naming the path below `root`
 */
export function walkValue(value: unknown, limits: ValueLimits, root: string, build: boolean): Walked {
  if (isSmall(value) && limits.bytes >= NODE_BYTES && limits.nodes >= 1) {
    return { copy: value, bytes: NODE_BYTES, nodes: 1, containers: [], unfreezable: false }
  }
  const first = new Walk(limits, root, build, undefined)
  const walked = first.run(value)
  if (first.cutTooEarly === undefined) return walked
  return new Walk(limits, root, build, first.cutTooEarly).run(value)
}

/** Most arguments and results of a tight loop of calls: not worth a walk. */
function isSmall(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean'
}

class Walk {
  readonly #root: string
  readonly #build: boolean
  readonly #meter: ValueMeter
  readonly #table = new CopyTable()
  readonly #binary: BinaryCopy
  readonly #queue: Container[] = []
  #unfreezable = false
  /** Where the walk stands, for messages. */
  #current: Container | undefined
  #key: string | number = ''

  constructor(
    limits: ValueLimits,
    root: string,
    build: boolean,
    wholeBuffers: ReadonlySet<ArrayBuffer> | undefined,
  ) {
    this.#root = root
    this.#build = build
    this.#meter = new ValueMeter(limits, () => this.#path())
    this.#binary = new BinaryCopy(this.#table, this.#meter, build, wholeBuffers)
  }

  /** Buffers to know of before a second walk, which is needed if there are any. */
  get cutTooEarly(): ReadonlySet<ArrayBuffer> | undefined {
    return this.#binary.cutTooEarly
  }

  run(value: unknown): Walked {
    try {
      this.#meter.addNodes(1)
      const copy = this.#place(value, '')
      for (let i = 0; i < this.#queue.length; i++) {
        const container = this.#queue[i] as Container
        this.#current = container
        this.#fill(container)
      }
      const { bytes, nodes } = this.#meter
      return { copy, bytes, nodes, containers: this.#queue, unfreezable: this.#unfreezable }
    } catch (error) {
      if (error instanceof CaissonError) throw error
      if (error instanceof BinaryRefused) throw this.#refused(error.message, 'buffer')
      if (error instanceof ErrorPropertyRefused) {
        throw this.#refused(`has a "${error.property}" that is not plain data`, 'accessor')
      }
      // A trap of a Proxy, or an array that the runtime cannot allocate.
      throw this.#refused('could not be read', 'unreadable', error)
    }
  }

  /** What stands for `value` in the copy. The node itself was counted by its container. */
  #place(value: unknown, key: string | number): unknown {
    this.#key = key
    switch (typeof value) {
      case 'string':
        this.#meter.addBytes(value.length)
        return value
      case 'number':
      case 'boolean':
      case 'undefined':
        this.#meter.addBytes(NODE_BYTES)
        return value
      case 'bigint':
        this.#meter.addBigint(value)
        return value
      case 'object':
        if (value !== null) return this.#object(value, key)
        this.#meter.addBytes(NODE_BYTES)
        return null
      default:
        throw this.#refused(`is a ${typeof value}`, typeof value)
    }
  }

  #object(value: object, key: string | number): unknown {
    const known = this.#table.find(value)
    if (known >= 0) {
      this.#meter.addBytes(NODE_BYTES)
      return this.#table.copyOf(known)
    }
    const kind = kindOf(value)
    switch (kind) {
      case 'object':
        return this.#container(kind, value, this.#build ? {} : undefined, key)
      case 'array':
        return this.#container(kind, value, this.#build ? [] : undefined, key)
      case 'boxed':
        return this.#table.add(value, copyLeaf(kind, value, this.#meter))
      case 'error': {
        const { name, message } = errorParts(value)
        this.#meter.addBytes(name.length + (message?.length ?? 0))
        return this.#container(kind, value, this.#build ? createError(name, message) : undefined, key)
      }
      case undefined:
        throw this.#refused('is an object of the host that cannot be copied as data', 'host object')
      default:
        // The kinds that no freezing protects.
        break
    }
    this.#unfreezable = true
    switch (kind) {
      case 'map':
        return this.#container(kind, value, this.#build ? new Map() : undefined, key)
      case 'set':
        return this.#container(kind, value, this.#build ? new Set() : undefined, key)
      case 'buffer':
        return this.#binary.buffer(value as ArrayBuffer)
      case 'view':
        return this.#binary.view(value)
      default:
        return this.#table.add(value, copyLeaf(kind, value, this.#meter))
    }
  }

  #container(
    kind: ContainerKind,
    source: object,
    copy: object | undefined,
    key: string | number,
  ): object | undefined {
    const parent = this.#current
    const depth = parent === undefined ? 1 : parent.depth + 1
    this.#meter.checkDepth(depth)
    this.#meter.addBytes(NODE_BYTES)
    this.#queue.push({ kind, source, copy, depth, parent, key })
    return this.#table.add(source, copy)
  }

  #fill(container: Container): void {
    const { source, copy } = container
    switch (container.kind) {
      case 'object': {
        const keys = keysOf(source)
        this.#meter.addNodes(keys.length)
        for (let i = 0; i < keys.length; i++) this.#property(container, keys[i] as string)
        return
      }
      case 'array':
        this.#fillArray(container, source as unknown[])
        return
      case 'map':
        this.#fillMap(source, copy as Map<unknown, unknown> | undefined)
        return
      case 'set':
        this.#fillSet(source, copy as Set<unknown> | undefined)
        return
      case 'error':
        this.#fillError(source, copy as Error | undefined)
    }
  }

  #fillError(source: object, copy: Error | undefined): void {
    const { hasCause, cause } = errorParts(source)
    if (!hasCause) return
    this.#meter.addNodes(1)
    const placed = this.#place(cause, 'cause')
    if (copy !== undefined) setCause(copy, placed)
  }

  /** The value of the own data property `key`. */
  #data(source: object, key: string): unknown {
    const descriptor = descriptorOf(source, key)
    const value: unknown = descriptor?.value
    if (value === undefined && (descriptor === undefined || !('value' in descriptor))) {
      this.#key = key
      throw this.#refused('is an accessor; only plain data can be copied', 'accessor')
    }
    return value
  }

  /** Copies the named property `key`, whose node was counted. */
  #property(container: Container, key: string): void {
    this.#meter.addBytes(key.length)
    const placed = this.#place(this.#data(container.source, key), key)
    if (container.copy !== undefined) setProperty(container.copy, key, placed)
  }

  #fillArray(container: Container, source: unknown[]): void {
    const { length } = source
    this.#meter.addNodes(length)
    const keys = keysOf(source)
    const copy = container.copy as unknown[] | undefined
    // Indices come first and in order: if the last of `length` keys is the last index, all are indices.
    const dense = keys.length === length && (length === 0 || keys[length - 1] === String(length - 1))
    if (!dense || lookupGetter === undefined) {
      this.#fillSparse(container, keys, length)
      return
    }
    for (let i = 0; i < length; i++) {
      let value = lookupGetter.call(source, i) === undefined ? source[i] : undefined
      // Undefined, an accessor, or a setter alone: the descriptor tells.
      if (value === undefined) value = this.#data(source, String(i))
      const placed = this.#place(value, i)
      if (copy !== undefined) copy[i] = placed
    }
  }

  #fillSparse(container: Container, keys: readonly string[], length: number): void {
    let indices = 0
    while (indices < keys.length && isArrayIndex(keys[indices] as string)) indices++
    this.#meter.addBytes((length - indices) * NODE_BYTES)
    this.#meter.addNodes(keys.length - indices)
    const copy = container.copy as unknown[] | undefined
    if (copy !== undefined) copy.length = length
    for (let i = 0; i < indices; i++) {
      const index = Number(keys[i])
      const placed = this.#place(this.#data(container.source, keys[i] as string), index)
      if (copy !== undefined) copy[index] = placed
    }
    for (let i = indices; i < keys.length; i++) this.#property(container, keys[i] as string)
  }

  #fillMap(source: object, copy: Map<unknown, unknown> | undefined): void {
    this.#meter.addNodes(2 * mapSize.call(source))
    let entry = 0
    mapForEach.call(source, (value: unknown, key: unknown) => {
      const placedKey = this.#place(key, 2 * entry)
      const placedValue = this.#place(value, 2 * entry + 1)
      copy?.set(placedKey, placedValue)
      entry++
    })
  }

  #fillSet(source: object, copy: Set<unknown> | undefined): void {
    this.#meter.addNodes(setSize.call(source))
    let entry = 0
    setForEach.call(source, (element: unknown) => {
      const placed = this.#place(element, entry)
      copy?.add(placed)
      entry++
    })
  }

  #path(): string {
    return placePath(this.#root, this.#current, this.#key)
  }

  #refused(what: string, kind: string, cause?: unknown): CaissonError {
    const path = this.#path()
    return new CaissonError('value_refused', `${path} ${what}.`, { details: { path, kind }, cause })
  }
}
