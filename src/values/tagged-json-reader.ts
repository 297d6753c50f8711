/**
 * The tagged JSON form to values: see tagged-json.ts.
 *
 * In three passes over the places of the JSON, breadth first and without recursion, because a reference may stand
 * before what it refers to: make every object empty, make the views, fill everything.
 */
import { createError, setCause } from './error-value.ts'
import { HostWork, keysWork } from './host-work.ts'
import { createView, isArrayIndex, setProperty, VIEW_TYPES } from './object-parts.ts'
import { TAG_KEY } from './tagged-json-form.ts'
import { bigintOf, bufferOf, dateOf, numberOf, refused, regExpOf } from './tagged-json-scalars.ts'

type Json = Readonly<Record<string, unknown>>

/** A place of the JSON that holds an object. */
interface Place {
  readonly json: object
  readonly path: string
}

export class TaggedJsonReader {
  readonly #work = new HostWork()
  /** What each object of the JSON that stands for a value became. */
  readonly #made = new Map<object, unknown>()
  readonly #byId = new Map<number, object>()
  readonly #queue: Place[] = []
  readonly #views: (() => void)[] = []
  readonly #fills: (() => void)[] = []

  /** @throws CaissonError `invalid_argument`, `value_too_large` */
  read(json: unknown): unknown {
    this.#expect(json, 'input')
    for (let i = 0; i < this.#queue.length; i++) {
      const { json, path } = this.#queue[i] as Place
      this.#make(json, path)
    }
    for (const makeView of this.#views) makeView()
    for (const fill of this.#fills) fill()
    return this.#value(json, 'input')
  }

  /** Plans to make what stands at `json`. */
  #expect(json: unknown, path: string): void {
    if (typeof json === 'object' && json !== null) this.#queue.push({ json, path })
    else if (json !== null && !['string', 'number', 'boolean'].includes(typeof json)) {
      throw refused(path, `is a ${typeof json}, which is not JSON`)
    }
  }

  /** What stands at `json`, once everything was made. */
  #value(json: unknown, path: string): unknown {
    if (typeof json !== 'object' || json === null) return json
    const made = this.#made.get(json)
    if (made !== undefined || this.#made.has(json)) return made
    const found = this.#byId.get((json as { readonly id: number }).id)
    if (found === undefined) throw refused(path, 'refers to an id that nothing has')
    return found
  }

  #make(json: object, path: string): void {
    if (Array.isArray(json)) {
      const array: unknown[] = []
      this.#made.set(json, array)
      this.#each(json, path, (element) => array.push(element))
    } else if (!Object.hasOwn(json, TAG_KEY)) {
      const object = {}
      this.#made.set(json, object)
      this.#properties(object, json, path)
    } else {
      const form = json as Json
      if (form[TAG_KEY] === 'ref') this.#id(form, path)
      else if (form[TAG_KEY] === 'shared') this.#shared(form, path)
      else this.#form(form, path, (made) => this.#made.set(json, made))
    }
  }

