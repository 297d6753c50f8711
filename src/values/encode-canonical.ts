/**
 * Values to canonical bytes.
 *
 * Invariants
 * 1. Equal values give equal bytes, whatever the order in which properties were added: keys are sorted.
 *    Maps and Sets keep their order, which is part of the value.
 * 2. Sharing is kept: a graph is encoded in its size as a graph, an object met again as its number.
 * 3. What `decodeCanonical` would refuse as too much work for its host is refused here already: what is encoded
 *    can be decoded.
 * 4. Only a copy is encoded, or every place is read once while it is: what is encoded is what a copy of it holds.
 */
import { ByteWriter } from '../base/byte-writer.ts'
import { CANONICAL_VERSION, NAN_HIGH_WORD, TAG } from './canonical-format.ts'
import { copyMeasured } from './copy-value.ts'
import { errorParts } from './error-value.ts'
import { HostWork, keysWork, patternWork } from './host-work.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from './limits.ts'
import { ObjectIndex } from './object-index.ts'
import { boxedPrimitive, dateTime, regExpParts, viewParts } from './object-parts.ts'
import { encodePlain } from './plain-encoder.ts'
import { type ContainerKind, kindOf } from './value-kind.ts'

const SHARED_CAPACITY = 16_384
/** A place takes at most this much beside its text and bytes: tags, varints, and the counts of its content. */
const PLACE_BYTES = 24

/**
 * The canonical bytes of `value`.
 * @param root names the value in messages
 * @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep`
 */
export function encodeCanonical(
  value: unknown,
  limits: ValueLimits = DEFAULT_VALUE_LIMITS,
  root = 'value',
): Uint8Array {
  return (
    encodePlain(value, limits)?.bytes.slice() ?? encoded(value, limits, root, Number.POSITIVE_INFINITY).bytes
  )
}

/**
 * Hands the canonical bytes of `value` to `use`, which must not keep them: for digests, which need no bytes of their own.
 * @throws CaissonError as `encodeCanonical`, and what `use` throws
 */
export function withCanonical<T>(
  value: unknown,
  limits: ValueLimits,
  use: (bytes: Uint8Array) => T,
  root = 'value',
): T {
  return use(
    encodePlain(value, limits)?.bytes ?? encoded(value, limits, root, Number.POSITIVE_INFINITY).bytes,
  )
}

/** A run of bytes, from one to before the other. */
export type ByteSpan = readonly [from: number, to: number]

/**
 * The canonical bytes of `value`, and where in them the content of long texts and buffers stands: it is the same
 * wherever they are in a value.
 * @param longBytes from how many bytes on something is long
 * @throws CaissonError as `encodeCanonical`
 */
export function encodeWithSpans(
  value: unknown,
  limits: ValueLimits,
  longBytes: number,
): { readonly bytes: Uint8Array; readonly spans: readonly ByteSpan[] } {
  return encoded(value, limits, 'value', longBytes)
}

function encoded(
  value: unknown,
  limits: ValueLimits,
  root: string,
  longBytes: number,
): { readonly bytes: Uint8Array; readonly spans: readonly ByteSpan[] } {
  const { value: copy, bytes, nodes } = copyMeasured(value, limits, root)
  const isSmall = 2 * bytes + PLACE_BYTES * nodes <= SHARED_CAPACITY
  const encoder = new Encoder(isSmall ? sharedWriter : new ByteWriter(bytes), longBytes)
  return { bytes: encoder.encode(copy), spans: encoder.spans }
}

/**
 * Making a typed array costs more than encoding a small value, so small values share a writer. Nothing of a value
 * runs while it is encoded: no second encoding can come between.
 */
const sharedWriter: ByteWriter = new ByteWriter(SHARED_CAPACITY)

class Encoder {
  readonly #writer: ByteWriter
  readonly #met = new ObjectIndex()
  readonly #work = new HostWork()
  /** Containers whose content is still to be written, in the order in which they were met. */
  readonly #queue: { readonly kind: ContainerKind; readonly object: object }[] = []
  readonly #longBytes: number
  /** Contents of long texts and buffers, in the order of the bytes. */
  readonly spans: ByteSpan[] = []

  constructor(writer: ByteWriter, longBytes: number) {
    // What an encoding that ran out of memory left in the shared one.
    writer.clear()
    this.#writer = writer
    this.#longBytes = longBytes
  }

  encode(value: unknown): Uint8Array {
    this.#writer.byte(CANONICAL_VERSION)
    this.#place(value)
    for (let i = 0; i < this.#queue.length; i++) {
      const { kind, object } = this.#queue[i] as { kind: ContainerKind; object: object }
      this.#content(kind, object)
    }
    return this.#writer.finish()
  }

