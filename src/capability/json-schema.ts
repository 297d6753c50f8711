/**
 * JSON Schemas of capabilities, for people, models and WIT: from the schema itself where its library can
 * (`~standard.jsonSchema`: zod 4.6, arktype 2.2, valibot through `toStandardJsonSchema`), else as written out.
 */
import type { StandardJSONSchemaV1 } from '@standard-schema/spec'
import { CaissonError } from '../base/errors.ts'
import type { Capability } from './capability.ts'

/** A JSON Schema document, draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>

/**
 * What a caller may pass.
 * @throws CaissonError `schema_required`, saying why none could be derived and what to add
 */
export function inputJsonSchemaOf(capability: Capability): JsonSchema {
  return schemaOf(capability, 'input')
}

/**
 * What a caller gets back.
 * @throws CaissonError `schema_required`
 */
export function outputJsonSchemaOf(capability: Capability): JsonSchema {
  return schemaOf(capability, 'output')
}

function schemaOf(capability: Capability, side: 'input' | 'output'): JsonSchema {
  const field = `${side}JsonSchema` as const
  const derived = derive(capability[side], side)
  if ('schema' in derived) return derived.schema
  const explicit = capability[field]
  if (explicit !== undefined) return explicit
  throw new CaissonError(
    'schema_required',
    `A JSON Schema for the ${side} of "${capability.name}" is needed, and ${derived.why}. Add \`${field}\` to its definition.`,
    { details: { capability: capability.name, field }, cause: derived.cause },
  )
}

type Derived = { readonly schema: JsonSchema } | { readonly why: string; readonly cause?: unknown }

function derive(schema: unknown, side: 'input' | 'output'): Derived {
  if (schema === undefined) return { why: `it has no ${side} schema` }
  const standard = (schema as Partial<StandardJSONSchemaV1>)['~standard']
  const convert = standard?.jsonSchema
  if (convert === undefined) {
    const vendor = String(standard?.vendor ?? 'its').slice(0, 40)
    const hint = vendor === 'valibot' ? ' (wrap it with toStandardJsonSchema of @valibot/to-json-schema)' : ''
    return { why: `its ${vendor} schema cannot derive one${hint}` }
  }
  try {
    // A guest receives what comes out of the output schema, and gives what goes into the input schema.
    const result = side === 'input' ? convert.input(TARGET) : convert.output(TARGET)
    if (typeof result === 'object' && result !== null) return { schema: result }
    return { why: 'its schema library returned none' }
  } catch (cause) {
    // zod throws for Date, and for transforms in the output: JSON Schema has no words for them.
    const said =
      cause instanceof Error ? cause.message.slice(0, 200).replace(/\.$/, '') : 'an unknown failure'
    return { why: `its schema library refused (${said})`, cause }
  }
}

const TARGET: StandardJSONSchemaV1.Options = { target: 'draft-2020-12' }