  #shared(form: Json, path: string): void {
    const id = this.#id(form, path)
    const inner = form.value
    const tag = isObject(inner) && Object.hasOwn(inner, TAG_KEY) ? (inner as Json)[TAG_KEY] : undefined
    if (!isObject(inner) || tag === 'ref' || tag === 'shared') throw refused(path, 'shares no object')
    if (this.#byId.has(id)) throw refused(path, `has the id ${id}, which another object has`)
    // Reserved now, so that an id is not given twice before views are made.
    this.#byId.set(id, inner)
    const made = (value: unknown): void => {
      if (!isObject(value)) throw refused(path, 'shares no object')
      this.#made.set(form, value)
      this.#byId.set(id, value)
    }
    if (tag !== undefined) {
      this.#form(inner as Json, path, made)
      return
    }
    this.#make(inner, path)
    made(this.#made.get(inner))
  }

  #form(form: Json, path: string, made: (value: unknown) => void): void {
    const tag = form[TAG_KEY]
    switch (tag) {
      case 'undefined':
        made(undefined)
        return
      case 'number':
        made(numberOf(form.value, path))
        return
      case 'bigint':
        made(bigintOf(form.value, path))
        return
      case 'object': {
        const object = {}
        made(object)
        this.#properties(object, this.#object(form.properties, path), path)
        return
      }
      case 'array':
        made(this.#array(form, path))
        return
      case 'map':
        made(this.#map(form, path))
        return
      case 'set':
        made(this.#set(form, path))
        return
      case 'error':
        made(this.#error(form, path))
        return
      case 'date':
        made(dateOf(form.value, path))
        return
      case 'regexp':
        made(regExpOf(form, path, this.#work))
        return
      case 'boxed':
        this.#boxed(form, path, made)
        return
      case 'buffer':
        made(bufferOf(form.base64, path))
        return
      case 'view':
        this.#expect(form.buffer, `${path}.buffer`)
        this.#views.push(() => made(this.#view(form, path)))
        return
      default:
        throw refused(
          path,
          `has the form ${typeof tag === 'string' ? tag : typeof tag}, which does not exist`,
        )
    }
  }

  #each(list: readonly unknown[], path: string, take: (value: unknown) => void): void {
    for (const [i, json] of list.entries()) this.#expect(json, `${path}[${i}]`)
    this.#fills.push(() => {
      for (const [i, json] of list.entries()) take(this.#value(json, `${path}[${i}]`))
    })
  }

  #properties(target: object, json: object, path: string): void {
    const properties = Object.entries(json)
    for (const [key, value] of properties) this.#expect(value, `${path}.${key}`)
    this.#fills.push(() => {
      for (const [key, value] of properties) setProperty(target, key, this.#value(value, `${path}.${key}`))
    })
  }

  #array(form: Json, path: string): unknown[] {
    const { length } = form
    if (typeof length !== 'number' || !Number.isInteger(length) || length < 0 || length > 2 ** 32 - 1) {
      throw refused(path, 'has no length of an array')
    }
    const array: unknown[] = []
    array.length = length
    const properties = this.#object(form.properties, path)
    for (const key of Object.keys(properties)) {
      if (key === 'length' || (isArrayIndex(key) && Number(key) >= length)) {
        throw refused(path, `cannot have the property ${key}`)
      }
    }
    this.#properties(array, properties, path)
    return array
  }

  #map(form: Json, path: string): Map<unknown, unknown> {
    const map = new Map<unknown, unknown>()
    const entries = listOf(form.entries, path).map((entry) => {
      if (!Array.isArray(entry) || entry.length !== 2) throw refused(path, 'has an entry that is no pair')
      return entry as [unknown, unknown]
    })
    this.#each(entries.flat(1), path, () => {})
    this.#fills.push(() => {
      const keys = entries.map(([key]) => this.#value(key, path))
      this.#work.charge(keysWork(keys))
      for (const [i, [, value]] of entries.entries()) map.set(keys[i], this.#value(value, path))
    })
    return map
  }

  #set(form: Json, path: string): Set<unknown> {
    const set = new Set<unknown>()
    const elements = listOf(form.elements, path)
    this.#each(elements, path, () => {})
    this.#fills.push(() => {
      const values = elements.map((element) => this.#value(element, path))
      this.#work.charge(keysWork(values))
      for (const value of values) set.add(value)
    })
    return set
  }

  #error(form: Json, path: string): Error {
    const { name, message, cause } = form
    if (typeof name !== 'string' || (message !== undefined && typeof message !== 'string')) {
      throw refused(path, 'is an error without a name or with a message that is no text')
    }
    const error = createError(name, message)
    if (Object.hasOwn(form, 'cause')) {
      this.#expect(cause, `${path}.cause`)
      this.#fills.push(() => setCause(error, this.#value(cause, `${path}.cause`)))
    }
    return error
  }

  #boxed(form: Json, path: string, made: (value: unknown) => void): void {
    let primitive: unknown = form.value
    if (isObject(primitive)) {
      const { [TAG_KEY]: tag, value } = primitive as Json
      primitive =
        tag === 'number' ? numberOf(value, path) : tag === 'bigint' ? bigintOf(value, path) : undefined
    }
    if (!['string', 'number', 'boolean', 'bigint'].includes(typeof primitive)) {
      throw refused(path, 'is a box without a primitive')
    }
    made(Object(primitive))
  }

  #view(form: Json, path: string): ArrayBufferView {
    const buffer = this.#value(form.buffer, path)
    const type = VIEW_TYPES.findIndex((candidate) => candidate?.name === form.type)
    const elementBytes = VIEW_TYPES[type]?.elementBytes
    if (!(buffer instanceof ArrayBuffer) || elementBytes === undefined) {
      throw refused(path, 'is a view of an unknown type or without a buffer')
    }
    const { byteOffset = 0, byteLength = buffer.byteLength } = form
    const isFitting =
      isWhole(byteOffset, elementBytes) &&
      isWhole(byteLength, elementBytes) &&
      byteOffset + byteLength <= buffer.byteLength
    if (!isFitting) throw refused(path, 'is a view that does not fit its buffer')
    return createView(type, buffer, byteOffset, byteLength)
  }

  #object(json: unknown, path: string): object {
    if (!isObject(json) || Array.isArray(json)) throw refused(path, 'has no properties')
    return json
  }

  #id(form: Json, path: string): number {
    const { id } = form
    if (typeof id !== 'number' || !Number.isSafeInteger(id))
      throw refused(path, 'has an id that is no whole number')
    return id
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isWhole(value: unknown, multipleOf: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value % multipleOf === 0
}

function listOf(json: unknown, path: string): readonly unknown[] {
  if (!Array.isArray(json)) throw refused(path, 'has no list of entries or elements')
  return json
}
