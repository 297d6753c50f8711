/**
 * Canonical bytes of small plain values, in one pass: objects, arrays, texts, numbers, and little of them, as the events
 * of a run and the arguments of its calls are. Counting, copying and sorting such a value before it is encoded takes
 * several times as long as writing its bytes (`npm run bench -- graph`, a step of a chain).
 *
 * Invariants
 * 1. The bytes are those that `encodeCanonical` gives, and the copy is what `decodeCanonical` makes of them. Whatever is
 *    larger, of another kind, or to be refused is left to those two: nothing is decided here.
 * 2. Every place of the value is read once, and no accessor of it runs. Traps of a Proxy may run, and may come back here
 *    while they do: then they find it busy.
 */
import { CANONICAL_VERSION, NAN_HIGH_WORD, TAG } from './canonical-format.ts'
import type { ValueLimits } from './limits.ts'

const CAPACITY = 4_096
/** Containers of one value; the path to the last one may lead through all others. */
const MOST_CONTAINERS = 24
/** Properties or elements of one container. */
const MOST_PLACES = 64
/** A tag, and a number or the length of a text. */
const PLACE_BYTES = 16
/** No place takes more by the size rule than so many times its bytes here. */
const RULE_BYTES = 8

const keysOf = Object.keys
const descriptorOf = Object.getOwnPropertyDescriptor
const prototypeOf = Object.getPrototypeOf
const isArray = Array.isArray

type FindGetter = (this: object, key: PropertyKey) => unknown

// Finds a getter without running it, and without the object that a descriptor is.
const lookupGetter = (Object.prototype as { __lookupGetter__?: FindGetter }).__lookupGetter__

/** What was written. */
export interface PlainBytes {
  /** A view of bytes that the next value is written over: to be used, or copied, at once. */
  readonly bytes: Uint8Array
  /** A copy of the value, with the members of objects in their canonical order; where one was asked for. */
  readonly copy: unknown
}

/**
 * The canonical bytes of a small plain value.
 * @param isCopied whether a copy of the value is made
 * @returns undefined for any other value
 */
export function encodePlain(
  value: unknown,
  limits: ValueLimits,
  isCopied: boolean = false,
): PlainBytes | undefined {
  if (
    encoder.isBusy ||
    lookupGetter === undefined ||
    limits.bytes < RULE_BYTES * CAPACITY ||
    limits.nodes < CAPACITY ||
    limits.depth < MOST_CONTAINERS
  )
    return undefined
  return encoder.encode(value, isCopied, lookupGetter)
}

class PlainEncoder {
  isBusy = false
  readonly #bytes = new Uint8Array(CAPACITY)
  readonly #view = new DataView(this.#bytes.buffer)
  #length = 0
  /** Containers in the order in which they were met, and their copies. */
  readonly #met: object[] = []
  readonly #copies: object[] = []
  #isCopied = false

