/**
 * Cuts the journal of a run that has ended, and puts a statement of what it was in its place.
 *
 * Invariants
 * 1. At every moment the run is whole or cut: the statement is there before the journal goes, and the logs of its programs,
 *    by which a journal is verified, go after that.
 * 2. Whoever cuts again what was cut half goes on where that stopped.
 */
import { sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import { ENDED } from '../../graph/run/transitions.ts'
import { sealImage } from '../../journal/journal-image.ts'
import { encodeReceipt } from '../../journal/receipt.ts'
import { encodePlanSummary, SHELF_SUMMARY } from '../plan-summary.ts'
import type { RunOwner } from '../run-owner.ts'
import { cutName, isProgramPart, ownerOfPart } from './part-names.ts'
import { type History, readHistory, readStanding } from './read-standing.ts'
import { type RunCut, sealCut, standingOfCut, stateBytes } from './run-cut.ts'
import { RunHold } from './run-hold.ts'
import { summaryOf } from './run-view.ts'
import { namedImage } from './value-shelves.ts'
import type { VerifyParts } from './verify/verification.ts'
import { receiptsOf } from './verify/verify-run.ts'

/**
 * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `invalid_transition` for a run that has not ended,
 *   `unsupported` where the store removes nothing, `value_too_large` for a state that has no image, `store_conflict`, `lease_lost`, `store_failed`
 */
export async function compactRun(parts: VerifyParts, owner: RunOwner, by: string): Promise<void> {
  const { store } = parts
  const hold = await RunHold.take(parts, owner.run)
  try {
    const history = await readHistory(parts, owner)
    const { status = 'proposed' } = history.state
    if (!ENDED.has(status)) {
      throw new CaissonError('invalid_transition', `The run is ${status}: it needs its journal to go on.`, {
        details: { status },
      })
    }
    if (history.cut === undefined) {
      await writeCut(parts, owner, history, by, hold)
      // Nothing is removed before what stands in its place was read back.
      await standingOfCut(parts, owner)
      await store.remove?.(owner.run, hold.lease)
    }
  } finally {
    await hold.giveBack()
  }
  await finishCut(parts, owner)
}

/** Everything that is still needed is on its list. What an earlier try left gives way once all of it is known. */
async function writeCut(
  parts: VerifyParts,
  owner: RunOwner,
  { plan, state, end, head, events }: History,
  by: string,
  hold: RunHold,
): Promise<void> {
  const { sealing, hostClock } = parts
  const { digest, length } = end
  if (digest === undefined) return
  const bytes = stateBytes(state)
  const sealed = await sealImage({ ...owner, sealing }, { length, digest }, bytes)
  const image = sha256(sealed)
  const cut: RunCut = {
    entries: length,
    journal: digest,
    state: sha256(bytes),
    image,
    events: countsOf(events),
    receipts: await receiptDigests(parts, owner),
    by,
    atMs: hostClock.now(),
  }
  const statement = await sealCut(parts, owner, cut)
  const before = namedImage(head)?.digest
  const values = (head?.chain ?? []).filter((one) => one !== before && one !== plan.digest)
  const name = cutName(owner.run)
  await hold.removePart(name)
  await hold.withPart(name, async (lease, store) => {
    await store.putBlob(image, sealed)
    const chain = [plan.digest, image, ...values]
    await store.setHead(name, { version: 1, chain, position: 0, summary: SHELF_SUMMARY }, lease)
    await store.append(name, 0, [statement], lease)
  })
}

/** Of a run whose values were erased there are none any more. */
async function receiptDigests(parts: VerifyParts, owner: RunOwner): Promise<RunCut['receipts']> {
  try {
    return (await receiptsOf(parts, owner)).map((receipt) => sha256(encodeReceipt(receipt)))
  } catch (error) {
    if (CaissonError.is(error, 'erased')) return []
    throw error
  }
}

/** Lists find it by its head, which went with its journal; the logs of its programs are of no use any more. */
async function finishCut(parts: VerifyParts, owner: RunOwner): Promise<void> {
  const { store } = parts
  const { run } = owner
  const hold = await RunHold.take(parts, run)
  try {
    const { plan, state, head, cut } = await readStanding(parts, owner)
    // It was removed by others meanwhile, and this is another one.
    if (cut === undefined) return
    if (head === undefined) {
      const summary = encodePlanSummary(summaryOf(plan, state, false, state.timeMs))
      await store.setHead(run, { version: 1, chain: [plan.digest], position: 0, summary }, hold.lease)
    }
    for (const name of (await store.runs?.()) ?? [])
      if (ownerOfPart(name) === run && isProgramPart(name)) await hold.removePart(name)
  } finally {
    await hold.giveBack()
  }
}

function countsOf(events: readonly RecordedEvent[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { type } of events) counts[type] = (counts[type] ?? 0) + 1
  return counts
}
