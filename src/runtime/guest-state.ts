/**
 * A waiting guest beside its memory, as the bytes that a checkpoint carries: the books of its session, the state of
 * its machine, and what it was started with that it goes on with.
 *
 * Nothing here decides over budgets, approvals or answers where the host keeps a record of the run.
 */
import { CaissonError } from '../base/errors.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import { parseSessionState, type SessionState } from '../machine/session-state.ts'
import type { ValueLimits } from '../values/limits.ts'
import { decodeOrdered, encodeOrdered } from '../values/ordered-bytes.ts'

export interface GuestState {
  /** Idempotency keys are derived from it. */
  readonly guestId: string
  readonly limits: Limits
  readonly session: SessionState
  /** Checked by the machine that takes it. */
  readonly machine: unknown
  /** Pending calls that may have taken effect before an earlier restore. */
  readonly inDoubt: readonly number[]
}

const VERSION = 1
/** Of one state: pending arguments and console lines can be large. */
const STATE_LIMITS: ValueLimits = { bytes: 64 * 1024 * 1024, nodes: 4_000_000, depth: 600 }
const GUEST_ID = /^[\w./-]{1,300}$/

/** @throws CaissonError `value_too_large` when the pending calls and lines are more than a checkpoint takes */
export function encodeGuestState(state: GuestState): Uint8Array {
  return encodeOrdered({ version: VERSION, ...state }, STATE_LIMITS)
}

/** @throws CaissonError `corrupted` */
export function decodeGuestState(bytes: Uint8Array): GuestState {
  const state = decodeOrdered(bytes, STATE_LIMITS) as Partial<Record<string, unknown>> | null
  if (typeof state !== 'object' || state === null || state.version !== VERSION) {
    throw corrupted('it is not of version 1')
  }
  const { guestId, limits, session, machine, inDoubt } = state
  if (typeof guestId !== 'string' || !GUEST_ID.test(guestId)) throw corrupted('the id of the guest is none')
  if (!Array.isArray(inDoubt) || !inDoubt.every((id) => Number.isSafeInteger(id))) {
    throw corrupted('the calls in doubt are no list of ids')
  }
  return { guestId, limits: checkedLimits(limits), session: parseSessionState(session), machine, inDoubt }
}

function checkedLimits(limits: unknown): Limits {
  if (typeof limits !== 'object' || limits === null) throw corrupted('there are no limits')
  try {
    return parseLimits(limits)
  } catch (cause) {
    throw corrupted('the limits are none', cause)
  }
}

function corrupted(what: string, cause?: unknown): CaissonError {
  return new CaissonError('corrupted', `The state of the captured guest contradicts itself: ${what}.`, {
    cause,
  })
}
