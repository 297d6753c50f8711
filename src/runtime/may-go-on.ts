/** Whether a kept run may be gone on with as somebody asks: from its newest checkpoint, and not again once it has ended. */
import { CaissonError } from '../base/errors.ts'
import type { RunHead } from '../ports/run-store.ts'
import type { EndEntry } from '../snapshot/run-log/run-entry.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { ResumeOptions } from './options.ts'
import type { RunOwner } from './run-owner.ts'

/**
 * What is given as the checkpoint to go on from must be the newest one: an older one would spend things again.
 * @throws CaissonError `checkpoint_refused`, and as `Checkpoints.inspect`
 */
export async function checkNewest(
  checkpoints: Checkpoints,
  bytes: Uint8Array,
  owner: RunOwner,
  head: RunHead | undefined,
): Promise<void> {
  const given = await checkpoints.inspect(bytes)
  if (given.id === head?.chain[0]) return
  throw new CaissonError(
    'checkpoint_refused',
    given.run === owner.run
      ? `The checkpoint is not the newest of run "${owner.run}": the run has gone on since.`
      : `The checkpoint is of run "${given.run.slice(0, 128)}", and not of "${owner.run}".`,
    { details: { differs: 'newest', given: given.id, newest: head?.chain[0] } },
  )
}

/** A run that used something up can go on with more of it. */
export function mayGoOn({ end }: EndEntry, { limits, addFuel }: ResumeOptions): boolean {
  return end.status === 'exhausted' && (limits !== undefined || addFuel !== undefined)
}

/** A checkpoint cannot be spent twice. What ran out of something waits for more of it. @throws CaissonError `checkpoint_refused` */
export function checkUnspent({ end }: EndEntry, run: string): void {
  if (end.status === 'exhausted') return
  throw new CaissonError(
    'checkpoint_refused',
    `The checkpoint was gone on from already: run "${run}" has ended (${end.status}).`,
    { details: { differs: 'end', ended: end.status } },
  )
}

/**
 * Nothing waits for an answer any more: who gives one is told, rather than left to think that it was taken.
 * @throws CaissonError `approval_mismatch`, `unknown_call`
 */
export function checkNothingDecided(
  { end }: EndEntry,
  run: string,
  { answers = [], confirm = [], decisions = [] }: ResumeOptions,
): void {
  const [decision] = decisions
  if (decision !== undefined) {
    throw new CaissonError(
      'approval_mismatch',
      `Run "${run}" has ended (${end.status}): nothing in it waits for a decision.`,
      { details: { request: decision.request, ended: end.status } },
    )
  }
  if (answers.length + confirm.length === 0) return
  throw new CaissonError(
    'unknown_call',
    `Run "${run}" has ended (${end.status}): no call of it waits for an answer or a confirmation.`,
    { details: { ended: end.status } },
  )
}
