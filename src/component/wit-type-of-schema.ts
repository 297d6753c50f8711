/**
 * JSON Schemas as types of WIT, for who writes components: the table in docs/components.md, which a test compares.
 *
 * Unlike a type for people to read, a WIT type decides which bytes pass: what has no exact word in WIT is refused, by the
 * name of its capability and its place in the schema. What is named here is what `wit-value.ts` makes of values.
 *
 * Invariants
 * 1. Every schema ends: references to themselves, and schemas beyond `MOST_NODES`, are refused.
 * 2. Two different properties, cases or types never have one name.
 * 3. Where values are converted without their schema (in tuples and variants, behind references and `anyOf`), only names
 *    that come back from WIT as they were are taken.
 */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { JsonSchema } from '../capability/json-schema.ts'
import { hostKey } from './abi/wit-type.ts'
import { kebabName, sameName, witId } from './wit-names.ts'

const MOST_NODES = 5_000
const MOST_DEPTH = 40
const MOST_FLAGS = 32

const INTEGERS: readonly (readonly [type: string, least: number, most: number])[] = [
  ['u8', 0, 0xff],
  ['u16', 0, 0xffff],
  ['u32', 0, 0xffff_ffff],
  ['s8', -0x80, 0x7f],
  ['s16', -0x8000, 0x7fff],
  ['s32', -0x8000_0000, 0x7fff_ffff],
]

/** Definitions of one interface, by their names. */
export type Definitions = Map<string, { readonly text: string; readonly from: string }>

export interface SchemaPlace {
  readonly capability: string
  readonly side: 'input' | 'output'
  /** Begins the names of its types. */
  readonly name: string
}

/** @returns `undefined` for no value at all: `null`, or an object without properties */
export function witTypeOfSchema(
  schema: JsonSchema,
  place: SchemaPlace,
  definitions: Definitions,
): string | undefined {
  return new WitTypeWriter(schema, place, definitions).whole()
}

interface At {
  readonly path: string
  readonly name: string
  readonly depth: number
  /** Invariant 3. */
  readonly exact: boolean
  readonly refs: readonly string[]
}

class WitTypeWriter {
  readonly #root: JsonSchema
  readonly #place: SchemaPlace
  readonly #definitions: Definitions
  #nodes = 0

  constructor(root: JsonSchema, place: SchemaPlace, definitions: Definitions) {
    this.#root = root
    this.#place = place
    this.#definitions = definitions
  }

