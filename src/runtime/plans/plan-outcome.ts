/** How a run of a plan came to rest, from its state. */
import type { Digest } from '../../base/digest.ts'
import { nextDueMs } from '../../graph/run/next-actions.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { RunValues } from '../../graph/run/run-values.ts'
import type { PlanOutcome } from './plan-run.ts'
import { openRequests, statusOf } from './run-view.ts'

const UNKNOWN = { class: 'unknown', code: 'capability_failed', message: 'It failed.' } as const

/** @throws CaissonError of an output that cannot be read */
export async function outcomeOf(
  run: string,
  state: RunState,
  values: RunValues,
  point: Digest,
): Promise<PlanOutcome> {
  const { used } = state
  const status = statusOf(state, false)
  switch (status) {
    case 'completed':
      return { run, used, status, output: state.output && (await values.load(state.output)) }
    case 'failed': {
      const { node, error } = state.failure ?? { node: '', error: UNKNOWN }
      return { run, used, status, error, node }
    }
    case 'compensated':
      return { run, used, status, left: state.left, error: state.failure?.error }
    case 'rejected':
      return { run, used, status, reason: state.reason ?? '' }
    case 'cancelled':
    case 'proposed':
    case 'approved':
      return { run, used, status }
    case 'frozen': {
      const { reason, message } = state.frozen ?? { reason: 'asked' as const, message: '' }
      return { run, used, status, reason, message, point }
    }
    case 'waiting':
      return { run, used, status, requests: openRequests(state), untilMs: nextDueMs(state) }
    default:
      return { run, used, status: 'interrupted', point }
  }
}
