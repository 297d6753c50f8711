/** Which class of failure a code belongs to: what may be tried again, and what may not. */
import type { GuestFailure } from '../../capability/call.ts'
import type { ErrorClass } from '../plan/plan.ts'
import type { Failure } from './run-event.ts'

const CLASSES: Readonly<Record<string, ErrorClass>> = {
  network_failed: 'transient',
  store_failed: 'transient',
  store_conflict: 'transient',
  rate_limited: 'rate-limited',
  timeout: 'timeout',
  invalid_argument: 'invalid',
  invalid_arguments: 'invalid',
  query_failed: 'invalid',
  value_refused: 'invalid',
  value_too_large: 'invalid',
  value_too_deep: 'invalid',
  denied: 'denied',
  not_granted: 'denied',
  unknown_capability: 'denied',
  revoked: 'denied',
  approval_rejected: 'denied',
  path_denied: 'denied',
  network_denied: 'denied',
  budget_exhausted: 'fatal',
  loop_detected: 'fatal',
  quota_exceeded: 'fatal',
  invalid_result: 'fatal',
  result_too_large: 'fatal',
  corrupted: 'fatal',
}

/** A failed call, as a run records it. */
export function failureOf({ code, message, details }: GuestFailure): Failure {
  const { retryAfterMs } = details ?? {}
  return {
    class: Object.hasOwn(CLASSES, code) ? (CLASSES[code] as ErrorClass) : 'unknown',
    code,
    message: message.slice(0, 2_000),
    ...(typeof retryAfterMs === 'number' && retryAfterMs >= 0 && { retryAfterMs }),
  }
}