  #place(value: unknown): void {
    switch (typeof value) {
      case 'string':
        this.#string(value)
        return
      case 'number':
        this.#number(TAG.number, value)
        return
      case 'boolean':
        this.#writer.byte(value ? TAG.true : TAG.false)
        return
      case 'undefined':
        this.#writer.byte(TAG.undefined)
        return
      case 'bigint':
        this.#bigint(value)
        return
      default:
        if (value === null) this.#writer.byte(TAG.null)
        else this.#object(value as object)
    }
  }

  #number(tag: number, value: number): void {
    this.#writer.byte(tag)
    if (Number.isNaN(value)) {
      // Engines may keep other bits in a NaN.
      this.#writer.uint32(0)
      this.#writer.uint32(NAN_HIGH_WORD)
    } else this.#writer.float64(value)
  }

  #bigint(value: bigint): void {
    const digits = (value < 0n ? -value : value).toString(16)
    const hex = value === 0n ? '' : digits.padStart(digits.length + (digits.length % 2), '0')
    this.#writer.byte(value < 0n ? TAG.negativeBigint : TAG.bigint)
    this.#writer.varint(hex.length / 2)
    for (let end = hex.length; end > 0; end -= 2) {
      this.#writer.byte(Number.parseInt(hex.slice(end - 2, end), 16))
    }
  }

  #string(value: string): void {
    const isLatin1Text = isLatin1(value)
    if (isLatin1Text) {
      this.#writer.byte(TAG.latin1)
      this.#writer.varint(value.length)
      this.#writer.latin1(value)
    } else {
      this.#writer.byte(TAG.utf16)
      this.#writer.varint(value.length)
      this.#writer.utf16(value)
    }
    this.#span(isLatin1Text ? value.length : 2 * value.length)
  }

  /** Told of content that was just written. */
  #span(length: number): void {
    const to = this.#writer.length
    if (length >= this.#longBytes) this.spans.push([to - length, to])
  }

  #object(object: object): void {
    const known = this.#met.find(object)
    if (known >= 0) {
      this.#writer.byte(TAG.reference)
      this.#writer.varint(known)
      return
    }
    this.#met.add(object)
    const kind = kindOf(object)
    switch (kind) {
      case 'object':
      case 'array':
      case 'map':
      case 'set':
        this.#writer.byte(TAG[kind])
        this.#queue.push({ kind, object })
        return
      case 'error': {
        const { name, message, hasCause } = errorParts(object)
        this.#writer.byte(hasCause ? TAG.errorWithCause : TAG.error)
        this.#string(name)
        this.#place(message)
        if (hasCause) this.#queue.push({ kind, object })
        return
      }
      case 'date':
        this.#number(TAG.date, dateTime(object))
        return
      case 'regexp': {
        const { source, flags } = regExpParts(object)
        this.#work.charge(patternWork(source))
        this.#writer.byte(TAG.regexp)
        this.#string(source)
        this.#string(flags)
        return
      }
      case 'boxed':
        this.#writer.byte(TAG.boxed)
        this.#place(boxedPrimitive(object))
        return
      case 'buffer':
        this.#buffer(object as ArrayBuffer)
        return
      case 'view': {
        const { type, buffer, byteOffset, byteLength } = viewParts(object)
        this.#writer.byte(TAG.view)
        this.#writer.byte(type)
        this.#object(buffer)
        this.#writer.varint(byteOffset)
        this.#writer.varint(byteLength)
        return
      }
      case undefined:
        throw new TypeError('A copy holds no such object.')
    }
  }

  #buffer(buffer: ArrayBuffer): void {
    this.#writer.byte(TAG.buffer)
    this.#writer.varint(buffer.byteLength)
    this.#writer.raw(new Uint8Array(buffer))
    this.#span(buffer.byteLength)
  }

  #content(kind: ContainerKind, object: object): void {
    switch (kind) {
      case 'object':
        this.#properties(object, Object.keys(object))
        return
      case 'array':
        this.#array(object as readonly unknown[])
        return
      case 'map':
        this.#work.charge(keysWork((object as Map<unknown, unknown>).keys()))
        this.#writer.varint((object as Map<unknown, unknown>).size)
        for (const [key, value] of object as Map<unknown, unknown>) {
          this.#place(key)
          this.#place(value)
        }
        return
      case 'set':
        this.#work.charge(keysWork(object as Set<unknown>))
        this.#writer.varint((object as Set<unknown>).size)
        for (const element of object as Set<unknown>) this.#place(element)
        return
      case 'error':
        this.#place((object as Error).cause)
    }
  }

  #array(array: readonly unknown[]): void {
    this.#writer.varint(array.length)
    let elements = 0
    for (let i = 0; i < array.length; i++) {
      if (!Object.hasOwn(array, i)) this.#writer.byte(TAG.hole)
      else {
        elements++
        this.#place(array[i])
      }
    }
    this.#properties(array, Object.keys(array).slice(elements))
  }

  #properties(object: object, keys: string[]): void {
    // The default order compares UTF-16 units.
    keys.sort()
    this.#writer.varint(keys.length)
    for (const key of keys) {
      this.#string(key)
      this.#place((object as Readonly<Record<string, unknown>>)[key])
    }
  }
}

function isLatin1(text: string): boolean {
  for (let i = 0; i < text.length; i++) if (text.charCodeAt(i) > 0xff) return false
  return true
}
