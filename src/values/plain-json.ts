/**
 * The tagged JSON form of values that hardly need its tags, in one pass: most records that are kept are plain objects,
 * arrays, texts and numbers, with an `undefined` here and there.
 *
 * Invariants
 * 1. What is given is what tagged-json.ts gives for the same value, or nothing: whatever is rare (sharing, cycles,
 *    deep nesting, other kinds of objects, a "$caisson" of the value's own) is left to it, and so is every refusal.
 * 2. What is given lies within the limits.
 */
import type { ValueLimits } from './limits.ts'
import { setProperty } from './object-parts.ts'
import { TAG_KEY } from './tagged-json-form.ts'

/** Nesting that is followed: recursion never meets the native stack. */
const MOST_DEPTH = 32

/** Longer texts are quoted by the platform. */
const SHORT_TEXT = 64

/** Bytes of a value by the canonical size rule, beside the characters of its text. */
const NODE_BYTES = 8

const UNDEFINED_TEXT = `{"${TAG_KEY}":"undefined"}`

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a

/** The text of `value` as UTF-8. Its objects are copies: no accessors, no proxies. Undefined where it is not plain. */
export function plainJsonBytes(value: unknown, limits: ValueLimits): Uint8Array | undefined {
  const writer = new PlainWriter()
  const isPlain = writer.write(value, Math.min(MOST_DEPTH, limits.depth))
  const bytes = isPlain && isWithin(limits, writer.length, writer.nodes) ? writer.bytes() : undefined
  writer.close()
  return bytes
}

/**
 * The value that `json`, as parsed from a text of so many characters, stands for: `json` itself, in which `undefined`
 * takes its places. Undefined, and nothing changed, where it is not plain.
 */
export function plainJsonValue(json: unknown, limits: ValueLimits, textLength: number): object | undefined {
  if (typeof json !== 'object' || json === null) return undefined
  const places: Place[] = []
  const nodes = countNodes(json, Math.min(MOST_DEPTH, limits.depth), places)
  if (nodes === undefined || !isWithin(limits, textLength, nodes)) return undefined
  for (const { holder, key } of places) setProperty(holder, key, undefined)
  return json
}

/** No value is larger than its text, of so many characters or bytes, and its nodes. */
function isWithin(limits: ValueLimits, textLength: number, nodes: number): boolean {
  return nodes <= limits.nodes && textLength + NODE_BYTES * nodes <= limits.bytes
}

const utf8 = new TextEncoder()

/** Room for what most records take. */
const FIRST_BYTES = 2_048
/** More is not kept. */
const MOST_BYTES_IDLE = 65_536

/** Filled anew each time. */
let idle: Uint8Array | undefined

/** Writes bytes: a text that is put together of pieces is one object for each of them, and is gone through again. */
class PlainWriter {
  nodes = 0
  length = 0
  #room: Uint8Array
  /** An object that comes twice is shared. */
  readonly #met = new Set<object>()

  constructor() {
    this.#room = idle ?? new Uint8Array(FIRST_BYTES)
    idle = undefined
  }

  bytes(): Uint8Array {
    return this.#room.slice(0, this.length)
  }

  /** Nothing is written after that. */
  close(): void {
    if (this.#room.length <= MOST_BYTES_IDLE) idle = this.#room
  }

  /** Whether it could: otherwise what was written is of no use. */
  write(value: unknown, depth: number): boolean {
    this.nodes += 1
    switch (typeof value) {
      case 'string':
        this.#quoted(value)
        return true
      case 'number':
        if (!Number.isFinite(value) || Object.is(value, -0)) return false
        this.#ascii(String(value))
        return true
      case 'boolean':
        this.#ascii(value ? 'true' : 'false')
        return true
      case 'undefined':
        this.#ascii(UNDEFINED_TEXT)
        return true
      case 'object':
        if (value !== null) return this.#object(value, depth)
        this.#ascii('null')
        return true
      default:
        return false
    }
  }

  #object(value: object, depth: number): boolean {
    if (depth === 0 || this.#met.has(value)) return false
    this.#met.add(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) return this.#record(value as Record<string, unknown>, depth - 1)
    return prototype === Array.prototype && this.#list(value as unknown[], depth - 1)
  }

  #record(record: Record<string, unknown>, depth: number): boolean {
    this.#ascii('{')
    let isFirst = true
    for (const key of Object.keys(record)) {
      if (key === TAG_KEY) return false
      if (!isFirst) this.#byte(COMMA)
      isFirst = false
      this.#quoted(key)
      this.#byte(COLON)
      if (!this.write(record[key], depth)) return false
    }
    this.#ascii('}')
    return true
  }

  #list(list: readonly unknown[], depth: number): boolean {
    const keys = Object.keys(list)
    // With a hole or a name, the last key is another one.
    if (keys.length !== list.length || (keys.length > 0 && keys.at(-1) !== String(list.length - 1)))
      return false
    this.#ascii('[')
    for (let i = 0; i < list.length; i++) {
      if (i > 0) this.#byte(COMMA)
      if (!this.write(list[i], depth)) return false
    }
    this.#ascii(']')
    return true
  }

  #quoted(text: string): void {
    if (text.length <= SHORT_TEXT && this.#plainQuoted(text)) return
    const quoted = utf8.encode(JSON.stringify(text))
    this.#reserve(quoted.length)
    this.#room.set(quoted, this.length)
    this.length += quoted.length
  }

  /** False, and nothing written, where something in it has to be escaped or takes more than a byte. */
  #plainQuoted(text: string): boolean {
    this.#reserve(text.length + 2)
    const room = this.#room
    let at = this.length
    room[at++] = QUOTE
    for (let i = 0; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      if (unit < 0x20 || unit > 0x7e || unit === QUOTE || unit === BACKSLASH) return false
      room[at++] = unit
    }
    room[at++] = QUOTE
    this.length = at
    return true
  }

  #ascii(text: string): void {
    this.#reserve(text.length)
    const room = this.#room
    let at = this.length
    for (let i = 0; i < text.length; i++) room[at++] = text.charCodeAt(i)
    this.length = at
  }

  #byte(byte: number): void {
    this.#reserve(1)
    this.#room[this.length++] = byte
  }

  #reserve(extra: number): void {
    const needed = this.length + extra
    if (needed <= this.#room.length) return
    const grown = new Uint8Array(Math.max(2 * this.#room.length, needed))
    grown.set(this.#room.subarray(0, this.length))
    this.#room = grown
  }
}

/** Where `undefined` stands. */
interface Place {
  readonly holder: object
  readonly key: string
}

/** The nodes of a container, itself included. Undefined where it is not plain. */
function countNodes(container: object, depth: number, places: Place[]): number | undefined {
  if (depth === 0) return undefined
  let nodes = 1
  for (const key of Object.keys(container)) {
    if (key === TAG_KEY) return undefined
    const value = (container as Readonly<Record<string, unknown>>)[key]
    if (typeof value !== 'object' || value === null) {
      nodes += 1
    } else if (isUndefined(value)) {
      nodes += 1
      places.push({ holder: container, key })
    } else {
      const inner = countNodes(value, depth - 1, places)
      if (inner === undefined) return undefined
      nodes += inner
    }
  }
  return nodes
}

function isUndefined(value: object): boolean {
  return (
    (value as Readonly<Record<string, unknown>>)[TAG_KEY] === 'undefined' && Object.keys(value).length === 1
  )
}
