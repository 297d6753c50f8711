/** The log of a program that is a kept run: read from its start, and compared with what the journal says of its end. */
import type { Digest } from '../../../base/digest.ts'
import { CaissonError } from '../../../base/errors.ts'
import { EntryCodec } from '../../../snapshot/run-log/entry-codec.ts'
import type { RunEntry } from '../../../snapshot/run-log/run-entry.ts'
import type { LogEnd } from '../../outcome.ts'
import { programKeys } from '../../program-keys.ts'
import type { RunOwner } from '../../run-owner.ts'
import type { PlanRunParts } from '../plan-run-parts.ts'
import { type Attempt, differs } from './attempt.ts'

const ENTRIES_AT_ONCE = 1_000

type LogParts = Pick<PlanRunParts, 'store' | 'sealing' | 'inspect'>

/** Of the run that a program is of, where it has one. */
type KeyOfRun = Uint8Array | undefined

export interface ProgramLog {
  readonly entries: readonly RunEntry[]
  readonly end: LogEnd | undefined
}

/** @param most entries beyond are not read. @throws CaissonError `corrupted`, `checkpoint_refused`, `encryption_required` */
export async function readProgramLog(
  { store, sealing }: Pick<PlanRunParts, 'store' | 'sealing'>,
  { run, tenant }: RunOwner,
  key: KeyOfRun,
  most: number = Number.POSITIVE_INFINITY,
): Promise<ProgramLog> {
  const keys = key === undefined ? sealing.keys : programKeys(sealing.keys, key, sealing.ports.hash)
  const codec = new EntryCodec({ ...sealing, ...(keys && { keys }) })
  const entries: RunEntry[] = []
  for (;;) {
    const wanted = Math.min(ENTRIES_AT_ONCE, most - entries.length)
    const sealed = wanted > 0 ? await store.entries(run, entries.length, wanted) : []
    for (const bytes of sealed) entries.push(await codec.open(bytes, { tenant, run, at: entries.length }))
    if (sealed.length < ENTRIES_AT_ONCE) break
  }
  const { last } = codec
  return { entries, end: last === undefined ? undefined : { entries: entries.length, digest: last } }
}

/**
 * Its entries, and its checkpoints, are what they were when it ended.
 * @returns the first entry
 * @throws Differs
 */
export async function checkLog(
  parts: LogParts,
  owner: RunOwner,
  attempt: Attempt,
  key: KeyOfRun,
): Promise<RunEntry | undefined> {
  const { log } = attempt.ran
  try {
    const { entries, end } = await readProgramLog(parts, owner, key, log?.entries)
    const [recorded, found] = [shown(log), shown(end)]
    if (log !== undefined && recorded !== found)
      throw differs('log', attempt, 'Its log is another one than when it ended.', { recorded, found })
    const head = await parts.store.head(owner.run)
    for (const id of head?.chain ?? []) await checkCheckpoint(parts, id)
    return entries[0]
  } catch (error) {
    if (!CaissonError.is(error) || !DAMAGED.has(error.code)) throw error
    throw differs('log', attempt, error.message)
  }
}

async function checkCheckpoint({ store, inspect }: LogParts, id: Digest): Promise<void> {
  const bytes = await store.getBlob(id)
  if (bytes === undefined) throw new CaissonError('corrupted', `The checkpoint ${id} is missing.`)
  const found = await inspect(bytes)
  if (found !== id) throw new CaissonError('corrupted', `The checkpoint ${id} was changed in the store.`)
}

function shown(log: LogEnd | undefined): string {
  return log === undefined ? 'none' : `${log.entries} entries, ${log.digest}`
}

const DAMAGED: ReadonlySet<string> = new Set(['corrupted', 'checkpoint_refused', 'checkpoint_too_large'])
