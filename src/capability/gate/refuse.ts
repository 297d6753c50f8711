/**
 * Builds what a guest sees of a refused or failed call: a stable code and a bounded message.
 *
 * Invariants
 * 1. A failure is at most about 4 KB, whatever its parts were.
 * 2. `details` are numbers, booleans and short strings.
 */
import type { ErrorCode } from '../../base/errors.ts'
import type { GuestFailure } from '../call.ts'
import { Refusal } from '../call.ts'

const MAX_MESSAGE = 2_000
const MAX_DETAILS = 12
const MAX_DETAIL_TEXT = 100

/** A refusal after which the run must not go on: acting further would be unrecorded, or not ours to do. */
export class FatalRefusal extends Refusal {}

/** A refusal with its parts bounded. */
export function refuse(code: ErrorCode, message: string, details?: GuestFailure['details']): Refusal {
  return new Refusal(boundFailure(code, message, details))
}

/** As `refuse`, and ends the run. */
export function refuseFatally(code: 'not_recorded' | 'lease_lost', message: string): FatalRefusal {
  return new FatalRefusal(boundFailure(code, message))
}

/** Cuts message and details to size. `details` may be anything: only what is plain and short is taken. */
export function boundFailure(code: ErrorCode, message: string, details?: unknown): GuestFailure {
  const bounded: Record<string, string | number | boolean> = {}
  let kept = 0
  if (typeof details === 'object' && details !== null) {
    for (const [key, value] of Object.entries(details)) {
      if (kept === MAX_DETAILS) break
      if (key.length > MAX_DETAIL_TEXT || key === '__proto__') continue
      if (typeof value === 'string') bounded[key] = clip(value, MAX_DETAIL_TEXT)
      else if (typeof value === 'number' || typeof value === 'boolean') bounded[key] = value
      else continue
      kept++
    }
  }
  return {
    code,
    message: clip(message, MAX_MESSAGE),
    name: 'CapabilityError',
    ...(kept > 0 && { details: bounded }),
  }
}

function clip(text: string, max: number): string {
  return text.length <= max ? text : `${text.slice(0, max)}…`
}

/** A capability's or unit's name as it may stand in a message. */
export function shortName(name: string): string {
  return name.length <= 120 ? name : `${name.slice(0, 120)}…`
}
