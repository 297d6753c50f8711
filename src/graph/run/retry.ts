/** Whether a failed attempt is made again, and when; and what stands in for its output. */
import type { ErrorClass, Fallback, Retry } from '../plan/plan.ts'
import type { Failure } from './run-event.ts'

const DEFAULT_DELAY_MS = 200
const DEFAULT_MOST_DELAY_MS = 60_000

/**
 * When the next attempt is due, milliseconds since the epoch; undefined where there is none.
 * @param attempt the one that failed, from 1
 * @param mayRepeat whether a call whose effect is not known may be made again
 */
export function retryAtMs(
  retry: Retry | undefined,
  attempt: number,
  error: Failure,
  nowMs: number,
  mayRepeat: boolean,
): number | undefined {
  if (retry === undefined || attempt >= retry.attempts || !retry.on.includes(error.class)) return undefined
  if (!mayRepeat && !SURELY_NOT_DONE.has(error.class)) return undefined
  const most = retry.mostDelayMs ?? DEFAULT_MOST_DELAY_MS
  const { retryAfterMs = 0 } = error
  // What a service asks for is waited for, or the attempt is not made.
  if (retryAfterMs > most) return undefined
  const delay = (retry.delayMs ?? DEFAULT_DELAY_MS) * 2 ** (attempt - 1)
  return nowMs + Math.max(Math.min(delay, most), retryAfterMs)
}

/** A call that failed so had no effect. After the others it may have had one: only what is idempotent is made again. */
const SURELY_NOT_DONE: ReadonlySet<ErrorClass> = new Set(['rate-limited', 'invalid', 'denied'])

/** The first fallback for a failure, with its number. */
export function fallbackFor(
  fallbacks: readonly Fallback[] | undefined,
  error: Failure,
): { readonly index: number; readonly fallback: Fallback } | undefined {
  for (const [index, fallback] of (fallbacks ?? []).entries()) {
    if (fallback.on === undefined || fallback.on.includes(error.class)) return { index, fallback }
  }
  return undefined
}
