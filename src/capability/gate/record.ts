/**
 * Stages: record the intent before the effect, and the result before the guest sees it.
 *
 * A log that fails ends the run: what follows could not be recorded either, and a guest that went on with an
 * unrecorded answer could not be replayed. What is too large for it is refused, and the run goes on.
 */
import { CaissonError } from '../../base/errors.ts'
import type { CallIntent, CallLog, CallResult } from '../../ports/call-log.ts'
import type { Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import { leaseLost } from './check-lease.ts'
import type { GateParts } from './gate-parts.ts'
import { isThenable } from './is-thenable.ts'
import { refuse, refuseFatally } from './refuse.ts'

/** Undefined when recorded. Nothing may be invoked otherwise. */
export function recordIntent(
  intent: CallIntent,
  parts: GateParts,
  stop: Stop,
): Refusal | undefined | Promise<Refusal | undefined> {
  return record((log) => log.intent(intent), intent.id, intent.capability, parts, stop)
}

/** Undefined when recorded. The answer must be withheld otherwise. */
export function recordResult(
  result: CallResult,
  capability: string,
  parts: GateParts,
  stop: Stop,
): Refusal | undefined | Promise<Refusal | undefined> {
  return record((log) => log.result(result), result.id, capability, parts, stop)
}

function record(
  write: (log: CallLog) => void | Promise<void>,
  callId: number,
  capability: string,
  parts: GateParts,
  stop: Stop,
): Refusal | undefined | Promise<Refusal | undefined> {
  const { callLog } = parts
  if (callLog === undefined) return undefined
  const failed = (cause: unknown): Refusal => {
    // Of who lost the run nothing is recorded any more: that is why, and no defect of the log.
    if (CaissonError.is(cause, 'lease_lost')) return leaseLost()
    if (CaissonError.is(cause, 'value_too_large')) {
      return refuse(
        'value_too_large',
        `What the call of "${capability}" carries is more than the record takes.`,
      )
    }
    parts.report({ callId, capability, code: 'not_recorded', cause })
    return refuseFatally('not_recorded', `The call of "${capability}" could not be recorded.`)
  }
  try {
    const written: unknown = write(callLog)
    if (!isThenable(written)) return undefined
    return new Promise((resolve) => {
      const forget = stop.onStop(() => resolve(refuse('aborted', 'The run was stopped.')))
      Promise.resolve(written).then(
        () => {
          forget()
          resolve(undefined)
        },
        (cause: unknown) => {
          forget()
          resolve(failed(cause))
        },
      )
    })
  } catch (cause) {
    return failed(cause)
  }
}