  whole(): string | undefined {
    const { side, name } = this.#place
    const { type } = this.#root
    const isEmpty = type === 'object' && isObject(this.#root.properties)
    if (type === 'null' || (isEmpty && Object.keys(this.#root.properties as object).length === 0))
      return undefined
    return this.#type(this.#root, { path: side, name, depth: 0, exact: false, refs: [] })
  }

  #type(schema: unknown, at: At): string {
    this.#nodes += 1
    if (this.#nodes > MOST_NODES || at.depth > MOST_DEPTH)
      throw this.#refused(at, 'is nested too deep or too large')
    if (!isObject(schema)) throw this.#refused(at, 'says nothing of its values')
    if (typeof schema.$ref === 'string') return this.#reference(schema.$ref, at)
    if (schema.tsType === 'Uint8Array') return 'list<u8>'
    if (typeof schema.tsType === 'string')
      throw this.#refused(at, `is a ${clipText(schema.tsType, 40)}, which JSON has no word for`)
    const choices = schema.anyOf ?? schema.oneOf
    if (Array.isArray(choices)) return this.#union(choices, at)
    if (schema.allOf !== undefined) throw this.#refused(at, 'is an intersection (allOf)')
    if (Array.isArray(schema.enum)) return this.#enum(schema.enum, at)
    if (typeof schema.const === 'string') return this.#enum([schema.const], at)
    if (Array.isArray(schema.type))
      return this.#union(
        schema.type.map((type) => ({ ...schema, type })),
        at,
      )
    return this.#simple(schema, at)
  }

  #simple(schema: JsonSchema, at: At): string {
    switch (schema.type) {
      case 'boolean':
        return 'bool'
      case 'string':
        return 'string'
      case 'number':
        return 'f64'
      case 'integer':
        return integer(schema)
      case 'array':
        return this.#array(schema, at)
      case 'object':
        return this.#object(schema, at)
      default:
        throw this.#refused(at, 'says nothing of its values')
    }
  }

  #array({ items, prefixItems }: JsonSchema, at: At): string {
    if (Array.isArray(prefixItems)) {
      if (items !== undefined && items !== false) throw this.#refused(at, 'is a tuple that goes on')
      if (prefixItems.length === 0) throw this.#refused(at, 'is an empty tuple')
      const parts = prefixItems.map((item, index) =>
        this.#type(item, below({ ...at, exact: true }, `[${index}]`, `${at.name}-item${index}`)),
      )
      return `tuple<${parts.join(', ')}>`
    }
    const element = this.#type(items, below(at, '[]', `${at.name}-item`))
    // Without its schema, a list of bytes could as well be a `Uint8Array`.
    return element === 'u8' && at.exact ? 'list<u16>' : `list<${element}>`
  }

  #object(schema: JsonSchema, at: At): string {
    const { properties, additionalProperties } = schema
    const own = isObject(properties) ? Object.entries(properties) : []
    if (own.length === 0) throw this.#refused(at, 'is an object without named properties')
    if (additionalProperties === true || isObject(additionalProperties))
      throw this.#refused(at, 'is an object with properties that it does not name')
    const required = new Set(Array.isArray(schema.required) ? (schema.required as unknown[]) : [])
    if (isFlags(own, required)) {
      const names = this.#names(
        own.map(([key]) => key),
        at,
      )
      return this.#define('flags', names.map(witId), at)
    }
    const names = this.#names(
      own.map(([key]) => key),
      at,
    )
    const fields = own.map(([key, property], index) => {
      const name = names[index] as string
      const type = this.#type(property, below(at, `.${key}`, `${at.name}-${name}`))
      const isOption = type.startsWith('option<')
      return `${witId(name)}: ${required.has(key) || isOption ? type : `option<${type}>`}`
    })
    return this.#define('record', fields, at)
  }

  #enum(values: readonly unknown[], at: At): string {
    if (values.every((value) => typeof value === 'boolean')) return 'bool'
    if (values.length === 0 || !values.every((value) => typeof value === 'string'))
      throw this.#refused(at, 'is an enum of more than strings')
    const names = this.#names(values as string[], at, at.exact ? 'value' : undefined)
    return this.#define('enum', names.map(witId), at)
  }

  #union(choices: readonly unknown[], at: At): string {
    const present = choices.filter((choice) => !isObject(choice) || choice.type !== 'null')
    const inner = { ...at, exact: true, depth: at.depth + 1 }
    if (present.length === 1) {
      const type = this.#type(present[0], inner)
      return present.length === choices.length || type.startsWith('option<') ? type : `option<${type}>`
    }
    const cases = present.map((choice) => taggedCase(choice))
    if (cases.length === 0 || present.length !== choices.length || cases.includes(undefined))
      throw this.#refused(at, 'is a union of others than { tag, val } with a constant tag each')
    return this.#variant(cases as readonly TaggedCase[], inner)
  }

  #variant(cases: readonly TaggedCase[], at: At): string {
    const names = this.#names(
      cases.map(({ tag }) => tag),
      at,
      'value',
    )
    const payloads = cases.map(({ val }, index) =>
      val === undefined
        ? undefined
        : this.#type(val, below(at, `.${names[index]}`, `${at.name}-${names[index]}`)),
    )
    if (names.join() === 'ok,err' || names.join() === 'err,ok') {
      const [ok, err] = [payloads[names.indexOf('ok')], payloads[names.indexOf('err')]]
      return err === undefined
        ? ok === undefined
          ? 'result'
          : `result<${ok}>`
        : `result<${ok ?? '_'}, ${err}>`
    }
    const lines = names.map((name, index) => {
      const payload = payloads[index]
      return payload === undefined ? witId(name) : `${witId(name)}(${payload})`
    })
    return this.#define('variant', lines, at)
  }

  #reference(pointer: string, at: At): string {
    if (at.refs.includes(pointer) || pointer === '#') throw this.#refused(at, 'refers to itself')
    const target = valueAt(this.#root, pointer)
    if (target === undefined)
      throw this.#refused(at, `refers to ${clipText(pointer, 80)}, which is not there`)
    return this.#type(target, { ...at, depth: at.depth + 1, exact: true, refs: [...at.refs, pointer] })
  }

  /** @param of `value` where the text itself comes back: it has to be in kebab-case */
  #names(given: readonly string[], at: At, of?: 'value'): readonly string[] {
    const seen = new Map<string, string>()
    for (const text of given) {
      const name = kebabName(text)
      const shown = JSON.stringify(clipText(text, 80))
      if (name === undefined) throw this.#refused(at, `has the name ${shown}, which WIT cannot write`)
      const back = of === 'value' ? name : hostKey(name)
      if ((at.exact || of === 'value') && back !== text)
        throw this.#refused(at, `has the name ${shown} where only ${JSON.stringify(back)} can be told apart`)
      const other = seen.get(name)
      if (other !== undefined) throw sameName(`${at.path}.${other}`, `${at.path}.${text}`, name)
      seen.set(name, text)
    }
    return [...seen.keys()]
  }

  #define(kind: string, lines: readonly string[], at: At): string {
    const text = `${kind} ${witId(at.name)} {\n${lines.map((line) => `    ${line},\n`).join('')}  }`
    const from = `${this.#place.capability} (${at.path})`
    const known = this.#definitions.get(at.name)
    if (known !== undefined && known.text !== text) throw sameName(known.from, from, at.name)
    this.#definitions.set(at.name, { text, from })
    return witId(at.name)
  }

  #refused(at: At, why: string): CaissonError {
    const { capability } = this.#place
    const path = clipText(at.path, 200)
    return new CaissonError(
      'invalid_argument',
      `The capability "${capability}" has no WIT: its ${path} ${why}.`,
      {
        details: { capability, path },
      },
    )
  }
}

