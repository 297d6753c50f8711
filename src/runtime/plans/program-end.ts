/** How the work of a node ended, by how its guest did. */
import { CaissonError } from '../../base/errors.ts'
import { failureOf } from '../../graph/run/failure-class.ts'
import type { WorkEnd } from '../../graph/run/node-work.ts'
import type { Ran, Used } from '../../graph/run/run-event.ts'
import type { Outcome } from '../outcome.ts'

/** @param repeatable whether all that the program may call can be called again */
export function programEnd(outcome: Outcome, signal: AbortSignal, repeatable: boolean): WorkEnd {
  switch (outcome.status) {
    case 'completed':
      return { end: 'value', value: outcome.value }
    case 'suspended': {
      const { pending, inDoubt } = outcome
      const calls = pending.filter(({ id }) => inDoubt.includes(id))
      return {
        end: 'in_doubt',
        calls: calls.map(({ id, capability, args }) => ({ call: id, capability, args })),
      }
    }
    case 'exhausted': {
      const { limit, message } = outcome
      const error = {
        class: limit === 'wall' ? 'timeout' : 'fatal',
        code: 'budget_exhausted',
        message,
      } as const
      return { end: 'failure', error, repeatable, limit }
    }
    case 'failed': {
      const { code = 'capability_failed', name, message } = outcome.error
      if (outcome.resumable === true && code !== 'aborted')
        return { end: 'lost', error: new CaissonError('lease_lost', message) }
      const error = failureOf({ code, message: code === 'aborted' ? message : `${name}: ${message}` })
      return { end: 'failure', error, repeatable: repeatable && !signal.aborted }
    }
  }
}

/** What executed it, as events say it. */
export function ranBy({ engine, stateDigest, log }: Outcome): Ran {
  return { engine, ...(stateDigest !== undefined && { state: stateDigest }), ...(log && { log }) }
}

/** What a program used beyond what is known of it. Of one that goes on, the outcome says what all its lives used. */
export function usedBy({ usage }: Outcome, counted: Used): Used {
  const { fuel, wallMs: activeMs, bytesIn, bytesOut } = usage
  const used = { fuel, activeMs, bytes: bytesIn + bytesOut }
  const parts = (['fuel', 'activeMs', 'bytes'] as const).map(
    (part) => [part, Math.max(0, used[part] - (counted[part] ?? 0))] as const,
  )
  return Object.fromEntries(parts)
}
