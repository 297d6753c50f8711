/**
 * Where the causes of failed calls go: whole to the embedder's listener, as names alone to telemetry.
 *
 * Invariants
 * 1. Neither can disturb the other, the call, or the process: what a listener throws or rejects with is dropped.
 */
import type { ReportToHost } from '../capability/gate/gate-parts.ts'
import type { RuntimeOptions } from './options.ts'

/** Undefined where nobody listens. */
export function failureReport({ telemetry, onCapabilityError }: RuntimeOptions): ReportToHost | undefined {
  if (telemetry === undefined && onCapabilityError === undefined) return undefined
  return (failure) => {
    telemetry?.event('capability.failed', { capability: failure.capability, code: failure.code })
    tell(() => onCapabilityError?.(failure))
  }
}

/** Tells a listener of the embedder. Nothing comes back from it. */
function tell(listener: () => unknown): void {
  try {
    const told = listener()
    // An async listener that fails must not end the process.
    if (told instanceof Promise) told.catch(() => {})
  } catch {
    // A listener that throws is its owner's affair.
  }
}
