/**
 * Canonical bytes to values. The bytes are hostile.
 *
 * Invariants
 * 1. Accepted bytes are exactly those that the decoded value encodes to: unsorted or repeated keys, longer forms of
 *    a number or a string, other NaNs, `-0` as a key of a Map and whatever else has another form are refused.
 * 2. Nothing is allocated before it was counted against the limits and the bytes that are left.
 * 3. What built-ins of the host would do for chosen keys and patterns is charged before they are called.
 * 4. No recursion. Whatever the bytes are, the only errors are `corrupted`, `value_too_large`, `value_too_deep`.
 */
import { ByteReader } from '../base/byte-reader.ts'
import { CaissonError } from '../base/errors.ts'
import { CANONICAL_VERSION, NAN_HIGH_WORD, TAG } from './canonical-format.ts'
import { createError, setCause } from './error-value.ts'
import { HostWork, keysWork, patternWork } from './host-work.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'
import { copyBytes, createView, isArrayIndex, regExpParts, setProperty, VIEW_TYPES } from './object-parts.ts'
import type { ContainerKind } from './value-kind.ts'
import { NODE_BYTES, ValueMeter } from './value-meter.ts'

/**
 * The value that `bytes` encode.
 * @throws CaissonError `corrupted` with the offset, `value_too_large`, `value_too_deep`
 */
export function decodeCanonical(bytes: Uint8Array, limits: ValueLimits = DEFAULT_VALUE_LIMITS): unknown {
  return new Decoder(bytes, limits).decode()
}

interface Container {
  readonly kind: ContainerKind
  readonly object: object
  readonly depth: number
}

const HOLE: unique symbol = Symbol('hole')

class Decoder {
  readonly #reader: ByteReader
  readonly #meter: ValueMeter
  readonly #work = new HostWork()
  /** Objects by their number. A view stands here only once its buffer was read. */
  readonly #met: (object | undefined)[] = []
  readonly #queue: Container[] = []
  #depth = 0
  /** Buffers of views that show a part of them, and buffers that travel whole. The former must be among the latter. */
  readonly #shownInPart = new Set<object>()
  readonly #carried = new Set<object>()

  constructor(bytes: Uint8Array, limits: ValueLimits) {
    this.#reader = new ByteReader(bytes)
    this.#meter = new ValueMeter(limits, () => `byte ${this.#reader.offset}`)
  }

  decode(): unknown {
    try {
      if (this.#reader.byte() !== CANONICAL_VERSION)
        throw this.#reader.corrupted('not a value of this version')
      this.#meter.addNodes(1)
      const value = this.#value()
      for (let i = 0; i < this.#queue.length; i++) {
        const container = this.#queue[i] as Container
        this.#depth = container.depth
        this.#content(container)
      }
      if (this.#reader.remaining > 0) throw this.#reader.corrupted('bytes follow the value')
      for (const buffer of this.#shownInPart) {
        if (!this.#carried.has(buffer)) throw this.#reader.corrupted('a buffer has bytes that nothing shows')
      }
      return value
    } catch (error) {
      if (error instanceof CaissonError) throw error
      // A RegExp that this runtime cannot parse, a typed array that it cannot allocate.
      throw new CaissonError('corrupted', `At byte ${this.#reader.offset}: the value cannot be made here.`, {
        cause: error,
      })
    }
  }

  /** A value; its node was counted by whatever holds it. */
  #value(): unknown {
    const value = this.#place(this.#reader.byte())
    if (value === HOLE) throw this.#reader.corrupted('a hole outside of an array')
    return value
  }

  #place(tag: number): unknown {
    switch (tag) {
      case TAG.latin1:
      case TAG.utf16:
        return this.#string(tag)
      case TAG.bigint:
      case TAG.negativeBigint:
        return this.#bigint(tag === TAG.negativeBigint)
      case TAG.buffer:
        return this.#carry(this.#buffer())
      case TAG.boxed:
        return this.#boxed()
      default:
        this.#meter.addBytes(NODE_BYTES)
    }
    switch (tag) {
      case TAG.undefined:
        return undefined
      case TAG.null:
        return null
      case TAG.false:
        return false
      case TAG.true:
        return true
      case TAG.number:
        return this.#number()
      case TAG.hole:
        return HOLE
      case TAG.reference:
        return this.#carry(this.#reference())
      case TAG.object:
        return this.#container('object', {})
      case TAG.array:
        return this.#container('array', [])
      case TAG.map:
        return this.#container('map', new Map())
      case TAG.set:
        return this.#container('set', new Set())
      case TAG.error:
      case TAG.errorWithCause:
        return this.#error(tag === TAG.errorWithCause)
      case TAG.date:
        return this.#remember(this.#date())
      case TAG.regexp:
        return this.#remember(this.#regExp())
      case TAG.view:
        return this.#view()
      default:
        throw this.#reader.corrupted(`no value starts with the byte ${tag}`)
    }
  }

  #remember<T extends object>(object: T): T {
    this.#met.push(object)
    return object
  }

