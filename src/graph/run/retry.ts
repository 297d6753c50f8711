/** Whether a failed attempt is made again, and when; and what stands in for its output. */
import { sha256Bytes } from '../../base/digest.ts'
import type { ErrorClass, Fallback, Retry } from '../plan/plan.ts'
import type { Failure } from './run-event.ts'

const DEFAULT_DELAY_MS = 200
const DEFAULT_MOST_DELAY_MS = 60_000

/** The largest share of a wait that is added to it. */
export const MOST_JITTER = 0.25

/** When an attempt is made again. */
export interface NextAttempt {
  /** Milliseconds since the epoch. */
  readonly atMs: number
  /** The share of the wait that was added to it. */
  readonly jitter: number
}

/**
 * When the next attempt is due; undefined where there is none. Waits are in logical time: a process that was away does
 * not wait again.
 * @param attempt the one that failed, from 1
 * @param mayRepeat whether a call whose effect is not known may be made again
 */
export function nextAttempt(
  retry: Retry | undefined,
  attempt: number,
  error: Failure,
  nowMs: number,
  mayRepeat: boolean,
  jitter: number,
): NextAttempt | undefined {
  if (retry === undefined || attempt >= retry.attempts || !retry.on.includes(error.class)) return undefined
  if (!mayRepeat && !SURELY_NOT_DONE.has(error.class)) return undefined
  const most = retry.mostDelayMs ?? DEFAULT_MOST_DELAY_MS
  const { retryAfterMs = 0 } = error
  // What a service asks for is waited for, or the attempt is not made.
  if (retryAfterMs > most) return undefined
  const delay = (retry.delayMs ?? DEFAULT_DELAY_MS) * 2 ** (attempt - 1)
  const wait = Math.max(Math.min(delay, most), retryAfterMs)
  return { atMs: nowMs + Math.min(most, Math.round(wait * (1 + jitter))), jitter }
}

/**
 * The share that is added to the wait after an attempt: from 0 up to `MOST_JITTER`. Derived, so that whoever goes on
 * with a run comes to the same, and different for every run, node and attempt.
 * @param id of the run, unique among all
 */
export function jitterOf(id: string, path: string, attempt: number): number {
  const bytes = sha256Bytes(new TextEncoder().encode(JSON.stringify(['retry jitter 1', id, path, attempt])))
  const drawn = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0)
  return Math.floor((drawn / 2 ** 32) * MOST_JITTER * 10_000) / 10_000
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