  encode(value: unknown, isCopied: boolean, getterOf: FindGetter): PlainBytes | undefined {
    this.isBusy = true
    this.#isCopied = isCopied
    this.#bytes[0] = CANONICAL_VERSION
    this.#length = 1
    try {
      const copy = this.#place(value)
      for (let i = 0; i < this.#met.length; i++) {
        const source = this.#met[i] as object
        const made = this.#copies[i]
        if (isArray(source)) this.#elements(source, made as unknown[] | undefined, getterOf)
        else this.#members(source, made as Record<string, unknown> | undefined, getterOf)
      }
      return { bytes: this.#bytes.subarray(0, this.#length), copy }
    } catch {
      // Not for this one, or a trap threw: whoever takes any value says what is wrong.
      return undefined
    } finally {
      this.#met.length = 0
      this.#copies.length = 0
      this.isBusy = false
    }
  }

  /** @returns what stands for the value in the copy */
  #place(value: unknown): unknown {
    if (this.#length + PLACE_BYTES > CAPACITY) throw OTHER
    const bytes = this.#bytes
    switch (typeof value) {
      case 'string':
        this.#text(value)
        return value
      case 'number':
        bytes[this.#length] = TAG.number
        if (Number.isNaN(value)) {
          this.#view.setUint32(this.#length + 1, 0, true)
          this.#view.setUint32(this.#length + 5, NAN_HIGH_WORD, true)
        } else this.#view.setFloat64(this.#length + 1, value, true)
        this.#length += 9
        return value
      case 'boolean':
        bytes[this.#length++] = value ? TAG.true : TAG.false
        return value
      case 'undefined':
        bytes[this.#length++] = TAG.undefined
        return value
      case 'object':
        if (value !== null) return this.#object(value)
        bytes[this.#length++] = TAG.null
        return null
      default:
        throw OTHER
    }
  }

  #object(value: object): unknown {
    const met = this.#met
    for (let i = 0; i < met.length; i++) {
      if (met[i] !== value) continue
      this.#bytes[this.#length++] = TAG.reference
      this.#bytes[this.#length++] = i
      return this.#copies[i]
    }
    if (met.length === MOST_CONTAINERS) throw OTHER
    const prototype: unknown = prototypeOf(value)
    const isList = isArray(value)
    if (isList ? prototype !== Array.prototype : prototype !== Object.prototype && prototype !== null)
      throw OTHER
    this.#bytes[this.#length++] = isList ? TAG.array : TAG.object
    met.push(value)
    if (!this.#isCopied) return undefined
    const copy = isList ? [] : {}
    this.#copies.push(copy)
    return copy
  }

  #members(source: object, copy: Record<string, unknown> | undefined, getterOf: FindGetter): void {
    const keys = keysOf(source)
    if (keys.length > MOST_PLACES || this.#length + PLACE_BYTES > CAPACITY) throw OTHER
    sort(keys)
    this.#bytes[this.#length++] = keys.length
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i] as string
      if (key === '__proto__') throw OTHER
      this.#text(key)
      const placed = this.#place(read(source, key, getterOf))
      if (copy !== undefined) copy[key] = placed
    }
  }

  #elements(source: readonly unknown[], copy: unknown[] | undefined, getterOf: FindGetter): void {
    const { length } = source
    // No holes, and nothing beside the elements: then there are as many keys, the last of which is the last index.
    const keys = keysOf(source)
    if (length > MOST_PLACES || keys.length !== length || this.#length + PLACE_BYTES > CAPACITY) throw OTHER
    if (length > 0 && keys[length - 1] !== String(length - 1)) throw OTHER
    this.#bytes[this.#length++] = length
    for (let i = 0; i < length; i++) {
      const placed = this.#place(read(source, i, getterOf))
      copy?.push(placed)
    }
    if (this.#length === CAPACITY) throw OTHER
    this.#bytes[this.#length++] = 0
  }

  #text(text: string): void {
    const { length } = text
    if (this.#length + 2 * length + PLACE_BYTES > CAPACITY) throw OTHER
    const bytes = this.#bytes
    const start = this.#length
    let at = start + 1
    if (length > 0x7f) bytes[at++] = (length & 0x7f) | 0x80
    bytes[at++] = length > 0x7f ? length >>> 7 : length
    for (let i = 0; i < length; i++) {
      const unit = text.charCodeAt(i)
      if (unit > 0xff) {
        this.#wideText(text, at - i)
        return
      }
      bytes[at++] = unit
    }
    bytes[start] = TAG.latin1
    this.#length = at
  }

  /** @param from where its units begin: tag and length stand before them */
  #wideText(text: string, from: number): void {
    const bytes = this.#bytes
    bytes[this.#length] = TAG.utf16
    let at = from
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      bytes[at++] = unit & 0xff
      bytes[at++] = unit >>> 8
    }
    this.#length = at
  }
}

/** The value of an own data property. */
function read(source: object, key: string | number, getterOf: FindGetter): unknown {
  if (getterOf.call(source, key) !== undefined) throw OTHER
  const value = (source as Readonly<Record<string | number, unknown>>)[key]
  // Undefined, or a setter alone: the descriptor tells.
  if (value === undefined && !('value' in (descriptorOf(source, key) ?? OTHER))) throw OTHER
  return value
}

/** By UTF-16 units. Few keys, mostly in order: sorting them in place takes a third of what the built-in one takes. */
function sort(keys: string[]): void {
  for (let i = 1; i < keys.length; i++) {
    const key = keys[i] as string
    let at = i - 1
    while (at >= 0 && (keys[at] as string) > key) {
      keys[at + 1] = keys[at] as string
      at -= 1
    }
    keys[at + 1] = key
  }
}

/** Thrown for a value that is left to others: made once, as a stack takes longer than the value. */
const OTHER: Error = new Error('Not a small plain value.')

const encoder: PlainEncoder = new PlainEncoder()
