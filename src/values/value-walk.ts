/**
 * The one walk over a host value: counts it against its limits and, if asked, copies it.
 *
 * Invariants
 * 1. Nothing is copied before it was counted, so that memory taken stays within the limits.
 * 2. No recursion: nesting and sharing of the value never meet the native stack, and a graph that is
 *    exponential as a tree costs its size as a graph.
 * 3. No accessor of the value runs; one that is enumerable is refused. Traps of a Proxy may run; whatever they
 *    throw becomes `value_refused`.
 * 4. The copy is made of fresh plain objects of this realm: own enumerable string-keyed properties with their
 *    values, sharing and cycles kept. `__proto__` as a key is data.
 * 5. A view takes along its whole buffer only when it shows all of it, or when the value holds the buffer
 *    otherwise. Any other view gets a buffer of just the bytes that it shows: a Node `Buffer` is a window into
 *    a pool with other people's bytes.
 */
import { CaissonError } from '../base/errors.ts'
import { createError, ErrorPropertyRefused, errorParts, setCause } from './error-value.ts'
import type { ValueLimits } from './limits.ts'
import { ObjectIndex } from './object-index.ts'
import {
  bufferByteLength,
  copyBytes,
  createView,
  isArrayIndex,
  isUnstableBuffer,
  setProperty,
  viewParts,
} from './object-parts.ts'
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
  if (first.carriedLate === undefined) return walked
  // A view was met before the buffer that it shares with the rest of the value. Once more, knowing that.
  return new Walk(limits, root, build, first.carriedLate).run(value)
}

class Walk {
  /** Buffers that travel whole although a view of a part of them was met first. */
  carriedLate: Set<ArrayBuffer> | undefined
  private readonly root: string
  private readonly build: boolean
  private readonly meter: ValueMeter
  private readonly met = new ObjectIndex()
  /** The copy of each object in `met`, by its number. */
  private readonly copies: unknown[] = []
  private readonly queue: Container[] = []
  private readonly carried: ReadonlySet<ArrayBuffer> | undefined
  private windowed: Set<ArrayBuffer> | undefined
  private unfreezable = false
  /** Where the walk stands, for messages. */
  private current: Container | undefined
  private key: string | number = ''

  constructor(
    limits: ValueLimits,
    root: string,
    build: boolean,
    carried: ReadonlySet<ArrayBuffer> | undefined,
  ) {
    this.root = root
    this.build = build
    this.carried = carried
    this.meter = new ValueMeter(limits, () => this.path())
  }

  run(value: unknown): Walked {
    try {
      this.meter.addNodes(1)
      const copy = this.place(value, '')
      for (let i = 0; i < this.queue.length; i++) {
        const container = this.queue[i] as Container
        this.current = container
        this.fill(container)
      }
      const { bytes, nodes } = this.meter
      return { copy, bytes, nodes, containers: this.queue, unfreezable: this.unfreezable }
    } catch (error) {
      if (error instanceof CaissonError) throw error
      if (error instanceof ErrorPropertyRefused) {
        throw this.refused(`has a "${error.property}" that is not plain data`, 'accessor')
      }
      // A trap of a Proxy, a detached buffer, a typed array that the runtime cannot allocate.
      throw this.refused('could not be read', 'unreadable', error)
    }
  }

  /** What stands for `value` in the copy. The node itself was counted by its container. */
  private place(value: unknown, key: string | number): unknown {
    this.key = key
    switch (typeof value) {
      case 'string':
        this.meter.addBytes(value.length)
        return value
      case 'number':
      case 'boolean':
      case 'undefined':
        this.meter.addBytes(NODE_BYTES)
        return value
      case 'bigint':
        this.meter.addBigint(value)
        return value
      case 'object':
        if (value !== null) return this.object(value, key)
        this.meter.addBytes(NODE_BYTES)
        return null
      default:
        throw this.refused(`is a ${typeof value}`, typeof value)
    }
  }

