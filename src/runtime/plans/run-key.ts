/**
 * The key that the values of a run are encrypted under: beside the run, wrapped with the host's key where there is one, and
 * removed for good when the values are erased.
 *
 * Invariants
 * 1. It is in the store before the journal names a value that needs it.
 * 2. Once it was destroyed it is gone; that it was, by whom and when stands in its place, signed where the host signs.
 * 3. A run whose key is not there has no values any more, whoever took it.
 */
import { CaissonError } from '../../base/errors.ts'
import { SEALED_RUN_FORMAT } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { RunValues } from '../../graph/run/run-values.ts'
import { VAULT_KEY_BYTES, ValueVault } from '../../graph/run/value-vault.ts'
import { EntrySeal } from '../../snapshot/run-log/entry-seal.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import type { RunOwner } from '../run-owner.ts'
import { keyName } from './part-names.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import type { RunHold } from './run-hold.ts'
import { damagedRecord, openSideRecord } from './side-record.ts'

const FORMAT = 'key/1'
const CALLED = 'The key of the values'
const KEY_LIMITS = { bytes: 10_000, nodes: 100, depth: 5 }
/** Of 200 characters, each of which may be two of UTF-16. */
const LONGEST_BY = 400
/** A key of a run that is gone may be before it: the last one counts. */
const MOST_ENTRIES = 1_000

/** Who erased the values of a run, and when, in milliseconds since the epoch; nothing of it where only the key is gone. */
export interface Erased {
  readonly by?: string
  readonly atMs?: number
}

export type RunKey =
  | { readonly key: Uint8Array; readonly erased?: undefined }
  | { readonly key?: undefined; readonly erased: Erased }

type KeyParts = Pick<PlanRunParts, 'store' | 'sealing'>
type SealingParts = Pick<PlanRunParts, 'sealing'>

/** Whether the values of a run are encrypted under a key of its own. */
export function isSealed({ proposal }: Pick<RunState, 'proposal'>): boolean {
  return proposal?.format === SEALED_RUN_FORMAT
}

/**
 * Of a run whose values are encrypted.
 * @throws CaissonError `corrupted`, `checkpoint_refused` (also where signers are trusted, and none of them said that it was
 *   erased), `store_failed`
 */
export async function runKeyOf({ store, sealing }: KeyParts, { tenant, run }: RunOwner): Promise<RunKey> {
  const entries = await store.entries(keyName(run), 0, MOST_ENTRIES)
  const last = entries.at(-1)
  if (last === undefined) return { erased: {} }
  const at = entries.length - 1
  const place = { tenant, run, kind: 'key', at, limits: KEY_LIMITS, called: CALLED } as const
  const { fields, signedBy } = await openSideRecord(sealing, last, place)
  const { format, key, erased } = fields
  if (format === FORMAT && key instanceof Uint8Array && key.length === VAULT_KEY_BYTES) return { key }
  if (format === FORMAT && typeof erased === 'object' && erased !== null) {
    if (sealing.trusted !== undefined && signedBy === undefined) throw unsigned(run)
    return { erased: erasedFrom(erased) }
  }
  throw damagedRecord(CALLED, run)
}

function unsigned(run: string): CaissonError {
  const message = `That the values of run "${run}" were erased is signed by nobody.`
  return new CaissonError('checkpoint_refused', message, { details: { differs: 'signature', run } })
}

function erasedFrom({ by, atMs }: { readonly by?: unknown; readonly atMs?: unknown }): Erased {
  return { by: String(by).slice(0, LONGEST_BY), atMs: Number(atMs) }
}

/** @throws CaissonError `store_conflict`, `lease_lost`, `store_failed` */
export async function writeRunKey(
  parts: SealingParts,
  owner: RunOwner,
  key: Uint8Array,
  hold: RunHold,
): Promise<void> {
  await append(parts, owner, { format: FORMAT, key }, hold)
}

/** @throws CaissonError `unsupported` where the store removes nothing, `store_conflict`, `lease_lost`, `store_failed` */
export async function destroyRunKey(
  parts: SealingParts,
  owner: RunOwner,
  erased: Erased,
  hold: RunHold,
): Promise<void> {
  await hold.removePart(keyName(owner.run))
  await append(parts, owner, { format: FORMAT, erased }, hold)
}

async function append(
  { sealing }: SealingParts,
  { tenant, run }: RunOwner,
  record: object,
  hold: RunHold,
): Promise<void> {
  const name = keyName(run)
  const plain = encodeCanonical(record, KEY_LIMITS)
  await hold.withPart(name, async (lease, store) => {
    const at = (await store.entries(name, 0, MOST_ENTRIES)).length
    const sealed = await new EntrySeal(sealing, 'key').seal(plain, { tenant, run, at }, true)
    await store.append(name, at, [sealed], lease)
  })
}

/** The values of a run, with its key where there is one. @throws as `runKeyOf` */
export async function openValues(
  parts: KeyParts,
  owner: RunOwner,
  state: Pick<RunState, 'proposal'>,
): Promise<RunValues> {
  const values = new RunValues(parts.store)
  await useRunKey(parts, owner, state, values)
  return values
}

/** @returns its key, or what became of it; nothing of a run that has none. @throws as `runKeyOf` */
export async function useRunKey(
  parts: KeyParts,
  owner: RunOwner,
  state: Pick<RunState, 'proposal'>,
  values: RunValues,
): Promise<Partial<RunKey>> {
  if (!isSealed(state)) return {}
  const found = await runKeyOf(parts, owner)
  if (found.key !== undefined) values.useVault(new ValueVault(found.key, parts.sealing.ports))
  return found
}
