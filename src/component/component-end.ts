/** How a component that is run to its end has ended, as the end of a turn of its machine. */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { LimitName, Limits } from '../machine/limits.ts'
import type { TurnEnd } from '../machine/turn.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentEnd } from './component-outcome.ts'
import { plainOf } from './wit-value.ts'

/** Of a `result` the value of `ok` is the value of the guest, and `err` is its failure. */
export function endOfCall(end: ComponentEnd, { result }: FunctionType): TurnEnd {
  switch (end.status) {
    case 'completed': {
      if (result === undefined) return { status: 'completed', value: null }
      const value = plainOf(result, end.value)
      if (result.kind !== 'result') return { status: 'completed', value }
      const { tag, val = null } = value as { readonly tag: string; readonly val?: unknown }
      return tag === 'ok' ? { status: 'completed', value: val } : failed('Err', textOf(val))
    }
    case 'exited':
      return end.exitCode === 0
        ? { status: 'completed', value: null }
        : failed('Exit', `The component exited with ${end.exitCode}.`)
    default:
      return end
  }
}

function failed(name: string, message: string, code = 'capability_failed'): TurnEnd {
  return { status: 'failed', error: { name, code, message: clipText(message, 2_000) } }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  try {
    return JSON.stringify(value) ?? 'null'
  } catch {
    return String(value)
  }
}

/** What a component is refused for itself, in whatever process. */
const OF_THE_GUEST: ReadonlySet<string> = new Set([
  'invalid_arguments',
  'invalid_component',
  'missing_imports',
  'not_found',
  'unsupported_feature',
  'value_refused',
  'value_too_deep',
  'value_too_large',
])

/** @throws what is not about the guest */
export function endOfOpening(error: unknown, limits: Limits): TurnEnd {
  if (!CaissonError.is(error)) throw error
  const { code, message, details } = error
  if (OF_THE_GUEST.has(code)) return failed('CaissonError', message, code)
  if (code !== 'corrupted' || details.fuel === undefined) throw error
  // Its start functions: code of the guest.
  const limit = details.limit as LimitName | undefined
  if (limit === 'bytes') return exhausted(limit, limits, 'bytesOut')
  if (limit !== undefined) return exhausted(limit, limits)
  return failed('Trap', message, 'trapped')
}

/** What its start functions used up before they failed. */
export function fuelOf(error: unknown): number {
  return CaissonError.is(error) && typeof error.details.fuel === 'number' ? error.details.fuel : 0
}
