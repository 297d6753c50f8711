/** The schema of what JSON can carry without loss. Everything else is refused with its path. */
import type { JsonValue } from '../../src/values/tagged-json-form.ts'
import { kindOf } from './scalars.ts'
import { createSchema, Refusal, type Schema } from './schema.ts'

/** JSON nested deeper than this is refused, so that no recursion of the host follows a guest's value. */
const MAX_DEPTH = 100
/** Shared parts count each time: as JSON they are written each time. */
const MAX_NODES = 200_000

/** Accepts JSON values only: no `undefined`, NaN, -0, BigInt, Date, Map, class instance or hole. */
export function jsonValue(options: { readonly description?: string } = {}): Schema<JsonValue> {
  return createSchema(options, (value) => {
    let nodes = 0
    const visit = (part: unknown, path: readonly PropertyKey[]): void => {
      nodes += 1
      if (nodes > MAX_NODES) throw refusal(`expected at most ${MAX_NODES} values in all`, [])
      if (path.length > MAX_DEPTH) throw refusal(`expected at most ${MAX_DEPTH} levels`, [])
      if (part === null || typeof part === 'string' || typeof part === 'boolean') return
      if (typeof part === 'number' && Number.isFinite(part) && !Object.is(part, -0)) return
      if (Array.isArray(part)) {
        for (let index = 0; index < part.length; index++) visit(part[index], [...path, index])
        return
      }
      if (!isPlainObject(part)) throw refusal(`expected a JSON value, got ${kindOf(part)}`, path)
      for (const key of Object.keys(part)) visit(part[key], [...path, key])
    }
    visit(value, [])
    return value as JsonValue
  })
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function refusal(message: string, path: readonly PropertyKey[]): Refusal {
  const error = new Refusal(message)
  error.path.push(...path)
  return error
}