  private object(value: object, key: string | number): unknown {
    const known = this.met.find(value)
    if (known >= 0) {
      this.meter.addBytes(NODE_BYTES)
      return this.copies[known]
    }
    const kind = kindOf(value)
    switch (kind) {
      case 'object':
        return this.container(kind, value, this.build ? {} : undefined, key)
      case 'array':
        return this.container(kind, value, this.build ? [] : undefined, key)
      case 'map':
        this.unfreezable = true
        return this.container(kind, value, this.build ? new Map() : undefined, key)
      case 'set':
        this.unfreezable = true
        return this.container(kind, value, this.build ? new Set() : undefined, key)
      case 'error':
        return this.error(value, key)
      case undefined:
        throw this.refused('is an object of the host that cannot be copied as data', 'host object')
      case 'buffer':
        return this.buffer(value as ArrayBuffer)
      case 'view':
        return this.view(value)
      default:
        if (kind !== 'boxed') this.unfreezable = true
        return this.remember(value, copyLeaf(kind, value, this.meter))
    }
  }

  private container(
    kind: ContainerKind,
    source: object,
    copy: object | undefined,
    key: string | number,
  ): object | undefined {
    const parent = this.current
    const depth = parent === undefined ? 1 : parent.depth + 1
    this.meter.checkDepth(depth)
    this.meter.addBytes(NODE_BYTES)
    this.queue.push({ kind, source, copy, depth, parent, key })
    this.met.add(source)
    this.copies.push(copy)
    return copy
  }

  private remember<T>(source: object, copy: T): T {
    this.met.add(source)
    this.copies.push(copy)
    return copy
  }

  private error(value: object, key: string | number): unknown {
    const { name, message } = errorParts(value)
    this.meter.addBytes(name.length + (message?.length ?? 0))
    return this.container('error', value, this.build ? createError(name, message) : undefined, key)
  }

  private buffer(source: ArrayBuffer): ArrayBuffer | undefined {
    this.refuseUnstable(source)
    this.unfreezable = true
    const length = bufferByteLength(source)
    this.meter.addBytes(length)
    if (this.windowed?.has(source)) {
      this.carriedLate ??= new Set()
      this.carriedLate.add(source)
    }
    return this.remember(source, this.build ? copyBytes(source, 0, length) : undefined)
  }

  private view(source: object): unknown {
    const { buffer, byteOffset, byteLength, type } = viewParts(source)
    if (type < 0) throw this.refused('is a typed array of an unknown kind', 'view')
    this.refuseUnstable(buffer)
    this.unfreezable = true
    this.meter.addNodes(1)
    this.meter.addBytes(NODE_BYTES)
    const known = this.met.find(buffer)
    const travelsWhole =
      known >= 0 || byteLength === bufferByteLength(buffer) || this.carried?.has(buffer) === true
    if (!travelsWhole) {
      this.windowed ??= new Set()
      this.windowed.add(buffer)
      this.meter.addBytes(byteLength)
      const copy = this.build
        ? createView(type, copyBytes(buffer, byteOffset, byteLength), 0, byteLength)
        : undefined
      return this.remember(source, copy)
    }
    if (known >= 0) this.meter.addBytes(NODE_BYTES)
    const whole = known >= 0 ? (this.copies[known] as ArrayBuffer | undefined) : this.buffer(buffer)
    return this.remember(source, whole && createView(type, whole, byteOffset, byteLength))
  }

  private refuseUnstable(buffer: object): void {
    if (isUnstableBuffer(buffer)) throw this.refused('has a shared, resizable or detached buffer', 'buffer')
  }

  private fill(container: Container): void {
    switch (container.kind) {
      case 'object': {
        const keys = keysOf(container.source)
        this.meter.addNodes(keys.length)
        for (let i = 0; i < keys.length; i++) this.property(container, keys[i] as string)
        return
      }
      case 'array':
        this.fillArray(container, container.source as unknown[])
        return
      case 'map':
        this.fillMap(container.source, container.copy as Map<unknown, unknown> | undefined)
        return
      case 'set':
        this.fillSet(container.source, container.copy as Set<unknown> | undefined)
        return
      case 'error':
        this.fillError(container.source, container.copy as Error | undefined)
    }
  }

