/**
 * Checks a capability definition once, when it is made, so that the gate need not doubt it at every call.
 *
 * Invariants
 * 1. What passes is a frozen copy: changing the definition afterwards changes nothing.
 * 2. Only `read` or `idempotent` capabilities have a retry policy.
 * 3. A `sync` capability is `read`, and is not retried.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { CaissonError, ERROR_CODES } from '../base/errors.ts'
import type {
  ApprovalDemand,
  AsyncCapability,
  Capability,
  RetryPolicy,
  SyncCapability,
} from './capability.ts'
import { nameProblem } from './capability-name.ts'

const DAY_MS = 86_400_000
const EFFECTS: ReadonlySet<unknown> = new Set(['read', 'write', 'destructive'])
const FIELDS: ReadonlySet<string> = new Set([
  'name',
  'description',
  'effect',
  'idempotent',
  'sync',
  'timeoutMs',
  'cost',
  'approve',
  'retry',
  'expose',
  'continues',
  'input',
  'output',
  'inputJsonSchema',
  'outputJsonSchema',
  'invoke',
  '_types',
])

const checked = new WeakSet<object>()

/**
 * Defines a capability: checks the definition and freezes a copy of it. The type of `invoke`'s input comes
 * from the input schema, that of its result from the output schema or from `invoke` itself.
 *
 * @throws CaissonError `invalid_capability`, saying which field and what to do
 */
export function capability<Input, Output>(
  definition: AsyncCapability<Input, Output>,
): AsyncCapability<Input, Output>
export function capability<Input, Output>(
  definition: SyncCapability<Input, Output>,
): SyncCapability<Input, Output>
export function capability(definition: Capability): Capability {
  return checkCapability(definition)
}

/** As `capability`, for definitions whose types are not known any more. Checks each once. */
export function checkCapability(definition: Capability): Capability {
  if (checked.has(definition)) return definition
  const copy = checkDefinition(definition)
  checked.add(copy)
  return copy
}

/** @throws CaissonError `invalid_capability` with `details: { capability, field }` */
function checkDefinition(given: Capability): Capability {
  if (typeof given !== 'object' || given === null) {
    throw new CaissonError('invalid_capability', 'A capability is an object; see capability({ name, ... }).')
  }
  // Read every field once, so that a getter cannot answer differently after the check.
  const read: Record<string, unknown> = {}
  for (const field of Object.keys(given)) {
    if (!FIELDS.has(field)) {
      refuse(given.name, field, `there is no such field. Fields: ${[...FIELDS].slice(0, -1).join(', ')}`)
    }
  }
  // Inherited ones too: a schema that is a getter of a class must not be left out in silence.
  for (const field of FIELDS) {
    const value: unknown = given[field as keyof Capability]
    if (value !== undefined) read[field] = value
  }
  const refuseField = (field: string, problem: string): never => refuse(read.name, field, problem)

  const badName = nameProblem(read.name)
  if (badName !== undefined) refuseField('name', badName)
  if (typeof read.description !== 'string' || read.description.trim() === '') {
    refuseField('description', 'say in one or two sentences what a call does; people and models read it')
  }
  if (!EFFECTS.has(read.effect)) refuseField('effect', 'it must be "read", "write" or "destructive"')
  if (typeof read.invoke !== 'function') refuseField('invoke', 'it must be a function')
  for (const field of ['cost'] as const) {
    if (read[field] !== undefined && typeof read[field] !== 'function') {
      refuseField(field, 'it must be a function')
    }
  }
  for (const field of ['idempotent', 'sync'] as const) {
    if (read[field] !== undefined && typeof read[field] !== 'boolean') {
      refuseField(field, 'it must be true or false')
    }
  }
  if (read.continues !== undefined) {
    const bad = nameProblem(read.continues)
    if (bad !== undefined) refuseField('continues', bad)
    if (read.continues === read.name) refuseField('continues', 'it is the name of another capability')
    if (read.sync === true) refuseField('continues', 'a sync capability goes on with nothing; leave it out')
  }
  for (const field of ['input', 'output'] as const) {
    if (read[field] !== undefined && !isStandardSchema(read[field])) {
      refuseField(field, 'it must be a Standard Schema (zod, valibot, arktype, ...)')
    }
  }
  for (const field of ['inputJsonSchema', 'outputJsonSchema'] as const) {
    if (read[field] !== undefined && (typeof read[field] !== 'object' || read[field] === null)) {
      refuseField(field, 'it must be a JSON Schema object')
    }
  }
  if (read.timeoutMs !== undefined && !isWhole(read.timeoutMs, 1, DAY_MS)) {
    refuseField('timeoutMs', `it must be a whole number of milliseconds from 1 to ${DAY_MS}`)
  }
  const idempotent = read.idempotent ?? read.effect === 'read'
  if (read.sync === true && read.effect !== 'read') {
    refuseField('sync', 'only "read" capabilities can be answered inside a turn; leave `sync` out')
  }
  if (read.retry !== undefined) {
    if (read.sync === true) refuseField('retry', 'a sync capability is not retried')
    if (!idempotent) {
      refuseField('retry', 'repeating could act twice; declare `idempotent: true` if it is, or leave it out')
    }
    read.retry = checkRetry(read.retry, refuseField)
  }
  if (read.approve !== undefined) read.approve = checkDemand(read, refuseField)
  read.expose = checkExpose(read.expose, refuseField)
  if (read.expose === undefined) delete read.expose
  return Object.freeze(read) as unknown as Capability
}

