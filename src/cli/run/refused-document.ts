/** The JSON document of `caisson run --json` where nothing ran: in a file of its own, for it needs nothing of a run. */
import { CaissonError } from '../../base/errors.ts'
import type { CliError } from '../cli-error.ts'

export type Document = Readonly<Record<string, unknown>>

/** Where a run is kept; nulls for one that is not. */
export interface KeptAs {
  readonly run: string | null
  /** The folder of its store, as it was named. */
  readonly store: string | null
  /** The checkpoint file that stands for it by now. */
  readonly checkpointFile: string | null
}

export const NOT_KEPT: KeptAs = { run: null, store: null, checkpointFile: null }

/** When a run that another process holds can be asked for again, where that is known. */
function retryAfter({ cause }: CliError): Document {
  const retryAfterMs = CaissonError.is(cause) ? cause.details.retryAfterMs : undefined
  return typeof retryAfterMs === 'number' ? { retryAfterMs } : {}
}

/** The shape of `runDocument`: status `refused`, and why. */
export function refusedDocument(error: CliError): Document {
  return {
    status: 'refused',
    limit: null,
    value: null,
    error: {
      code: error.code,
      name: error.name,
      message: error.message,
      stack: null,
      position: null,
      ...retryAfter(error),
    },
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
    wakeAtMs: null,
    left: null,
    stateDigest: null,
    engine: null,
    ...NOT_KEPT,
    checkpoint: null,
    resumable: false,
    unwritten: null,
  }
}
