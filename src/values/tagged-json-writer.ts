/** Copies of values to the tagged JSON form: see tagged-json.ts. Breadth first, in two passes, without recursion. */
import { toBase64 } from '../base/base64.ts'
import { errorParts } from './error-value.ts'
import { HostWork, keysWork, patternWork } from './host-work.ts'
import { boxedPrimitive, dateTime, regExpParts, setProperty, VIEW_TYPES, viewParts } from './object-parts.ts'
import { type JsonValue, MAX_DECIMAL_BITS, TAG_KEY } from './tagged-json-form.ts'
import { kindOf } from './value-kind.ts'

/** A JSON object or array that is still being filled. */
type Draft = Record<string, unknown> | unknown[]

export class TaggedJsonWriter {
  readonly #work = new HostWork()
  readonly #met = new Set<object>()
  /** Objects that are reached more than once, with their ids. */
  readonly #ids = new Map<object, number>()
  /** Containers whose content is still to be written, with the draft that takes it. */
  #queue: { readonly object: object; readonly draft: Draft }[] = []

  write(copy: unknown): JsonValue {
    // The first pass only finds what is shared; the second knows where to put ids.
    this.#pass(copy)
    this.#met.clear()
    this.#work.reset()
    return this.#pass(copy) as JsonValue
  }

  #pass(copy: unknown): unknown {
    this.#queue = []
    const root = this.#place(copy)
    for (let i = 0; i < this.#queue.length; i++) {
      const { object, draft } = this.#queue[i] as { object: object; draft: Draft }
      this.#fill(object, draft)
    }
    return root
  }

  #place(value: unknown): unknown {
    switch (typeof value) {
      case 'undefined':
        return { [TAG_KEY]: 'undefined' }
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? value : numberForm(value)
      case 'bigint':
        return { [TAG_KEY]: 'bigint', value: bigintText(value) }
      case 'object':
        return value === null ? null : this.#object(value)
      default:
        return value
    }
  }

  #object(object: object): unknown {
    if (this.#met.has(object)) {
      const id = this.#ids.get(object) ?? this.#ids.size + 1
      this.#ids.set(object, id)
      return { [TAG_KEY]: 'ref', id }
    }
    this.#met.add(object)
    const form = this.#form(object)
    const id = this.#ids.get(object)
    return id === undefined ? form : { [TAG_KEY]: 'shared', id, value: form }
  }

  #form(object: object): unknown {
    switch (kindOf(object)) {
      case 'object': {
        if (!Object.hasOwn(object, TAG_KEY)) return this.#later(object, {}, (draft) => draft)
        return this.#later(object, {}, (properties) => ({ [TAG_KEY]: 'object', properties }))
      }
      case 'array':
        return this.#array(object as readonly unknown[])
      case 'map':
        return this.#later(object, [], (entries) => ({ [TAG_KEY]: 'map', entries }))
      case 'set':
        return this.#later(object, [], (elements) => ({ [TAG_KEY]: 'set', elements }))
      case 'error': {
        const { name, message } = errorParts(object)
        const form: Record<string, unknown> = { [TAG_KEY]: 'error', name }
        if (message !== undefined) form.message = message
        return this.#later(object, form, (draft) => draft)
      }
      case 'date': {
        const time = dateTime(object)
        return { [TAG_KEY]: 'date', value: Number.isNaN(time) ? null : new Date(time).toISOString() }
      }
      case 'regexp': {
        const parts = regExpParts(object)
        this.#work.charge(patternWork(parts.source))
        return { [TAG_KEY]: 'regexp', ...parts }
      }
      case 'boxed':
        return { [TAG_KEY]: 'boxed', value: this.#place(boxedPrimitive(object)) }
      case 'buffer':
        return { [TAG_KEY]: 'buffer', base64: toBase64(new Uint8Array(object as ArrayBuffer)) }
      case 'view': {
        const { buffer, byteOffset, byteLength, type } = viewParts(object)
        const form = { [TAG_KEY]: 'view', type: VIEW_TYPES[type]?.name, buffer: this.#object(buffer) }
        return byteLength === buffer.byteLength ? form : { ...form, byteOffset, byteLength }
      }
      case undefined:
        throw new TypeError('A copy holds no such object.')
    }
  }

  #later(object: object, draft: Draft, wrap: (draft: Draft) => unknown): unknown {
    this.#queue.push({ object, draft })
    return wrap(draft)
  }

  #array(array: readonly unknown[]): unknown {
    const elements = Object.keys(array).filter((key, i) => key === String(i)).length
    if (Object.keys(array).length === elements && array.length === elements) {
      return this.#later(array, [], (draft) => draft)
    }
    // With holes or named properties: the properties by name, and the length.
    return this.#later(array, {}, (properties) => ({ [TAG_KEY]: 'array', length: array.length, properties }))
  }

  #fill(object: object, draft: Draft): void {
    if (object instanceof Map) {
      this.#work.charge(keysWork(object.keys()))
      for (const [key, value] of object) (draft as unknown[]).push([this.#place(key), this.#place(value)])
    } else if (object instanceof Set) {
      this.#work.charge(keysWork(object))
      for (const element of object) (draft as unknown[]).push(this.#place(element))
    } else if (object instanceof Error) {
      if (Object.hasOwn(object, 'cause')) setProperty(draft, 'cause', this.#place(object.cause))
    } else {
      for (const key of Object.keys(object)) {
        setProperty(draft, key, this.#place((object as Readonly<Record<string, unknown>>)[key]))
      }
    }
  }
}

function numberForm(value: number): unknown {
  return { [TAG_KEY]: 'number', value: Object.is(value, -0) ? '-0' : String(value) }
}

function bigintText(value: bigint): string {
  if (BigInt.asIntN(MAX_DECIMAL_BITS, value) === value) return value.toString()
  return value < 0n ? `-0x${(-value).toString(16)}` : `0x${value.toString(16)}`
}
