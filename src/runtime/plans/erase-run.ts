/**
 * Erases the values of a run, for everybody: inputs, outputs, arguments, results, and what its programs had in memory.
 *
 * Invariants
 * 1. What was erased cannot be read by anybody who did not copy it before; that it was erased is told.
 * 2. The journal stays as it is: chain, MACs, signatures and digests.
 * 3. A key goes whether or not it can be read: damage is no reason to keep what a person wants gone.
 * 4. Whoever erases again what was erased half goes on where that stopped.
 */
import { CaissonError } from '../../base/errors.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { RunOwner } from '../run-owner.ts'
import { isProgramPart, keyName, ownerOfPart } from './part-names.ts'
import type { EraseOptions } from './plan-run.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { readStanding } from './read-standing.ts'
import { RunHold } from './run-hold.ts'
import { destroyRunKey, isSealed, runKeyOf } from './run-key.ts'

type EraseParts = Pick<PlanRunParts, 'store' | 'sealing' | 'plans' | 'leaseMs' | 'hostClock'>

/** @throws CaissonError `not_found`, `corrupted` and `checkpoint_refused` unless that is no reason, `invalid_transition`, `unsupported`, `store_conflict`, `lease_lost`, `store_failed` */
export async function eraseRun(
  parts: EraseParts,
  owner: RunOwner,
  { by, unreadable = false }: Pick<EraseOptions, 'by' | 'unreadable'>,
): Promise<void> {
  const hold = await RunHold.take(parts, owner.run)
  try {
    const state = await stateOf(parts, owner, unreadable)
    if (state !== undefined) checkErasable(owner.run, state)
    if (!(await wasErased(parts, owner)))
      await destroyRunKey(parts, owner, { by, atMs: parts.hostClock.now() }, hold)
    // Without them the run could not be verified, as long as it is not erased.
    const names = (await parts.store.runs?.()) ?? []
    for (const name of names)
      if (ownerOfPart(name) === owner.run && isProgramPart(name)) await hold.removePart(name)
  } finally {
    await hold.giveBack()
  }
}

/** @returns undefined of a run that nobody can read, where that is no reason to keep its values */
async function stateOf(
  parts: EraseParts,
  owner: RunOwner,
  unreadable: boolean,
): Promise<RunState | undefined> {
  try {
    return (await readStanding(parts, owner)).state
  } catch (error) {
    if (!unreadable || !CaissonError.is(error) || !UNREADABLE.has(error.code)) throw error
    // What has a key has values that are encrypted under it.
    if ((await parts.store.entries(keyName(owner.run), 0, 1)).length === 0)
      throw error.code === 'not_found' ? error : notErasable(owner.run)
    return undefined
  }
}

/** Why a journal is not read, and never will be with what there is here. */
const UNREADABLE: ReadonlySet<string> = new Set([
  'corrupted',
  'checkpoint_refused',
  'encryption_required',
  'not_found',
  'invalid_plan',
  'value_refused',
  'value_too_large',
  'value_too_deep',
])

/** @throws CaissonError `unsupported`, `invalid_transition` */
function checkErasable(run: string, state: RunState): void {
  const { status = 'proposed' } = state
  if (!isSealed(state)) throw notErasable(run)
  if (ENDED.has(status)) return
  throw new CaissonError(
    'invalid_transition',
    `The run is ${status}: what it needs to go on cannot be erased.`,
    {
      details: { status },
    },
  )
}

/** By somebody who said so. A key that cannot be read is still there. */
async function wasErased(parts: EraseParts, owner: RunOwner): Promise<boolean> {
  try {
    return (await runKeyOf(parts, owner)).erased?.atMs !== undefined
  } catch (error) {
    if (CaissonError.is(error) && UNREADABLE.has(error.code)) return false
    throw error
  }
}

function notErasable(run: string): CaissonError {
  return new CaissonError(
    'unsupported',
    `The values of run "${run}" stand in its journal as they are: it was not proposed as \`erasable\`. Remove it as a whole.`,
    { details: { run } },
  )
}
