/** Figures of reports: how long things took, and of which kinds the failures were. */
import type { ErrorClass } from '../plan/plan.ts'
import type { Failure } from './run-event.ts'

/** Durations in milliseconds, of what has ended. */
export interface Latency {
  readonly count: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly mostMs: number
}

/** Failures by class, and by code in it. */
export type Failures = Readonly<Partial<Record<ErrorClass, Readonly<Record<string, number>>>>>

export type FailureTally = Map<ErrorClass, Map<string, number>>

export function countFailure(failures: FailureTally, { class: kind, code }: Failure): void {
  const codes = failures.get(kind) ?? new Map<string, number>()
  codes.set(code, (codes.get(code) ?? 0) + 1)
  failures.set(kind, codes)
}

export function failuresOf(failures: FailureTally): Failures {
  return Object.fromEntries([...failures].map(([kind, codes]) => [kind, Object.fromEntries(codes)] as const))
}

/** Exact, and not estimated: a run has as many as its journal holds. */
export function latencyOf(took: readonly number[]): Latency {
  const sorted = [...took].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { count: sorted.length, medianMs: at(0.5), p95Ms: at(0.95), mostMs: at(1) }
}