  #container(kind: ContainerKind, object: object): object {
    this.#meter.checkDepth(this.#depth + 1)
    this.#queue.push({ kind, object, depth: this.#depth + 1 })
    return this.#remember(object)
  }

  #number(): number {
    const value = this.#reader.float64()
    if (!Number.isNaN(value)) return value
    this.#reader.back(8)
    if (this.#reader.uint32() !== 0 || this.#reader.uint32() !== NAN_HIGH_WORD) {
      throw this.#reader.corrupted('a NaN with other bits than the canonical one')
    }
    return value
  }

  #bigint(negative: boolean): bigint {
    const length = this.#reader.varint()
    this.#meter.addBytes(Math.max(NODE_BYTES, length))
    const bytes = this.#reader.raw(length)
    if (length === 0 && !negative) return 0n
    if (length === 0 || bytes[length - 1] === 0)
      throw this.#reader.corrupted('a bigint has a longer form than it needs')
    const digits: string[] = ['0x']
    for (let i = length - 1; i >= 0; i--) digits.push((bytes[i] as number).toString(16).padStart(2, '0'))
    const magnitude = BigInt(digits.join(''))
    return negative ? -magnitude : magnitude
  }

  /** A string whose tag was read; its node was counted. */
  #string(tag: number): string {
    const length = this.#reader.varint()
    this.#meter.addBytes(length)
    if (tag === TAG.latin1) return this.#reader.latin1(length)
    if (tag !== TAG.utf16) throw this.#reader.corrupted('a text was expected')
    const text = this.#reader.utf16(length)
    for (let i = 0; i < length; i++) if (text.charCodeAt(i) > 0xff) return text
    throw this.#reader.corrupted('a text in wide form that fits the narrow one')
  }

  #reference(): object {
    const object = this.#met[this.#reader.varint()]
    if (object === undefined) throw this.#reader.corrupted('a reference to an object that was not met')
    return object
  }

  #boxed(): object {
    // Its number comes before what it holds, which is no object.
    const value = this.#value()
    if (typeof value === 'object' || value === undefined)
      throw this.#reader.corrupted('a box holds no primitive')
    return this.#remember(Object(value) as object)
  }

  #date(): Date {
    const time = this.#number()
    const date = new Date(time)
    if (!Object.is(date.getTime(), time)) throw this.#reader.corrupted('a date out of range')
    return date
  }

  #regExp(): RegExp {
    const source = this.#string(this.#reader.byte())
    const flags = this.#string(this.#reader.byte())
    this.#meter.checkRegExp(source.length)
    this.#work.charge(patternWork(source))
    const regExp = new RegExp(source, flags)
    const parts = regExpParts(regExp)
    if (parts.source !== source || parts.flags !== flags)
      throw this.#reader.corrupted('a RegExp in another form')
    return regExp
  }

  #error(hasCause: boolean): Error {
    const name = this.#string(this.#reader.byte())
    const tag = this.#reader.byte()
    const error = createError(name, tag === TAG.undefined ? undefined : this.#string(tag))
    this.#meter.checkDepth(this.#depth + 1)
    if (hasCause) this.#queue.push({ kind: 'error', object: error, depth: this.#depth + 1 })
    return this.#remember(error)
  }

  #buffer(): ArrayBuffer {
    const length = this.#reader.varint()
    this.#meter.addBytes(length)
    const { buffer, byteOffset } = this.#reader.raw(length)
    return this.#remember(copyBytes(buffer as ArrayBuffer, byteOffset, length))
  }

  /** Notes that `object`, if it is a buffer, is a value of its own, so that all of it travels. */
  #carry<T extends object>(object: T): T {
    if (object instanceof ArrayBuffer) this.#carried.add(object)
    return object
  }

  #view(): ArrayBufferView {
    const number = this.#met.push(undefined) - 1
    const type = this.#reader.byte()
    const tag = this.#reader.byte()
    this.#meter.addNodes(1)
    if (tag === TAG.reference) this.#meter.addBytes(NODE_BYTES)
    else if (tag !== TAG.buffer) throw this.#reader.corrupted('a view without a buffer')
    const buffer = tag === TAG.buffer ? this.#buffer() : this.#reference()
    const byteOffset = this.#reader.varint()
    const byteLength = this.#reader.varint()
    const elementBytes = VIEW_TYPES[type]?.elementBytes
    if (
      !(buffer instanceof ArrayBuffer) ||
      elementBytes === undefined ||
      byteOffset % elementBytes !== 0 ||
      byteLength % elementBytes !== 0 ||
      byteOffset + byteLength > buffer.byteLength
    ) {
      throw this.#reader.corrupted('an impossible view')
    }
    if (byteLength === buffer.byteLength) this.#carried.add(buffer)
    else this.#shownInPart.add(buffer)
    const view = createView(type, buffer, byteOffset, byteLength)
    this.#met[number] = view
    return view
  }

  #content({ kind, object }: Container): void {
    switch (kind) {
      case 'object':
        this.#properties(object, () => true)
        return
      case 'array':
        this.#array(object as unknown[])
        return
      case 'map':
        this.#map(object as Map<unknown, unknown>)
        return
      case 'set':
        this.#set(object as Set<unknown>)
        return
      case 'error':
        this.#meter.addNodes(1)
        setCause(object as Error, this.#value())
    }
  }

  /** A count of things that take at least `bytesEach` bytes. */
  #count(bytesEach: number): number {
    const count = this.#reader.varint()
    if (count > this.#reader.remaining / bytesEach)
      throw this.#reader.corrupted('a count exceeds the bytes that follow')
    return count
  }

  #properties(object: object, isAllowed: (key: string) => boolean): void {
    // A key has at least a tag and a length, a value at least a tag.
    const count = this.#count(3)
    this.#meter.addNodes(count)
    let last: string | undefined
    for (let i = 0; i < count; i++) {
      const key = this.#string(this.#reader.byte())
      if ((last !== undefined && key <= last) || !isAllowed(key)) {
        throw this.#reader.corrupted('a key is out of order, repeated or impossible')
      }
      last = key
      setProperty(object, key, this.#value())
    }
  }

  #array(array: unknown[]): void {
    const length = this.#count(1)
    this.#meter.addNodes(length)
    array.length = length
    for (let i = 0; i < length; i++) {
      const element = this.#place(this.#reader.byte())
      if (element !== HOLE) array[i] = element
    }
    this.#properties(array, (key) => key !== 'length' && !isArrayIndex(key))
  }

  #map(map: Map<unknown, unknown>): void {
    const count = this.#count(2)
    this.#meter.addNodes(2 * count)
    const entries: [unknown, unknown][] = []
    for (let i = 0; i < count; i++) entries.push([this.#collectionKey(), this.#value()])
    this.#work.charge(keysWork(entries.map(([key]) => key)))
    for (const [key, value] of entries) map.set(key, value)
    if (map.size !== count) throw this.#reader.corrupted('a key of a Map is repeated')
  }

  #set(set: Set<unknown>): void {
    const count = this.#count(1)
    this.#meter.addNodes(count)
    const elements: unknown[] = []
    for (let i = 0; i < count; i++) elements.push(this.#collectionKey())
    this.#work.charge(keysWork(elements))
    for (const element of elements) set.add(element)
    if (set.size !== count) throw this.#reader.corrupted('an element of a Set is repeated')
  }

  #collectionKey(): unknown {
    const key = this.#value()
    // Maps and Sets turn it into 0.
    if (Object.is(key, -0)) throw this.#reader.corrupted('-0 as a key')
    return key
  }
}
