/** The one JSON document of `caisson run --json`. */
import { callDigest } from '../../runtime/call-digest.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { toTaggedJson } from '../../values/tagged-json.ts'
import type { CliError } from '../cli-error.ts'

type Document = Readonly<Record<string, unknown>>

/** Where a run is kept; nulls for one that is not. */
export interface KeptAs {
  readonly run: string | null
  /** The folder of its store, as it was named. */
  readonly store: string | null
  /** The checkpoint file that stands for it by now. */
  readonly checkpointFile: string | null
}

const NOT_KEPT: KeptAs = { run: null, store: null, checkpointFile: null }

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
  }
}

/** The same shape where nothing ran: status `refused`, and why. */
export function refusedDocument(error: CliError): Document {
  return {
    status: 'refused',
    limit: null,
    value: null,
    error: { code: error.code, name: error.name, message: error.message, stack: null, position: null },
    hint: error.hint ?? null,
    usage: {
      fuel: 0,
      memoryBytes: 0,
      calls: 0,
      bytesIn: 0,
      bytesOut: 0,
      logsDropped: 0,
      wallMs: 0,
      idleMs: 0,
    },
    logs: [],
    unhandledRejections: [],
    pending: [],
    inDoubt: [],
    stateDigest: null,
    engine: null,
    ...NOT_KEPT,
    checkpoint: null,
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
