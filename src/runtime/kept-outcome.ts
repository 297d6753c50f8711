/** How a kept run came to rest, or comes to rest again where it has ended. */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { MachineStart } from '../machine/turn.ts'
import type { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { KeptRun } from './kept-run.ts'
import type { LogEnd, UnwrittenCheckpoints } from './outcome.ts'

/** How a kept run came to rest, and where it stands. */
export interface KeptOutcome {
  readonly outcome: DrivenOutcome
  readonly start: MachineStart
  readonly checkpoint: Digest | undefined
  readonly stateDigest: string | undefined
  /** Whether `resume` leads further. */
  readonly resumable: boolean
  readonly unwritten?: UnwrittenCheckpoints | undefined
  /** Where its log ends. */
  readonly log?: LogEnd | undefined
}

/** A run that has ended ends the same however often it is asked. */
export function endedOutcome({ record: { end }, read, at, codec }: KeptRun): KeptOutcome {
  if (end === undefined) throw new CaissonError('corrupted', 'The run has not ended.')
  const { usage, logs, unhandledRejections = [] } = end
  const outcome: DrivenOutcome = { ...end.end, usage, logs, unhandledRejections }
  return {
    outcome,
    start: { source: '', capabilities: [] } as unknown as MachineStart,
    checkpoint: read?.chain[0],
    stateDigest: undefined,
    resumable: end.end.status === 'exhausted',
    log: logEnd(at, codec),
  }
}

function logEnd(entries: number, { last }: EntryCodec): LogEnd | undefined {
  return last === undefined ? undefined : { entries, digest: last }
}
