/** Schemas of values without parts. See `schema.ts` for the rules they follow. */
import { createSchema, Refusal, type Schema } from './schema.ts'

/** A string. Lengths in UTF-16 code units, as JavaScript counts them. */
export function text(options: {
  readonly description?: string
  readonly minLength?: number
  readonly maxLength: number
}): Schema<string> {
  const { minLength = 0, maxLength } = options
  return createSchema({ type: 'string', ...options }, (value) => {
    if (typeof value !== 'string') throw new Refusal(`expected a string, got ${kindOf(value)}`)
    if (value.length < minLength) throw new Refusal(`expected at least ${minLength} characters`)
    if (value.length > maxLength) {
      throw new Refusal(`expected at most ${maxLength} characters, got ${value.length}`)
    }
    return value
  })
}

/** A whole number, both ends inclusive. */
export function integer(options: {
  readonly description?: string
  readonly minimum: number
  readonly maximum: number
}): Schema<number> {
  const { minimum, maximum } = options
  return createSchema({ type: 'integer', ...options }, (value) => {
    if (typeof value !== 'number' || !Number.isInteger(value)) {
      throw new Refusal(`expected a whole number, got ${kindOf(value)}`)
    }
    if (value < minimum || value > maximum) {
      throw new Refusal(`expected a number from ${minimum} to ${maximum}, got ${value}`)
    }
    return value
  })
}

/** A finite number. */
export function number(options: { readonly description?: string } = {}): Schema<number> {
  return createSchema({ type: 'number', ...options }, (value) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      throw new Refusal(`expected a finite number, got ${kindOf(value)}`)
    }
    return value
  })
}

/** `true` or `false`. */
export function flag(options: { readonly description?: string } = {}): Schema<boolean> {
  return createSchema({ type: 'boolean', ...options }, (value) => {
    if (typeof value !== 'boolean') throw new Refusal(`expected true or false, got ${kindOf(value)}`)
    return value
  })
}

/** One of a few strings. */
export function oneOf<const T extends string>(
  choices: readonly T[],
  options: { readonly description?: string } = {},
): Schema<T> {
  return createSchema({ type: 'string', enum: [...choices], ...options }, (value) => {
    const found = choices.find((choice) => choice === value)
    if (found === undefined) throw new Refusal(`expected one of ${choices.join(', ')}`)
    return found
  })
}

/** Nothing: `null`. */
export const nothing: Schema<null> = createSchema({ type: 'null' }, (value) => {
  if (value !== null) throw new Refusal(`expected null, got ${kindOf(value)}`)
  return value
})

/** A `Uint8Array`. JSON callers see it as base64. */
export function binary(options: {
  readonly description?: string
  readonly maxBytes: number
}): Schema<Uint8Array> {
  const { maxBytes, description = `Bytes (a Uint8Array), at most ${maxBytes}.` } = options
  return createSchema(
    { type: 'string', contentEncoding: 'base64', tsType: 'Uint8Array', description },
    (value) => {
      if (!(value instanceof Uint8Array)) throw new Refusal(`expected a Uint8Array, got ${kindOf(value)}`)
      if (value.byteLength > maxBytes) {
        throw new Refusal(`expected at most ${maxBytes} bytes, got ${value.byteLength}`)
      }
      return value
    },
  )
}

/** Any value. What bounds it is the gate's limit on values. */
export function anything(options: { readonly description?: string } = {}): Schema<unknown> {
  return createSchema(options, (value) => value)
}

/** A word for what a value is, never the value itself. */
export function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value === 'number' && !Number.isInteger(value)) return `the number ${value}`
  return typeof value === 'object' ? 'an object' : typeof value
}
