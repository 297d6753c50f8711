/**
 * Encodes a host value that is a plain tree, in one pass and without an index of what was met: the common
 * case of a capability's answer.
 *
 * It gives up, without a word, on everything else: shared or cyclic references, kinds that the engine's
 * decoder does not know, values that exceed the limits or cannot cross. Whoever called then takes the general
 * way, which knows how to say what is wrong and where.
 *
 * Invariants
 * 1. No accessor of the value runs. Where a trap of a Proxy throws, so does this.
 * 2. A tree that is encoded is complete and within the limits, and `bytes` is its canonical size.
 */
import type { ValueLimits } from '../../values/limits.ts'
import {
  bufferByteLength,
  dateTime,
  isUnstableBuffer,
  VIEW_TYPES,
  viewParts,
} from '../../values/object-parts.ts'
import { kindOf } from '../../values/value-kind.ts'
import { bigintBytes, NODE_BYTES } from '../../values/value-meter.ts'
import { VIEW_ORDER } from './bridge-source.ts'
import type { BytecodeBuffer } from './bytecode-buffer.ts'

/**
 * Nesting of a tree that is encoded this way: the engine's decoder recurses on the guest's stack, and this
 * encoder on the host's.
 */
export const MAX_TREE_DEPTH = 32
/** Objects of a tree are compared pairwise up to this many, then by a set. */
const MANY = 24

const keysOf = Object.keys
const descriptorOf = Object.getOwnPropertyDescriptor
// A fourth of the cost of a descriptor where the key is an index, and as safe: finding an accessor runs nothing.
const lookupGetter = (Object.prototype as { __lookupGetter__?: (key: PropertyKey) => unknown })
  .__lookupGetter__
const prototypeOf = Object.getPrototypeOf
const isArray = Array.isArray

export class TreeEncoder {
  bytes = 0
  #nodes = 0
  #limits: ValueLimits = { bytes: 0, nodes: 0, depth: 0 }
  readonly #out: BytecodeBuffer
  #met: object[] = []
  #metSet: Set<object> | undefined

  constructor(out: BytecodeBuffer) {
    this.#out = out
  }

  /** Appends `value`. False when it is not a plain tree within `limits`; what was appended is then void. */
  encode(value: unknown, limits: ValueLimits): boolean {
    this.bytes = 0
    this.#nodes = 1
    this.#limits = limits
    try {
      return this.#value(value, 1) && this.bytes <= limits.bytes && this.#nodes <= limits.nodes
    } finally {
      this.#met = []
      this.#metSet = undefined
    }
  }

  #value(value: unknown, depth: number): boolean {
    const out = this.#out
    switch (typeof value) {
      case 'string':
        this.bytes += value.length
        if (this.bytes > this.#limits.bytes) return false
        out.string(value)
        return true
      case 'number':
        this.bytes += NODE_BYTES
        out.number(value)
        return true
      case 'boolean':
        this.bytes += NODE_BYTES
        out.boolean(value)
        return true
      case 'undefined':
        this.bytes += NODE_BYTES
        out.undefined()
        return true
      case 'bigint':
        this.bytes += bigintBytes(value, this.#limits.bytes)
        if (this.bytes > this.#limits.bytes) return false
        out.bigInt(value)
        return true
      case 'object':
        if (value !== null) return this.#object(value, depth)
        this.bytes += NODE_BYTES
        out.null()
        return true
      default:
        return false
    }
  }

  #object(value: object, depth: number): boolean {
    if (depth > MAX_TREE_DEPTH || depth > this.#limits.depth || this.#isShared(value)) return false
    this.bytes += NODE_BYTES
    if (this.bytes > this.#limits.bytes || this.#nodes > this.#limits.nodes) return false
    if (isArray(value)) return this.#array(value, depth)
    if (prototypeOf(value) === Object.prototype) return this.#plain(value, depth)
    switch (kindOf(value)) {
      case 'object':
        return this.#plain(value, depth)
      case 'date':
        this.#out.date(dateTime(value))
        return true
      case 'view':
        return this.#view(value)
      default:
        return false
    }
  }

  #plain(value: object, depth: number): boolean {
    const keys = keysOf(value)
    const out = this.#out
    this.#nodes += keys.length
    out.object(keys.length)
    for (let i = 0; i < keys.length; i += 1) {
      const key = keys[i] as string
      const descriptor = descriptorOf(value, key)
      const part: unknown = descriptor?.value
      if (part === undefined && (descriptor === undefined || !('value' in descriptor))) return false
      this.bytes += key.length
      out.name(key)
      if (!this.#value(part, depth + 1)) return false
    }
    return true
  }

  #array(value: unknown[], depth: number): boolean {
    const { length } = value
    this.#nodes += length
    if (this.#nodes > this.#limits.nodes) return false
    const keys = keysOf(value)
    // Indices come first and in order: if the last of `length` keys is the last index, all are indices.
    if (keys.length !== length || (length > 0 && keys[length - 1] !== String(length - 1))) return false
    this.#out.array(length)
    for (let i = 0; i < length; i += 1) {
      let element =
        lookupGetter !== undefined && lookupGetter.call(value, i) === undefined ? value[i] : undefined
      if (element === undefined) {
        // Undefined, an accessor, or a setter alone: the descriptor tells.
        const descriptor = descriptorOf(value, i)
        if (descriptor === undefined || !('value' in descriptor)) return false
        element = descriptor.value
      }
      if (!this.#value(element, depth + 1)) return false
    }
    return true
  }

  /** A typed array that has its buffer for itself, as far as this value goes. */
  #view(value: object): boolean {
    const { buffer, byteOffset, byteLength, type } = viewParts(value)
    const kind = VIEW_TYPES[type]
    const position = kind === undefined ? -1 : VIEW_ORDER.indexOf(kind.name)
    if (kind === undefined || position < 0 || kind.name === 'DataView') return false
    if (isUnstableBuffer(buffer) || this.#isShared(buffer)) return false
    this.#nodes += 1
    this.bytes += byteLength
    if (this.bytes > this.#limits.bytes || bufferByteLength(buffer) < byteOffset + byteLength) return false
    this.#out.typedArray(position, byteLength / kind.elementBytes, 0)
    this.#out.buffer(new Uint8Array(buffer, byteOffset, byteLength))
    return true
  }

  #isShared(value: object): boolean {
    const met = this.#met
    if (this.#metSet !== undefined) {
      if (this.#metSet.has(value)) return true
      this.#metSet.add(value)
      return false
    }
    for (let i = 0; i < met.length; i += 1) if (met[i] === value) return true
    met.push(value)
    if (met.length > MANY) this.#metSet = new Set(met)
    return false
  }
}