function checkRetry(given: unknown, refuseField: (field: string, problem: string) => never): RetryPolicy {
  if (typeof given !== 'object' || given === null) return refuseField('retry', 'it must be { attempts, ... }')
  const { attempts, when, delayMs } = given as Partial<Record<keyof RetryPolicy, unknown>>
  if (!isWhole(attempts, 2, 5)) refuseField('retry', '`attempts` counts the first one too: 2 to 5')
  if (when !== undefined && typeof when !== 'function') refuseField('retry', '`when` must be a function')
  if (delayMs !== undefined && typeof delayMs !== 'function') {
    refuseField('retry', '`delayMs` must be a function')
  }
  return Object.freeze({
    attempts,
    ...(when && { when }),
    ...(delayMs && { delayMs }),
  }) as unknown as RetryPolicy
}

function checkDemand(
  { approve, sync, cost }: Readonly<Record<string, unknown>>,
  refuseField: (field: string, problem: string) => never,
): true | ApprovalDemand {
  if (sync === true)
    refuseField('approve', 'a sync capability is answered inside a turn: nobody can be asked')
  if (approve === true) return true
  if (typeof approve !== 'object' || approve === null)
    return refuseField('approve', 'it must be true or { when, above, expiresMs }')
  const unknown = Object.keys(approve).find((name) => !['when', 'above', 'expiresMs'].includes(name))
  if (unknown !== undefined) refuseField('approve', `there is no "${unknown.slice(0, 80)}" in it`)
  const { when, above, expiresMs } = approve as Partial<Record<keyof ApprovalDemand, unknown>>
  if (when !== undefined && typeof when !== 'function') refuseField('approve', '`when` must be a function')
  if (expiresMs !== undefined && !isWhole(expiresMs, 1, 3_650 * DAY_MS))
    refuseField('approve', '`expiresMs` must be a whole number of milliseconds from 1')
  if (above !== undefined && cost === undefined)
    refuseField('approve', '`above` needs a `cost`, or no call would ever be above anything')
  const units = Object.entries((above ?? {}) as object)
  if (!units.every(([, most]) => typeof most === 'number' && most >= 0))
    refuseField('approve', '`above` has a number from 0 for each unit')
  return Object.freeze({
    ...(when !== undefined && { when }),
    ...(above !== undefined && { above: Object.freeze(Object.fromEntries(units)) }),
    ...(expiresMs !== undefined && { expiresMs }),
  }) as ApprovalDemand
}

function checkExpose(given: unknown, refuseField: (field: string, problem: string) => never): unknown {
  if (given === undefined || typeof given === 'function') return given
  if (!Array.isArray(given)) return refuseField('expose', 'it must be a list of error codes or a function')
  for (const code of given) {
    if (typeof code !== 'string' || !Object.hasOwn(ERROR_CODES, code)) {
      refuseField('expose', `"${String(code).slice(0, 80)}" is not an error code`)
    }
  }
  return Object.freeze([...given])
}

/** Whether `value` looks like a schema of the Standard Schema specification, version 1. */
function isStandardSchema(value: unknown): value is StandardSchemaV1 {
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return false
  const standard: unknown = (value as { '~standard'?: unknown })['~standard']
  return (
    typeof standard === 'object' &&
    standard !== null &&
    (standard as { version?: unknown }).version === 1 &&
    typeof (standard as { validate?: unknown }).validate === 'function'
  )
}

function isWhole(value: unknown, min: number, max: number): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max
}

function refuse(name: unknown, field: string, problem: string): never {
  const shown = typeof name === 'string' ? `"${name.slice(0, 120)}"` : 'without a valid name'
  throw new CaissonError('invalid_capability', `Capability ${shown}, field "${field}": ${problem}.`, {
    details: { capability: typeof name === 'string' ? name.slice(0, 120) : undefined, field },
  })
}
