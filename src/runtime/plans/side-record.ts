/**
 * Records that stand beside the journal of a run (its key, that it was imported, that it was cut), each sealed like an entry.
 *
 * Invariant: whatever a store has in the place of one is refused with a code and its name, and is never taken for one.
 */
import { CaissonError } from '../../base/errors.ts'
import { EntrySeal, type EntrySealOptions, type LogKind } from '../../snapshot/run-log/entry-seal.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import type { ValueLimits } from '../../values/limits.ts'
import type { RunOwner } from '../run-owner.ts'

export interface SideRecord {
  /** As they were decoded: to be checked. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Public key of whose signature it carries. Checked only where signers are trusted. */
  readonly signedBy: Uint8Array | undefined
}

interface SidePlace extends Pick<RunOwner, 'tenant' | 'run'> {
  readonly kind: LogKind
  /** Number of the entry. */
  readonly at: number
  readonly limits: ValueLimits
  /** What it is, for messages: "The key of the values". */
  readonly called: string
}

/** @throws CaissonError `corrupted`, `checkpoint_refused`, `encryption_required` */
export async function openSideRecord(
  sealing: EntrySealOptions,
  sealed: Uint8Array,
  { tenant, run, kind, at, limits, called }: SidePlace,
): Promise<SideRecord> {
  const seal = new EntrySeal(sealing, kind)
  const plain = await seal.open(sealed, { tenant, run, at })
  let value: unknown
  try {
    value = decodeCanonical(plain, limits)
  } catch (cause) {
    if (!CaissonError.is(cause)) throw cause
    throw damagedRecord(called, run, cause)
  }
  if (typeof value !== 'object' || value === null) throw damagedRecord(called, run)
  return { fields: value as SideRecord['fields'], signedBy: seal.signedBy }
}

export function damagedRecord(called: string, run: string, cause?: unknown): CaissonError {
  return new CaissonError('corrupted', `${called} of run "${run}" is damaged.`, { details: { run }, cause })
}