interface TaggedCase {
  readonly tag: string
  readonly val: unknown
}

function below(at: At, path: string, name: string): At {
  return { ...at, path: `${at.path}${path}`, name, depth: at.depth + 1 }
}

/** Booleans that are all there: nothing is lost when none is left out. */
function isFlags(own: readonly (readonly [string, unknown])[], required: ReadonlySet<unknown>): boolean {
  return (
    own.length > 1 &&
    own.length <= MOST_FLAGS &&
    own.every(([key, schema]) => {
      const isPlain = hostKey(kebabName(key) ?? '') === key
      return isPlain && required.has(key) && isObject(schema) && schema.type === 'boolean'
    })
  )
}

/** `{ tag: 'circle', val: … }` with a constant tag, and nothing else. */
function taggedCase(choice: unknown): TaggedCase | undefined {
  if (!isObject(choice) || !isObject(choice.properties)) return undefined
  const { tag, val, ...others } = choice.properties
  const constant = isObject(tag)
    ? (tag.const ?? (Array.isArray(tag.enum) && tag.enum.length === 1 && tag.enum[0]))
    : 0
  const required = Array.isArray(choice.required) ? choice.required : []
  const isWhole = required.includes('tag') && (val === undefined || required.includes('val'))
  if (typeof constant !== 'string' || Object.keys(others).length > 0 || !isWhole) return undefined
  return { tag: constant, val }
}

/** The smallest type that has room for all that the schema allows. */
function integer({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: JsonSchema): string {
  const least = typeof exclusiveMinimum === 'number' ? exclusiveMinimum + 1 : minimum
  const most = typeof exclusiveMaximum === 'number' ? exclusiveMaximum - 1 : maximum
  if (typeof least !== 'number' || typeof most !== 'number') return 's64'
  const found = INTEGERS.find(([, from, to]) => least >= from && most <= to)
  return found?.[0] ?? 's64'
}

function valueAt(root: JsonSchema, pointer: string): unknown {
  if (!pointer.startsWith('#/')) return undefined
  let value: unknown = root
  for (const part of pointer.slice(2).split('/', MOST_DEPTH)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  return value
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
