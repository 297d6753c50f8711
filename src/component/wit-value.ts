/**
 * Values of WIT as a capability takes and gives them: plain data, with the names that its JSON Schema has.
 *
 * WIT writes names in kebab-case, schemas in any way: `max-items` is the property `maxItems`, `max_items` or `max-items`,
 * whichever the schema names; without a schema it is in camelCase. Absent options are left out of objects, or `null` where
 * the schema asks for them. 64-bit numbers are numbers where they are safe, and bigints else.
 *
 * Nothing here checks a capability's values: its schemas do that, in the gate.
 */
import { CaissonError } from '../base/errors.ts'
import type { JsonSchema } from '../capability/json-schema.ts'
import type { Parameter, WitType } from './abi/wit-type.ts'
import { hostKey } from './abi/wit-type.ts'
import { kebabName } from './wit-names.ts'

type Schema = JsonSchema | undefined

/** What a guest passes, as the input of a capability: `input` alone is the value itself, other parameters its properties. */
export function inputOf(params: readonly Parameter[], args: readonly unknown[], schema: Schema): unknown {
  const [first] = params
  if (first === undefined) return { object: {}, null: null }[String(schema?.type)]
  if (params.length === 1 && first.name === 'input') return plainOf(first.type, args[0], schema)
  return objectOf(
    params.map(({ name, type }, at) => ({ name, type, value: args[at] })),
    schema,
  )
}

/** The other way: the input of a capability as arguments of a function. */
export function argumentsOf(params: readonly Parameter[], input: unknown, schema: Schema): unknown[] {
  const [first] = params
  if (params.length === 1 && first?.name === 'input') return [witOf(first.type, input, schema)]
  const given = isObject(input) ? input : {}
  return params.map(({ name, type }) => {
    const property = propertyOf(name, schema, given)
    const value = Object.hasOwn(given, property) ? given[property] : undefined
    return witOf(type, value, schemaOf(schema, property))
  })
}

/** @param value in the shapes of `abi/wit-type.ts` */
export function plainOf(type: WitType, value: unknown, schema?: Schema): unknown {
  switch (type.kind) {
    case 'u64':
    case 's64': {
      const number = Number(value as bigint)
      return Number.isSafeInteger(number) ? number : value
    }
    case 'list': {
      if (type.element.kind === 'u8')
        return schema?.type === 'array' ? Array.from(value as Uint8Array) : value
      const items = itemsOf(schema)
      return Array.from(value as Iterable<unknown>, (item) => plainOf(type.element, item, items))
    }
    case 'record':
      return objectOf(
        type.fields.map((field) => ({ ...field, value: (value as Record<string, unknown>)[field.key] })),
        schema,
      )
    case 'tuple':
      return type.fields.map(({ type: own }, at) => plainOf(own, (value as unknown[])[at], itemsOf(schema)))
    case 'option': {
      const inner = type.cases[1]?.type as WitType
      const held = isTagged(value, 'none', 'some') ? value.val : value
      return held === undefined ? undefined : plainOf(inner, held, schema)
    }
    case 'enum':
      return textOf(value as string, schema)
    case 'flags': {
      const given = value as Record<string, boolean>
      return Object.fromEntries(
        type.names.map((name, at) => [propertyOf(name, schema), given[type.keys[at] as string] === true]),
      )
    }
    case 'variant':
    case 'result': {
      const { tag, val } = value as { tag: string; val?: unknown }
      const payload = type.cases.find(({ name }) => name === tag)?.type
      return payload === undefined ? { tag } : { tag, val: plainOf(payload, val) }
    }
    case 'own':
    case 'borrow':
      throw new CaissonError('invalid_arguments', 'A resource cannot be passed to a capability.')
    default:
      return value
  }
}

/**
 * What a capability gave, in the shapes of `abi/wit-type.ts`. Whether it is of the type is checked by whoever lowers it.
 */
export function witOf(type: WitType, value: unknown, schema?: Schema): unknown {
  switch (type.kind) {
    case 'string':
      if (typeof value === 'string') return value
      return value instanceof Date ? value.toISOString() : JSON.stringify(value) // what WIT has no word for is JSON
    case 'list': {
      if (!Array.isArray(value)) return value
      const items = itemsOf(schema)
      return value.map((item) => witOf(type.element, item, items))
    }
    case 'record': {
      if (!isObject(value)) return value
      const entries = type.fields.map(({ name, key, type: own }) => {
        const property = propertyOf(name, schema, value)
        const held = Object.hasOwn(value, property) ? value[property] : undefined
        return [key, witOf(own, held, schemaOf(schema, property))]
      })
      return Object.fromEntries(entries)
    }
    case 'tuple':
      return Array.isArray(value)
        ? type.fields.map(({ type: own }, at) => witOf(own, value[at], itemsOf(schema)))
        : value
    case 'option': {
      const inner = type.cases[1]?.type as WitType
      const isNested = inner.kind === 'option'
      if (value === undefined || value === null) return isNested ? { tag: 'none' } : undefined
      const held = witOf(inner, value, schema)
      return isNested ? { tag: 'some', val: held } : held
    }
    case 'flags':
      return isObject(value)
        ? Object.fromEntries(
            type.names.map((name, at) => [type.keys[at], value[propertyOf(name, schema, value)] === true]),
          )
        : value
    case 'enum':
      return type.indexOf.has(value as string) ? value : kebabName(String(value))
    case 'variant':
    case 'result': {
      if (!isObject(value) || typeof value.tag !== 'string') return value
      const { tag, val } = value
      const payload = type.cases.find(({ name }) => name === tag)?.type
      return payload === undefined ? { tag } : { tag, val: witOf(payload, val) }
    }
    default:
      return value
  }
}

interface Part {
  readonly name: string
  readonly type: WitType
  readonly value: unknown
}

function objectOf(parts: readonly Part[], schema: Schema): Record<string, unknown> {
  const object: Record<string, unknown> = {}
  const required = Array.isArray(schema?.required) ? (schema.required as readonly unknown[]) : []
  for (const { name, type, value } of parts) {
    const property = propertyOf(name, schema)
    const plain = plainOf(type, value, schemaOf(schema, property))
    if (plain !== undefined) object[property] = plain
    else if (required.includes(property)) object[property] = null
  }
  return object
}

/** What the schema, or else the value, calls a name of WIT. */
function propertyOf(name: string, schema: Schema, value?: Readonly<Record<string, unknown>>): string {
  const named = isObject(schema?.properties) ? Object.keys(schema.properties) : Object.keys(value ?? {})
  return named.find((property) => kebabName(property) === name) ?? hostKey(name)
}

function textOf(name: string, schema: Schema): string {
  const values = Array.isArray(schema?.enum) ? (schema.enum as readonly unknown[]) : []
  const found = values.find((value) => typeof value === 'string' && kebabName(value) === name)
  return typeof found === 'string' ? found : name
}

function schemaOf(schema: Schema, property: string): Schema {
  const { properties } = schema ?? {}
  const found = isObject(properties) && Object.hasOwn(properties, property) ? properties[property] : undefined
  return isObject(found) ? found : undefined
}

function itemsOf(schema: Schema): Schema {
  return isObject(schema?.items) ? schema.items : undefined
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isTagged(value: unknown, ...tags: string[]): value is { tag: string; val?: unknown } {
  return isObject(value) && typeof value.tag === 'string' && tags.includes(value.tag)
}
