/**
 * A refused or failed call of a capability, as the error of the WIT function that was called.
 *
 * | error type | what it is given |
 * |---|---|
 * | record with `code`, `message` or `name` | these; other fields must be options |
 * | variant | the case named after the code, or else `other`, with what its payload takes |
 * | enum | the case named after the code, or else `other` |
 * | string | `code: message` |
 * | none | nothing |
 *
 * A function without a `result` has no way to say so: the call ends its guest.
 */
import type { GuestFailure } from '../capability/call.ts'
import type { Field, FunctionType, WitType } from './abi/wit-type.ts'
import { kebabName } from './wit-names.ts'

const OTHER = 'other'
/** An error that takes more room is none: it would be made of as many parts, with every failure. */
const MOST_BYTES = 65_536
const TEXTS: ReadonlySet<string> = new Set(['code', 'message', 'name'])

/** Makes the answer of a function of this type; undefined where the type has no room for a failure. */
export function failureWriter({ result }: FunctionType): ((failure: GuestFailure) => unknown) | undefined {
  if (result?.kind !== 'result') return undefined
  const type = result.cases[1]?.type
  if (type === undefined) return () => ({ tag: 'err' })
  if (type.size > MOST_BYTES || !canHold(type, new Map())) return undefined
  return (failure) => ({ tag: 'err', val: errorOf(type, failure) })
}

/** Whether every failure can be said in this type. @param known of types that were looked at: one may stand in many */
function canHold(type: WitType, known: Map<WitType, boolean>): boolean {
  const before = known.get(type)
  if (before !== undefined) return before
  const holds = looked(type, known)
  known.set(type, holds)
  return holds
}

function looked(type: WitType, known: Map<WitType, boolean>): boolean {
  switch (type.kind) {
    case 'string':
      return true
    case 'record':
      return type.fields.every(
        (field) => field.type.kind === 'option' || (TEXTS.has(field.name) && canSay(field, known)),
      )
    case 'enum':
      return type.indexOf.has(OTHER)
    case 'variant': {
      const other = type.cases.find(({ name }) => name === OTHER)
      return (
        other !== undefined && type.cases.every((one) => one.type === undefined || canHold(one.type, known))
      )
    }
    default:
      return false
  }
}

function canSay({ type }: Field, known: Map<WitType, boolean>): boolean {
  return type.kind === 'string' || canHold(type, known)
}

function errorOf(type: WitType, failure: GuestFailure): unknown {
  const { code, message } = failure
  switch (type.kind) {
    case 'record':
      return Object.fromEntries(
        type.fields.map(({ name, key, type: own }) => [key, part(name, own, failure)]),
      )
    case 'enum':
      return caseOf(type.indexOf, code)
    case 'variant': {
      const tag = caseOf(type.indexOf, code)
      const payload = type.cases.find(({ name }) => name === tag)?.type
      if (payload === undefined) return { tag }
      const isText = payload.kind === 'string' && tag !== OTHER
      return { tag, val: isText ? message : errorOf(payload, failure) }
    }
    default:
      return `${code}: ${message}`
  }
}

function part(name: string, type: WitType, failure: GuestFailure): unknown {
  const { code, message, name: title = 'CapabilityError' } = failure
  const text = TEXTS.has(name) ? { code, message, name: title }[name] : undefined
  if (type.kind === 'option') {
    const inner = type.cases[1]?.type
    return inner?.kind === 'string' ? text : undefined
  }
  return type.kind === 'string' ? text : errorOf(type, failure)
}

function caseOf(cases: ReadonlyMap<string, number>, code: string): string {
  const name = kebabName(code)
  return name !== undefined && cases.has(name) ? name : OTHER
}
