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

/** Below: no pass over the text for what has to be escaped. */
const SHORT_TEXT = 64

/** Bytes of a value by the canonical size rule, beside the characters of its text. */
const NODE_BYTES = 8

const UNDEFINED_TEXT = `{"${TAG_KEY}":"undefined"}`

/** The text of `value`, whose objects are copies: no accessors, no proxies. Undefined where it is not plain. */
export function plainJsonText(value: unknown, limits: ValueLimits): string | undefined {
  const writer = new PlainWriter()
  const text = writer.write(value, Math.min(MOST_DEPTH, limits.depth))
  return text === undefined || !isWithin(limits, text.length, writer.nodes) ? undefined : text
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

/** No value is larger than its text and its nodes. */
function isWithin(limits: ValueLimits, textLength: number, nodes: number): boolean {
  return nodes <= limits.nodes && textLength + NODE_BYTES * nodes <= limits.bytes
}

class PlainWriter {
  nodes = 0
  /** An object that comes twice is shared. */
  readonly #met = new Set<object>()

  write(value: unknown, depth: number): string | undefined {
    this.nodes += 1
    switch (typeof value) {
      case 'string':
        return quoted(value)
      case 'number':
        return Number.isFinite(value) && !Object.is(value, -0) ? String(value) : undefined
      case 'boolean':
        return value ? 'true' : 'false'
      case 'undefined':
        return UNDEFINED_TEXT
      case 'object':
        return value === null ? 'null' : this.#object(value, depth)
      default:
        return undefined
    }
  }

  #object(value: object, depth: number): string | undefined {
    if (depth === 0 || this.#met.has(value)) return undefined
    this.#met.add(value)
    const prototype: unknown = Object.getPrototypeOf(value)
    if (prototype === Object.prototype) return this.#record(value as Record<string, unknown>, depth - 1)
    return prototype === Array.prototype ? this.#list(value as unknown[], depth - 1) : undefined
  }

  #record(record: Record<string, unknown>, depth: number): string | undefined {
    let text = '{'
    for (const key of Object.keys(record)) {
      const written = key === TAG_KEY ? undefined : this.write(record[key], depth)
      if (written === undefined) return undefined
      text += `${text.length === 1 ? '' : ','}${quoted(key)}:${written}`
    }
    return `${text}}`
  }

  #list(list: readonly unknown[], depth: number): string | undefined {
    const keys = Object.keys(list)
    // With a hole or a name, the last key is another one.
    if (keys.length !== list.length || (keys.length > 0 && keys.at(-1) !== String(list.length - 1)))
      return undefined
    let text = '['
    for (let i = 0; i < list.length; i++) {
      const written = this.write(list[i], depth)
      if (written === undefined) return undefined
      text += `${i === 0 ? '' : ','}${written}`
    }
    return `${text}]`
  }
}

function quoted(text: string): string {
  return text.length <= SHORT_TEXT && needsNoEscape(text) ? `"${text}"` : JSON.stringify(text)
}

function needsNoEscape(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x20 || unit > 0x7e || unit === 0x22 || unit === 0x5c) return false
  }
  return true
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
