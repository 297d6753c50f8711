/**
 * A run whose journal was cut: a statement of what it was, in its place, sealed like an entry and signed where the host signs.
 *
 * Invariants
 * 1. The statement is in the store, with all that the run still needs, before anything is removed.
 * 2. It stands for exactly one journal, by the digest of its last entry, and for the state that this led to.
 * 3. Where a journal is there it is what counts: a statement beside it is one of a cut that did not come to its end.
 */
import { type Digest, isDigest, sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { encodeImage } from '../../graph/run/image-of-state.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { JournalEnd } from '../../journal/journal.ts'
import { IMAGE_LIMITS } from '../../journal/journal-image.ts'
import { EntrySeal } from '../../snapshot/run-log/entry-seal.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import type { ValueLimits } from '../../values/limits.ts'
import type { RunOwner } from '../run-owner.ts'
import { type ImageParts, readImage, type StandingImage } from './load-image.ts'
import { cutName } from './part-names.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { damagedRecord, openSideRecord } from './side-record.ts'

const FORMAT = 'cut/1'
const CALLED = 'What stands in the place of the journal'
/** A digest for each attempt that ended. */
const CUT_LIMITS: ValueLimits = { bytes: 48 * 1024 * 1024, nodes: 1_000_000, depth: 10 }

/** Of 200 characters, each of which may be two of UTF-16. */
const LONGEST_BY = 400

/** What was cut, and who did it. */
export interface RunCut {
  /** Entries of the journal: all there were. */
  readonly entries: number
  /** Of the last one, which stood for all of them. */
  readonly journal: Digest
  /** Of the state that they led to. */
  readonly state: Digest
  /** What shows that state, in the store. */
  readonly image: Digest
  /** How many there were of each type of event. */
  readonly events: Readonly<Record<string, number>>
  /** Digests of the receipts that followed from them. */
  readonly receipts: readonly Digest[]
  readonly by: string
  readonly atMs: number
}

/** A statement, and whose signature it carries; checked only where signers are trusted. */
export interface SealedCut {
  readonly cut: RunCut
  readonly signedBy: Uint8Array | undefined
}

/** A run that has nothing but its statement. */
export interface StandingCut extends Pick<StandingImage, 'plan' | 'state'> {
  readonly cut: RunCut
  readonly end: JournalEnd
}

export async function sealCut(
  { sealing }: Pick<PlanRunParts, 'sealing'>,
  { tenant, run }: RunOwner,
  cut: RunCut,
): Promise<Uint8Array> {
  const plain = encodeCanonical({ format: FORMAT, ...cut }, CUT_LIMITS, 'cut')
  return new EntrySeal(sealing, 'cut').seal(plain, { tenant, run, at: 0 }, true)
}

/**
 * @returns undefined for a run that was not cut
 * @throws CaissonError `corrupted`, `checkpoint_refused`, `store_failed`
 */
export async function readCut(
  { store, sealing }: Pick<PlanRunParts, 'store' | 'sealing'>,
  { tenant, run }: RunOwner,
): Promise<SealedCut | undefined> {
  const [sealed] = await store.entries(cutName(run), 0, 1)
  if (sealed === undefined) return undefined
  const place = { tenant, run, kind: 'cut', at: 0, limits: CUT_LIMITS, called: CALLED } as const
  const { fields, signedBy } = await openSideRecord(sealing, sealed, place)
  return { cut: cutFrom(fields, run), signedBy }
}

/** @throws CaissonError as `readCut`, and `not_found` where its image is gone */
export async function standingOfCut(parts: ImageParts, owner: RunOwner): Promise<StandingCut | undefined> {
  const sealed = await readCut(parts, owner)
  if (sealed === undefined) return undefined
  const { cut } = sealed
  const { plan, state, end } = await readImage(parts, owner, { digest: cut.image, length: cut.entries })
  if (end.digest !== cut.journal || stateDigest(state) !== cut.state)
    throw new CaissonError(
      'corrupted',
      `What is left of the run "${owner.run}" is not what its journal was cut at.`,
      {
        details: { run: owner.run },
      },
    )
  return { cut, plan, state, end }
}

/** The bytes of a state, whose digest is that of the state. */
export function stateBytes(state: RunState): Uint8Array {
  return encodeImage(state, IMAGE_LIMITS)
}

function stateDigest(state: RunState): Digest {
  return sha256(stateBytes(state))
}

function cutFrom(fields: Readonly<Record<string, unknown>>, run: string): RunCut {
  const { format, entries, journal, state, image, events, receipts, by, atMs } = fields
  const isOne =
    format === FORMAT &&
    isCount(entries) &&
    [journal, state, image].every(isDigest) &&
    Array.isArray(receipts) &&
    receipts.every(isDigest) &&
    typeof events === 'object' &&
    events !== null &&
    Object.values(events).every(isCount) &&
    typeof by === 'string' &&
    by.length <= LONGEST_BY &&
    typeof atMs === 'number'
  if (isOne) return { entries, journal, state, image, events, receipts, by, atMs } as unknown as RunCut
  throw damagedRecord(CALLED, run)
}

function isCount(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= 0
}
