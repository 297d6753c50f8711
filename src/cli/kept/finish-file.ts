/**
 * Goes on from a checkpoint file that has no ledger: nothing tells what was done since it was written.
 *
 * Invariants
 * 1. Calls that may have taken effect are not made again, and nothing at all is done before somebody has decided
 *    about every one of them.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { callDigest } from '../../runtime/call-digest.ts'
import type { Guest } from '../../runtime/guest.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { Decisions } from './read-decisions.ts'

/** @throws CaissonError `unknown_call`, and what `Guest.settle` says */
export async function finishGuest(guest: Guest, { answers, confirm }: Decisions): Promise<Outcome> {
  const confirmed = new Set(confirm.map((one) => confirmedId(guest, one)))
  const decided = new Set([...answers.map(({ id }) => id), ...confirmed])
  for (const id of decided) {
    if (!guest.pending.some((call) => call.id === id)) throw unknownCall(`id ${id}`)
  }
  const undecided = guest.inDoubt.filter((id) => !decided.has(id))
  if (undecided.length > 0) return parked(guest)
  for (const { id, value } of answers) {
    if (guest.outcome === undefined) await guest.settle(id, value)
  }
  for (const id of confirmed) {
    if (guest.outcome === undefined) await guest.invoke(id, { confirm: true })
  }
  return guest.outcome ?? guest.finish()
}

function confirmedId({ pending }: Guest, one: number | Digest): number {
  if (typeof one === 'number') return one
  const call = pending.find((candidate) => callDigest(candidate) === one)
  if (call === undefined) throw unknownCall(`digest ${one}`)
  return call.id
}

/** The guest as it was restored, put down again. */
async function parked(guest: Guest): Promise<Outcome> {
  const { pending, inDoubt, wakeAtMs } = guest
  const stateDigest = await guest.stateDigest()
  guest.dispose()
  const { usage, logs, unhandledRejections, engine } = guest.outcome as Outcome
  const ended = { usage, logs, unhandledRejections, engine, stateDigest }
  return {
    status: 'suspended',
    pending,
    inDoubt,
    answered: [],
    ...(wakeAtMs !== undefined && { wakeAtMs }),
    ...ended,
  }
}

function unknownCall(what: string): CaissonError {
  return new CaissonError('unknown_call', `No call with ${what} is pending.`)
}