  private fillError(source: object, copy: Error | undefined): void {
    const { hasCause, cause } = errorParts(source)
    if (!hasCause) return
    this.meter.addNodes(1)
    const placed = this.place(cause, 'cause')
    if (copy !== undefined) setCause(copy, placed)
  }

  /** The value of the own data property `key`. */
  private data(source: object, key: string): unknown {
    const descriptor = descriptorOf(source, key)
    const value: unknown = descriptor?.value
    if (value === undefined && (descriptor === undefined || !('value' in descriptor))) {
      this.key = key
      throw this.refused('is an accessor; only plain data can be copied', 'accessor')
    }
    return value
  }

  /** Copies the named property `key`, whose node was counted. */
  private property(container: Container, key: string): void {
    this.meter.addBytes(key.length)
    const placed = this.place(this.data(container.source, key), key)
    if (container.copy !== undefined) setProperty(container.copy, key, placed)
  }

  private fillArray(container: Container, source: unknown[]): void {
    const { length } = source
    this.meter.addNodes(length)
    const keys = keysOf(source)
    const copy = container.copy as unknown[] | undefined
    if (copy !== undefined) copy.length = length
    // Indices come first and in order: if the last of `length` keys is the last index, all are indices.
    const dense = keys.length === length && (length === 0 || keys[length - 1] === String(length - 1))
    if (!dense || lookupGetter === undefined) {
      this.fillSparse(container, keys, length)
      return
    }
    for (let i = 0; i < length; i++) {
      let value = lookupGetter.call(source, i) === undefined ? source[i] : undefined
      // Undefined, an accessor, or a setter alone: the descriptor tells.
      if (value === undefined) value = this.data(source, String(i))
      const placed = this.place(value, i)
      if (copy !== undefined) copy[i] = placed
    }
  }

  private fillSparse(container: Container, keys: readonly string[], length: number): void {
    let indices = 0
    while (indices < keys.length && isArrayIndex(keys[indices] as string)) indices++
    this.meter.addBytes((length - indices) * NODE_BYTES)
    this.meter.addNodes(keys.length - indices)
    const copy = container.copy as unknown[] | undefined
    for (let i = 0; i < indices; i++) {
      const index = Number(keys[i])
      const placed = this.place(this.data(container.source, keys[i] as string), index)
      if (copy !== undefined) copy[index] = placed
    }
    for (let i = indices; i < keys.length; i++) this.property(container, keys[i] as string)
  }

  private fillMap(source: object, copy: Map<unknown, unknown> | undefined): void {
    this.meter.addNodes(2 * mapSize.call(source))
    let entry = 0
    mapForEach.call(source, (value: unknown, key: unknown) => {
      const placedKey = this.place(key, 2 * entry)
      const placedValue = this.place(value, 2 * entry + 1)
      copy?.set(placedKey, placedValue)
      entry++
    })
  }

  private fillSet(source: object, copy: Set<unknown> | undefined): void {
    this.meter.addNodes(setSize.call(source))
    let entry = 0
    setForEach.call(source, (element: unknown) => {
      const placed = this.place(element, entry)
      copy?.add(placed)
      entry++
    })
  }

  private path(): string {
    return placePath(this.root, this.current, this.key)
  }

  private refused(what: string, kind: string, cause?: unknown): CaissonError {
    const path = this.path()
    return new CaissonError('value_refused', `${path} ${what}.`, { details: { path, kind }, cause })
  }
}

/** Most arguments and results of a tight loop of calls: not worth a walk. */
function isSmall(value: unknown): boolean {
  return value === undefined || value === null || typeof value === 'number' || typeof value === 'boolean'
}
