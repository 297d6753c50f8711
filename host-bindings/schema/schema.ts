/**
 * The schemas of our own bindings: a Standard Schema and its JSON Schema from one small description.
 *
 * Why not a schema library here: a library plus its JSON Schema converter are two packages (several times the
 * code of this file), they collect every issue they find (a hostile list of a million wrong items becomes a
 * million issues), and none says `Uint8Array` in JSON Schema. Embedders use whichever library they like; the
 * gate takes any.
 *
 * 1. A check stops at the first thing that is wrong: the size of a refusal does not follow the size of the value.
 * 2. What comes out holds only own, known keys; nothing is read through a prototype.
 * 3. Nothing is coerced: a value is accepted as it is, or refused with its path.
 */
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec'
import { CaissonError } from '../../src/base/errors.ts'

/** JSON Schema as data. Valid both as draft-07 and as draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** A synchronous Standard Schema that also gives its JSON Schema. */
export interface Schema<T> {
  readonly '~standard': StandardSchemaV1.Props<T, T> & StandardJSONSchemaV1.Props<T, T>
  /** Returns the accepted value, or throws a {@link Refusal}. For schemas that contain this one. */
  readonly check: (value: unknown) => T
  readonly json: JsonSchema
}

/** The type of the values that `S` accepts. */
export type Infer<S> = S extends Schema<infer T> ? T : never

/** Why a value was refused, and where. The path grows while the refusal travels outwards. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly path: PropertyKey[] = []
}

const TARGETS = ['draft-2020-12', 'draft-07']

/** A schema out of a check (see {@link Refusal}) and the JSON Schema that says the same. */
export function createSchema<T>(json: JsonSchema, check: (value: unknown) => T): Schema<T> {
  const convert = ({ target }: StandardJSONSchemaV1.Options): Record<string, unknown> => {
    if (!TARGETS.includes(target)) {
      throw new CaissonError('unsupported', `These schemas are written for ${TARGETS.join(' and ')} only.`)
    }
    return { ...json }
  }
  const validate = (value: unknown): StandardSchemaV1.Result<T> => {
    try {
      return { value: check(value) }
    } catch (error) {
      if (error instanceof Refusal) return { issues: [{ message: error.message, path: error.path }] }
      throw error
    }
  }
  return {
    check,
    json,
    '~standard': {
      version: 1,
      vendor: 'caisson',
      validate,
      jsonSchema: { input: convert, output: convert },
    },
  }
}

/** Runs `check` for the part of a value under `key`, and adds the key to a refusal's path. */
export function checkAt<T>(key: PropertyKey, schema: Schema<T>, value: unknown): T {
  try {
    return schema.check(value)
  } catch (error) {
    if (error instanceof Refusal) error.path.unshift(key)
    throw error
  }
}
