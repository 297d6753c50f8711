/**
 * That a run was imported, and where it stood: beside the run, sealed like its entries. As long as its journal ends there,
 * it is read-only.
 */
import { type Digest, isDigest } from '../../../base/digest.ts'
import type { JournalEnd } from '../../../journal/journal.ts'
import { EntrySeal } from '../../../snapshot/run-log/entry-seal.ts'
import { encodeCanonical } from '../../../values/encode-canonical.ts'
import type { RunOwner } from '../../run-owner.ts'
import { importMarkName } from '../part-names.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import type { RunHold } from '../run-hold.ts'
import { damagedRecord, openSideRecord } from '../side-record.ts'

const FORMAT = 'import/1'
const CALLED = 'The import mark'
const MARK_LIMITS = { bytes: 10_000, nodes: 100, depth: 5 }

type MarkParts = Pick<PlanRunParts, 'store' | 'sealing'>
type Whose = Pick<RunOwner, 'tenant' | 'run'>

/** Where the run stood that was imported; undefined for one that was not. */
export interface ImportMark {
  readonly length: number
  readonly digest: Digest
}

/** A mark of an import that did not come to its end gives way. @throws CaissonError `store_conflict`, `lease_lost`, `store_failed` */
export async function markImported(
  { sealing }: Pick<MarkParts, 'sealing'>,
  { tenant, run }: Whose,
  { length, digest }: JournalEnd,
  hold: RunHold,
): Promise<void> {
  const name = importMarkName(run)
  const plain = encodeCanonical({ format: FORMAT, length, digest }, MARK_LIMITS)
  await hold.withPart(name, async (lease, store) => {
    const at = (await store.entries(name, 0, MOST_MARKS)).length
    const sealed = await new EntrySeal(sealing, 'import').seal(plain, { tenant, run, at })
    await store.append(name, at, [sealed], lease)
  })
}

/** Imports that were begun, and are tried again. */
const MOST_MARKS = 1_000

/** @throws CaissonError `corrupted`, `checkpoint_refused`, `store_failed` */
export async function importMarkOf(
  { store, sealing }: MarkParts,
  { tenant, run }: Whose,
): Promise<ImportMark | undefined> {
  const entries = await store.entries(importMarkName(run), 0, MOST_MARKS)
  const last = entries.at(-1)
  if (last === undefined) return undefined
  const place = {
    tenant,
    run,
    kind: 'import',
    at: entries.length - 1,
    limits: MARK_LIMITS,
    called: CALLED,
  } as const
  const { format, length, digest } = (await openSideRecord(sealing, last, place)).fields
  if (format === FORMAT && Number.isSafeInteger(length) && isDigest(digest))
    return { length: length as number, digest }
  throw damagedRecord(CALLED, run)
}
