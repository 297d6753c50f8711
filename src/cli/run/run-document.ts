/** The one JSON document of `caisson run --json`. */
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
    pending:
      outcome.status === 'suspended'
        ? outcome.pending.map((call) => ({
            id: call.id,
            capability: call.capability,
            args: toTaggedJson(call.args),
            digest: callDigest(call),
          }))
        : [],
    inDoubt: outcome.status === 'suspended' ? outcome.inDoubt : [],
    stateDigest: outcome.stateDigest ?? null,
    engine: outcome.engine,
    ...keptAs,
    checkpoint: outcome.checkpoint ?? null,
    resumable: outcome.resumable ?? false,
    unwritten: outcome.unwritten ?? null,
  }
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
