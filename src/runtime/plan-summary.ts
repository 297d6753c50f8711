/** What lists show of runs of plans: written in their heads for people, and believed by nobody. */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { RunStatus } from '../graph/run/transitions.ts'
import { traceparentOf } from './span-facts.ts'

/** Of a run: as its journal has it, or `waiting`, where it does nothing more by itself before somebody or something comes. */
export type PlanStatus = RunStatus | 'waiting' | 'interrupted'

export interface PlanSummary {
  readonly kind: 'plan'
  readonly status: PlanStatus
  readonly plan: { readonly name: string; readonly version: string; readonly digest: Digest }
  /** Requests that wait for people. */
  readonly requests?: number
  /** Names of events from outside that nodes wait for: the first ones. */
  readonly events?: readonly string[]
  /** When its next timer is due, milliseconds since the epoch. */
  readonly wakeAtMs?: number
  /** When it was written, milliseconds since the epoch. */
  readonly atMs: number
  /** `traceparent` of the span that tells of it, for who goes on with it. */
  readonly trace?: string
}

const LONGEST_NAME = 200
/** So many names of events are shown. */
export const MOST_EVENTS = 5

export function encodePlanSummary(summary: PlanSummary): Uint8Array {
  const { plan } = summary
  const shown = { ...plan, version: clipText(plan.version, LONGEST_NAME) }
  return new TextEncoder().encode(JSON.stringify({ ...summary, plan: shown }))
}

/** Undefined for what is the summary of anything else. */
export function decodePlanSummary(bytes: Uint8Array): PlanSummary | undefined {
  try {
    const summary = JSON.parse(new TextDecoder().decode(bytes)) as Partial<PlanSummary> | null
    if (summary?.kind !== 'plan') return undefined
    const { status, plan, requests, events, wakeAtMs, atMs } = summary
    const trace = traceparentOf(summary.trace)
    return {
      kind: 'plan',
      status: String(status) as PlanStatus,
      plan: {
        name: String(plan?.name),
        version: String(plan?.version),
        digest: String(plan?.digest) as Digest,
      },
      atMs: Number(atMs),
      ...(requests !== undefined && { requests: Number(requests) }),
      ...(Array.isArray(events) && { events: events.slice(0, MOST_EVENTS).map(String) }),
      ...(wakeAtMs !== undefined && { wakeAtMs: Number(wakeAtMs) }),
      ...(trace !== undefined && { trace }),
    }
  } catch {
    return undefined
  }
}

/** Of a head that only lists values of a run. */
export const SHELF_SUMMARY: Uint8Array = new TextEncoder().encode('{"kind":"values"}')

export function isShelf(summary: Uint8Array): boolean {
  return summary.length === SHELF_SUMMARY.length && summary.every((byte, i) => byte === SHELF_SUMMARY[i])
}

/**
 * Refuses what goes on with programs, or looks at them, where the run is one of a plan.
 * @param summary of its head
 * @throws CaissonError `invalid_argument` with `details: { run, kind: 'plan' }`
 */
export function refusePlanRun(run: string, summary: Uint8Array | undefined): void {
  if (summary === undefined || decodePlanSummary(summary) === undefined) return
  throw new CaissonError(
    'invalid_argument',
    `"${run}" is a run of a plan, and no program: \`runtime.planRun("${run}")\` gives it, and its own \`resume\` goes on with it.`,
    { details: { run, kind: 'plan' } },
  )
}
