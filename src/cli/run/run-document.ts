/** The one JSON document of `caisson run --json`. */
import type { PendingCall } from '../../machine/turn.ts'
import { callDigest } from '../../runtime/call-digest.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import { type Document, type KeptAs, NOT_KEPT } from './refused-document.ts'

/**
 * How a run ended, in fields that are always there. `value` is in the tagged form (docs/value-encoding.md), and null
 * unless `status` is `completed`. `error.code` is null where the program threw an error without one.
 * @param hint what to do about the end
 * @throws CaissonError what `toTaggedJson` refuses
 */
export function runDocument(outcome: Outcome, hint: string | undefined, keptAs: KeptAs = NOT_KEPT): Document {
  return {
    status: outcome.status,
    limit: outcome.status === 'exhausted' ? outcome.limit : null,
    value: outcome.status === 'completed' ? toTaggedJson(outcome.value) : null,
    error: errorOf(outcome),
    hint: hint ?? null,
    usage: outcome.usage,
    logs: outcome.logs,
    unhandledRejections: outcome.unhandledRejections,
    pending: outcome.status === 'suspended' ? outcome.pending.map(callOf) : [],
    inDoubt: outcome.status === 'suspended' ? outcome.inDoubt : [],
    wakeAtMs: outcome.status === 'suspended' ? (outcome.wakeAtMs ?? null) : null,
    left: leftOf(outcome),
    stateDigest: outcome.stateDigest ?? null,
    engine: outcome.engine,
    ...keptAs,
    checkpoint: outcome.checkpoint ?? null,
    resumable: outcome.resumable ?? false,
    unwritten: outcome.unwritten ?? null,
  }
}

function callOf(call: PendingCall): Document {
  const { id, capability, args } = call
  return { id, capability, args: toTaggedJson(args), digest: callDigest(call) }
}

/** What a completed program left pending; null where that is nothing. */
function leftOf(outcome: Outcome): Document | null {
  if (outcome.status !== 'completed' || outcome.left === undefined) return null
  const { calls, timers } = outcome.left
  return { calls: calls.map(callOf), timers }
}

function errorOf(outcome: Outcome): Document | null {
  switch (outcome.status) {
    case 'completed':
    case 'suspended':
      return null
    case 'exhausted':
      return {
        code: 'exhausted',
        name: 'CaissonError',
        message: outcome.message,
        stack: null,
        position: null,
      }
    case 'failed': {
      const { code = null, name, message, stack = null, position = null, cause } = outcome.error
      return { code, name, message, stack, position, ...(cause && { cause }) }
    }
  }
}
