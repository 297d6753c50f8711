/** Calls a binding as the gate does: look up, validate, invoke with a deep copy, validate the result. For tests. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CaissonError } from '../src/base/errors.ts'
import type { Capability, GuestLife, InvokeContext } from '../src/capability/capability.ts'

/** The capability with this name; throws where there is none. */
export function findBinding(capabilities: readonly Capability[], name: string): Capability {
  const found = capabilities.find((capability) => capability.name === name)
  if (found === undefined) throw new CaissonError('unknown_capability', name)
  return found
}

/** What the input schema says against `args`, as one string, or undefined. */
export function inputIssues(
  capabilities: readonly Capability[],
  name: string,
  args: unknown,
): string | undefined {
  const { issues } = validateNow(findBinding(capabilities, name).input, args)
  return issues?.map((issue) => `${(issue.path ?? []).map(String).join('.')}: ${issue.message}`).join('; ')
}

/**
 * Validates, invokes, validates the result. Returns a promise for an awaited capability.
 * @throws CaissonError `invalid_arguments`, `invalid_result`, and what the capability throws
 */
export function invokeBinding(
  capabilities: readonly Capability[],
  name: string,
  args: unknown,
  context: Partial<InvokeContext> = {},
): unknown {
  const capability = findBinding(capabilities, name)
  const issues = inputIssues(capabilities, name, args)
  if (issues !== undefined) throw new CaissonError('invalid_arguments', issues)
  const input = structuredClone(accepted(capability.input, args))
  if (capability.sync === true) return accepted(capability.output, capability.invoke(input))
  const full: InvokeContext = {
    signal: context.signal ?? new AbortController().signal,
    idempotencyKey: context.idempotencyKey ?? 'key',
    attempt: context.attempt ?? 1,
    life: context.life ?? NEVER_ENDS,
    decisions: context.decisions ?? (async () => []),
  }
  return Promise.resolve(capability.invoke(input, full)).then((value) =>
    structuredClone(accepted(capability.output, value)),
  )
}

/** Of a guest that goes on. */
const NEVER_ENDS: GuestLife = { ended: false, onEnd: () => () => {} }

function validateNow(
  schema: StandardSchemaV1<unknown, unknown> | undefined,
  value: unknown,
): StandardSchemaV1.Result<unknown> {
  if (schema === undefined) return { value }
  const result = schema['~standard'].validate(value)
  if (result instanceof Promise) throw new Error('the schema of a binding must be synchronous')
  return result
}

function accepted(schema: StandardSchemaV1<unknown, unknown> | undefined, value: unknown): unknown {
  const result = validateNow(schema, value)
  if (result.issues !== undefined) {
    throw new CaissonError('invalid_result', result.issues.map((issue) => issue.message).join('; '))
  }
  return result.value
}
