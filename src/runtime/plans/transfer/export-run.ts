/**
 * Everything in a store that a run of a plan consists of, in one file.
 *
 * Invariants
 * 1. Nobody writes to the run meanwhile: it is of one moment.
 * 2. What is in it is what the store has. Whether that is sound is asked by whoever reads it.
 */
import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { WatchedStore } from '../../watched-store.ts'
import { cutName, isTaken, ownerOfPart } from '../part-names.ts'
import { noRun } from '../plan-record.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { RunHold } from '../run-hold.ts'
import { type ExportedLog, encodeExport } from './export-format.ts'

const ENTRIES_AT_ONCE = 1_000

/** @throws CaissonError `not_found`, `invalid_transition` for a run whose journal was cut, `store_conflict` while somebody drives it, `lease_lost` where somebody did meanwhile, `checkpoint_too_large`, `unsupported`, `store_failed` */
export async function exportRun(
  { store, sealing, leaseMs }: Pick<PlanRunParts, 'store' | 'sealing' | 'leaseMs'>,
  { run, tenant }: RunOwner,
): Promise<Uint8Array> {
  if (store.runs === undefined)
    throw new CaissonError('unsupported', 'The store does not list runs: what belongs to one is not found.')
  if ((await store.entries(run, 0, 1)).length === 0) {
    if ((await store.entries(cutName(run), 0, 1)).length === 0) throw noRun(run)
    throw new CaissonError(
      'invalid_transition',
      `The journal of run "${run}" was cut: there is nothing to go on from elsewhere.`,
      { details: { run } },
    )
  }
  const hold = await RunHold.take({ store, leaseMs }, run)
  try {
    const parts = (await store.runs()).filter((name) => ownerOfPart(name) === run && isTaken(name))
    const logs: ExportedLog[] = []
    for (const name of [run, ...parts]) logs.push(await readLog(store, name))
    const blobs = new Map<Digest, Uint8Array>()
    for (const { head } of logs) for (const digest of head?.chain ?? []) await addBlob(store, digest, blobs)
    await hold.check()
    return encodeExport({ run, tenant, logs, blobs }, sealing)
  } finally {
    await hold.giveBack()
  }
}

async function readLog(store: WatchedStore, name: string): Promise<ExportedLog> {
  const entries: Uint8Array[] = []
  for (;;) {
    const page = await store.entries(name, entries.length, ENTRIES_AT_ONCE)
    entries.push(...page)
    if (page.length < ENTRIES_AT_ONCE) break
  }
  return { name, head: await store.head(name), entries }
}

async function addBlob(store: WatchedStore, digest: Digest, blobs: Map<Digest, Uint8Array>): Promise<void> {
  if (blobs.has(digest)) return
  const bytes = await store.getBlob(digest)
  if (bytes === undefined)
    throw new CaissonError('not_found', `${digest} of the run is not in the store.`, { details: { digest } })
  blobs.set(digest, bytes)
}
