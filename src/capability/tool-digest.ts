/**
 * The version of a tool: the digest of how it describes itself. A tool whose words or schemas changed is another one,
 * and what was approved over the old one says nothing about it.
 *
 * Implementations cannot be compared: what a tool does behind the same words is the host's business.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { digestValue } from '../values/digest-value.ts'
import type { Capability } from './capability.ts'
import { inputJsonSchemaOf, outputJsonSchemaOf } from './json-schema.ts'

/** @throws CaissonError `value_refused`, `value_too_large` for schemas that no digest can be taken of */
export function toolDigest(capability: Capability): Digest {
  const {
    name,
    description,
    effect,
    idempotent = effect === 'read',
    sync = false,
    continues = null,
  } = capability
  return digestValue({
    name,
    description,
    effect,
    idempotent,
    sync,
    continues,
    input: schemaOrNull(() => inputJsonSchemaOf(capability)),
    output: schemaOrNull(() => outputJsonSchemaOf(capability)),
  })
}

/** Not every schema can be written out. */
function schemaOrNull(schema: () => unknown): unknown {
  try {
    return JSON.parse(JSON.stringify(schema()))
  } catch (error) {
    if (CaissonError.is(error, 'schema_required')) return null
    throw error
  }
}
