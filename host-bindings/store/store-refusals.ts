/** The refusals of the port, in the same words from every store. */
import type { Digest } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'

/** How soon to ask again where somebody else was faster just now. */
const SOON_MS = 10

/** Somebody else holds the run. */
export function heldByOther(run: string, retryAfterMs: number): CaissonError {
  return new CaissonError('store_conflict', `Somebody else holds the run ${run}.`, {
    details: { run, retryAfterMs: Math.max(1, Math.ceil(retryAfterMs)) },
  })
}

/** Somebody else is just taking the run, or giving it back. */
export function takenJustNow(run: string): CaissonError {
  return heldByOther(run, SOON_MS)
}

/** The lease in use is not the newest, ran out and was taken, or was given back. */
export function leaseLost(run: string): CaissonError {
  return new CaissonError('lease_lost', `This lease of the run ${run} is not the newest one any more.`, {
    details: { run },
  })
}

/** The head is another one than the caller knew. */
export function headMoved(run: string, found: number, wanted: number): CaissonError {
  return new CaissonError(
    'store_conflict',
    `The head of the run ${run} has version ${found}; the next is ${found + 1}, not ${wanted}.`,
    { details: { run, version: found } },
  )
}

/** The log has another length than the caller knew. */
export function logMoved(run: string, entries: number, at: number): CaissonError {
  return new CaissonError('store_conflict', `The log of the run ${run} has ${entries} entries, not ${at}.`, {
    details: { run, entries },
  })
}

/** A head may name only what is in the store: nothing else protects it from being collected. */
export function missingCheckpoint(run: string, id: Digest): CaissonError {
  return new CaissonError(
    'invalid_argument',
    `The head of the run ${run} names a checkpoint that was not put.`,
    {
      details: { run, checkpoint: id },
    },
  )
}

/** A head cannot include more of the log than there is. */
export function positionBeyondLog(run: string, position: number, entries: number): CaissonError {
  return new CaissonError(
    'invalid_argument',
    `The head of the run ${run} includes ${position} entries of a log that has ${entries}.`,
    { details: { run, position, entries } },
  )
}

export function storeClosed(): CaissonError {
  return new CaissonError('disposed', 'The store was closed.')
}
