/** Schemas of values with parts. See `schema.ts` for the rules they follow. */
import { kindOf } from './scalars.ts'
import { checkAt, createSchema, type Infer, Refusal, type Schema } from './schema.ts'

/** Schemas by property name. */
export type Shape = Readonly<Record<string, Schema<unknown>>>

type Flat<T> = { [K in keyof T]: T[K] } & {}

/** The object type of required and optional shapes. */
export type ObjectOf<Required extends Shape, Optional extends Shape> = Flat<
  { readonly [K in keyof Required]: Infer<Required[K]> } & {
    readonly [K in keyof Optional]?: Infer<Optional[K]>
  }
>

/**
 * An object with these properties and no others. An optional property that is `undefined` counts as absent, and
 * where nothing is required so does the whole object: `clock.now()` is `clock.now({})`.
 */
export function object<Required extends Shape, Optional extends Shape = Record<never, never>>(
  required: Required,
  optional?: Optional,
): Schema<ObjectOf<Required, Optional>> {
  const shape: Shape = { ...required, ...optional }
  const json = {
    type: 'object',
    properties: Object.fromEntries(Object.entries(shape).map(([key, schema]) => [key, schema.json])),
    required: Object.keys(required),
    additionalProperties: false,
  }
  const nothingRequired = Object.keys(required).length === 0
  return createSchema(json, (value) => {
    const source = value === undefined && nothingRequired ? {} : ownProperties(value)
    for (const key of Object.keys(source)) {
      if (!Object.hasOwn(shape, key)) {
        throw new Refusal(`unknown property "${key.slice(0, 60)}"; known: ${Object.keys(shape).join(', ')}`)
      }
    }
    const result: Record<string, unknown> = {}
    for (const [key, schema] of Object.entries(shape)) {
      const part = Object.hasOwn(source, key) ? source[key] : undefined
      if (part !== undefined) result[key] = checkAt(key, schema, part)
      else if (Object.hasOwn(required, key)) throw new Refusal(`the property "${key}" is missing`)
    }
    return result as ObjectOf<Required, Optional>
  })
}

/** A list of equal things. */
export function list<T>(
  of: Schema<T>,
  options: { readonly description?: string; readonly maxItems: number },
): Schema<readonly T[]> {
  const { maxItems } = options
  return createSchema({ type: 'array', items: of.json, ...options }, (value) => {
    if (!Array.isArray(value)) throw new Refusal(`expected an array, got ${kindOf(value)}`)
    if (value.length > maxItems) throw new Refusal(`expected at most ${maxItems} items, got ${value.length}`)
    return Array.from({ length: value.length }, (_, index) => checkAt(index, of, value[index]))
  })
}

/** An object of equal things under any keys. The result has no prototype, so that every key is data. */
export function record<T>(
  of: Schema<T>,
  options: { readonly description?: string; readonly maxProperties: number },
): Schema<Readonly<Record<string, T>>> {
  const { maxProperties } = options
  return createSchema({ type: 'object', additionalProperties: of.json, ...options }, (value) => {
    const source = ownProperties(value)
    const keys = Object.keys(source)
    if (keys.length > maxProperties) {
      throw new Refusal(`expected at most ${maxProperties} properties, got ${keys.length}`)
    }
    const result: Record<string, T> = Object.create(null)
    for (const key of keys) result[key] = checkAt(key, of, source[key])
    return result
  })
}

/** The first of the alternatives that accepts the value. */
export function either<A, B>(first: Schema<A>, second: Schema<B>): Schema<A | B> {
  return createSchema<A | B>({ anyOf: [first.json, second.json] }, (value) => {
    try {
      return first.check(value)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      try {
        return second.check(value)
      } catch (other) {
        if (other instanceof Refusal) throw new Refusal(`${error.message}; or ${other.message}`)
        throw other
      }
    }
  })
}

function ownProperties(value: unknown): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || ArrayBuffer.isView(value)) {
    throw new Refusal(`expected an object, got ${kindOf(value)}`)
  }
  return value as Record<string, unknown>
}
