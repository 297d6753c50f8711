/** The key of the values of a run, as verifying needs it: what is wrong with it is a difference, and no reason to give up. */
import { CaissonError } from '../../../base/errors.ts'
import type { RunState } from '../../../graph/run/run-state.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { type Erased, isSealed, runKeyOf } from '../run-key.ts'
import type { Difference } from './difference.ts'

export interface KeyFound {
  /** Undefined of a run that has none, or has it no more. */
  readonly key: Uint8Array | undefined
  readonly erased: Erased | undefined
  readonly difference: Difference | undefined
}

/** @throws CaissonError `store_failed` */
export async function readKey(
  parts: Pick<PlanRunParts, 'store' | 'sealing'>,
  owner: RunOwner,
  state: Pick<RunState, 'proposal'>,
): Promise<KeyFound> {
  if (!isSealed(state)) return { key: undefined, erased: undefined, difference: undefined }
  try {
    const { key, erased } = await runKeyOf(parts, owner)
    return { key, erased, difference: undefined }
  } catch (error) {
    if (!CaissonError.is(error) || !OF_THE_KEY.has(error.code)) throw error
    const of = error.details.differs === 'signature' ? 'signature' : 'key'
    // What was erased, and is vouched for by nobody, is not there all the same.
    return { key: undefined, erased: undefined, difference: { of, position: 0, message: error.message } }
  }
}

const OF_THE_KEY: ReadonlySet<string> = new Set(['corrupted', 'checkpoint_refused', 'encryption_required'])
