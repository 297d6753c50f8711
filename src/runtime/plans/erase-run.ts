/**
 * Erases the values of a run, for everybody: inputs, outputs, arguments, results, and what its programs had in memory.
 *
 * Invariants
 * 1. What was erased cannot be read by anybody who did not copy it before; that it was erased is told.
 * 2. The journal stays as it is: chain, MACs, signatures and digests.
 * 3. Whoever erases again what was erased half goes on where that stopped.
 */
import { CaissonError } from '../../base/errors.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import type { RunOwner } from '../run-owner.ts'
import { isProgramPart, ownerOfPart } from './part-names.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { readStanding } from './read-standing.ts'
import { RunHold } from './run-hold.ts'
import { destroyRunKey, isSealed, runKeyOf } from './run-key.ts'

type EraseParts = Pick<PlanRunParts, 'store' | 'sealing' | 'plans' | 'leaseMs' | 'hostClock'>

/** @throws CaissonError `not_found`, `invalid_transition`, `unsupported`, `store_conflict`, `lease_lost`, `store_failed` */
export async function eraseRun(parts: EraseParts, owner: RunOwner, by: string): Promise<void> {
  const hold = await RunHold.take(parts, owner.run)
  try {
    const { state } = await readStanding(parts, owner)
    const { status = 'proposed' } = state
    if (!isSealed(state)) throw notErasable(owner.run)
    if (!ENDED.has(status)) {
      throw new CaissonError(
        'invalid_transition',
        `The run is ${status}: what it needs to go on cannot be erased.`,
        {
          details: { status },
        },
      )
    }
    const names = (await parts.store.runs?.()) ?? []
    for (const name of names)
      if (ownerOfPart(name) === owner.run && isProgramPart(name)) await hold.removePart(name)
    const { erased } = await runKeyOf(parts, owner)
    if (erased?.atMs === undefined)
      await destroyRunKey(parts, owner, { by, atMs: parts.hostClock.now() }, hold)
  } finally {
    await hold.giveBack()
  }
}

function notErasable(run: string): CaissonError {
  return new CaissonError(
    'unsupported',
    `The values of run "${run}" stand in its journal as they are: it was not proposed as \`erasable\`. Remove it as a whole.`,
    { details: { run } },
  )
}
