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
import { isTime } from './sound-clock.ts'

export interface GuestState {
  /** Idempotency keys are derived from it. */
  readonly guestId: string
  readonly limits: Limits
  readonly session: SessionState
  /** Checked by the machine that takes it. */
  readonly machine: unknown
  /**
   * Of a kept run: the name of the mark that its log has for this capture. A head alone could join a checkpoint with
   * the place of another one in the log. Left out by builds that did not tie the two.
   */
  readonly mark?: string
  /** Of a session: how many turns its guest has taken. It waits for nothing but the next one. */
  readonly turns?: number
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
  // Earlier builds wrote a list `inDoubt`, which nobody read: what is in doubt follows from the record of the run.
  const { guestId, limits, session, machine, mark, turns } = state
  if (typeof guestId !== 'string' || !GUEST_ID.test(guestId)) throw corrupted('the id of the guest is none')
  if (turns !== undefined && !(Number.isSafeInteger(turns) && (turns as number) >= 0)) {
    throw corrupted('the number of its turns is none')
  }
  if (mark !== undefined && typeof mark !== 'string') throw corrupted('the name of its mark is none')
  return {
    guestId,
    limits: checkedLimits(limits),
    session: checkedSession(session),
    machine,
    ...(mark !== undefined && { mark }),
    ...(turns !== undefined && { turns: turns as number }),
  }
}

function checkedSession(session: unknown): SessionState {
  const state = parseSessionState(session)
  if (!isTime(state.nowMs) || !state.logs.every(({ atMs }) => isTime(atMs)))
    throw corrupted('its times are none')
  return state
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
