/**
 * Stage: the effect, once, or as often as the capability's retry policy allows.
 *
 * Invariants
 * 1. Without a policy there is one attempt; a definition has one only if repeating is harmless.
 * 2. Before every attempt the run must not be stopped, the grant not taken back, the lease held.
 * 3. Every attempt gets a copy of its own of the same final arguments, and the same idempotency key.
 */
import { CaissonError } from '../../base/errors.ts'
import type { Refusal } from '../call.ts'
import type { RetryPolicy } from '../capability.ts'
import type { Stop } from '../stop.ts'
import { attempt } from './attempt.ts'
import { checkRevoked } from './authorise.ts'
import { checkLease } from './check-lease.ts'
import { checkStop } from './check-stop.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import type { Settled } from './settled.ts'

const MAX_DELAY_MS = 600_000

/** How the effect ended; a `Refusal` when it was not (or not again) attempted. Never rejects. */
export async function invoke(
  passage: Passage,
  final: FinalValue,
  idempotencyKey: string,
  parts: GateParts,
  stop: Stop,
): Promise<Settled | Refusal> {
  const { retry } = passage.capability
  const attempts = retry?.attempts ?? 1
  for (let number = 1; ; number++) {
    const leaving = checkLease(parts)
    const refused =
      (leaving instanceof Promise ? await leaving : leaving) ?? checkStop(stop) ?? checkRevoked(passage)
    if (refused !== undefined) return refused
    const begun = attempt(passage, final, idempotencyKey, number, stop, parts.decisions)
    const ended = begun instanceof Promise ? await begun : begun
    if (ended.end === 'value' || ended.end === 'stopped' || number >= attempts || retry === undefined)
      return ended
    const error = ended.end === 'error' ? ended.error : timeoutOf(passage)
    const delayMs = nextDelay(retry, number + 1, error)
    if (delayMs === undefined) return ended
    parts.retrying?.(idempotencyKey, number + 1, error)
    await pause(delayMs, stop)
  }
}

/** What a timed-out attempt counts as, for retry policies and for the guest. */
export function timeoutOf(passage: Passage): CaissonError {
  return new CaissonError('timeout', `"${passage.name}" did not answer within ${passage.timeoutMs} ms.`)
}

/** Milliseconds to wait before attempt `number`; undefined for no further attempt, also when the policy throws. */
function nextDelay(retry: RetryPolicy, number: number, error: unknown): number | undefined {
  try {
    const again =
      retry.when === undefined
        ? CaissonError.is(error, 'timeout') || CaissonError.is(error, 'network_failed')
        : retry.when(error) === true
    if (!again) return undefined
    const delayMs = retry.delayMs?.(number, error) ?? Math.min(5_000, 100 * 2 ** (number - 2))
    return typeof delayMs === 'number' && delayMs >= 0 ? Math.min(delayMs, MAX_DELAY_MS) : undefined
  } catch {
    return undefined
  }
}

function pause(delayMs: number, stop: Stop): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer)
      forget()
      resolve()
    }
    const timer = setTimeout(finish, delayMs)
    const forget = stop.onStop(finish)
    if (stop.stopped) finish()
  })
}
