/**
 * Reads a kept run from its store: the newest checkpoint, and what the log says from there on. Changes nothing.
 *
 * Invariants
 * 1. The log is read from the mark of the checkpoint, or from its start where there is none, or none is wanted.
 * 2. What belongs to another tenant or principal, or to a checkpoint of another engine, is refused before anything is
 *    made of it.
 * 3. A checkpoint is gone on from with the part of the log that was written after it, and no other: from a later part,
 *    calls that were answered between would be made again. A head says where that is, and nobody vouches for a head.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { LedgerState } from '../capability/budget.ts'
import type { Gate } from '../capability/gate.ts'
import type { Limits } from '../machine/limits.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type { GuestCapability, MachineStart } from '../machine/turn.ts'
import type { RunHead } from '../ports/run-store.ts'
import { modulesWanted } from '../program/import-problem.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import { type RunEntry, type StartEntry, startOf } from '../snapshot/run-log/run-entry.ts'
import { foldRun, type RunRecord } from '../snapshot/run-log/run-record.ts'
import type { Checkpoints, ReadCheckpoint } from './checkpoints.ts'
import { goingOn } from './going-on.ts'
import type { MachineSource } from './machine-source.ts'
import { refusePlanRun } from './plan-summary.ts'
import type { RunOwner } from './run-owner.ts'
import type { WatchedStore } from './watched-store.ts'

const ENTRIES_AT_ONCE = 1_000

export interface KeptRunParts {
  readonly store: WatchedStore
  readonly checkpoints: Checkpoints
  readonly machines: MachineSource
}

export interface KeptRun {
  readonly head: RunHead | undefined
  /** The newest checkpoint; undefined before the first. */
  readonly read: ReadCheckpoint | undefined
  readonly record: RunRecord
  /** Has opened the log: the next entry that it seals follows the last one. */
  readonly codec: EntryCodec
  /** Entries in the log. */
  readonly at: number
  /** Bytes of those that were read after the first one: what a newer checkpoint would have spared. */
  readonly bytes: number
  /** What the run was captured with last, or began with. */
  readonly captured: { readonly guestId: string; readonly limits: Limits }
}

/**
 * @param reexecute reads the log from its start, and no checkpoint
 * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `engine_mismatch`, `encryption_required`,
 *   `invalid_argument` for a run of a plan
 */
export async function readKeptRun(
  parts: KeptRunParts,
  owner: RunOwner,
  reexecute: boolean = false,
): Promise<KeptRun> {
  const head = await parts.store.head(owner.run)
  refusePlanRun(owner.run, head?.summary)
  const read = reexecute || head?.chain[0] === undefined ? undefined : await readHead(parts, head, owner)
  const codec = new EntryCodec(parts.checkpoints.sealing)
  const from = read === undefined ? 0 : (head?.position ?? 0)
  const { entries, at, bytes } = await readEntries(parts.store, owner, from, codec)
  const record = foldRun(entries)
  if (record.from.type === 'start') checkOwner(record.from, owner)
  else if (read === undefined) throw noStart(owner.run)
  if (read !== undefined) checkMark(record.from, read, owner.run)
  const captured = read?.state ?? (record.from as StartEntry)
  return { head, read, record, codec, at, bytes, captured }
}

/**
 * What the calls of a run took of its grants, by its record; undefined where there is none. No checkpoint is read for it:
 * every mark has all that was taken until then, so that the log says the same whichever of them it is read from.
 */
export async function tookBefore(
  { store, checkpoints }: KeptRunParts,
  owner: RunOwner,
): Promise<LedgerState['accounts'] | undefined> {
  const head = await store.head(owner.run)
  try {
    const { entries } = await readEntries(
      store,
      owner,
      head?.position ?? 0,
      new EntryCodec(checkpoints.sealing),
    )
    const { from, ledger } = foldRun(entries)
    if (from.type === 'start') checkOwner(from, owner)
    return ledger?.accounts
  } catch (error) {
    if (CaissonError.is(error, 'not_found')) return undefined
    throw error
  }
}

/** The capabilities of the run, in the order in which its machine numbers them. */
export function capabilitiesOf({ from }: RunRecord, gate: Gate): readonly GuestCapability[] {
  return from.type === 'start' ? from.capabilities : gate.capabilities
}

/** What the machine is started with, or what is still asked of that when it was restored. */
export function startOfKept({ from }: RunRecord, gate: Gate, limits: Limits): MachineStart {
  return from.type === 'start' ? { ...startOf(from), limits } : goingOn(gate, limits)
}

/** A run that has no checkpoint is of the engine that it was started on. @throws CaissonError `engine_mismatch` */
export function checkEngine({ from }: RunRecord, engineHere: string): void {
  if (from.type !== 'start' || from.engine === engineHere) return // a checkpoint was compared when it was read
  throw new CaissonError(
    'engine_mismatch',
    `The run was started on engine ${from.engine}, and here is ${engineHere}.`,
    { details: { differs: 'engine', needed: from.engine, found: engineHere } },
  )
}

/** @throws CaissonError `checkpoint_refused`: before any turn is taken again */
export function checkSameNames({ from }: RunRecord, gate: Gate): void {
  if (from.type !== 'start') return // the machine compares with what was captured
  // One that is called in another way is another one.
  const lacks = (those: readonly GuestCapability[], { name, sync }: GuestCapability): boolean =>
    !those.some((one) => one.name === name && one.sync === sync)
  const missing = from.capabilities.filter((one) => lacks(gate.capabilities, one)).map(({ name }) => name)
  const added = gate.capabilities
    .filter((one) => !mayBeNew(one) && lacks(from.capabilities, one))
    .map(({ name }) => name)
  if (missing.length + added.length === 0) return
  throw new CaissonError(
    'checkpoint_refused',
    `The run was started with other grants.${missing.length > 0 ? ` Missing now: ${missing.join(', ')}.` : ''}${added.length > 0 ? ` Not there then: ${added.join(', ')}.` : ''}${modulesWanted(missing)}`,
    { details: { missing, added } },
  )
}

/** What came with another grant, or with modules: a guest that has no function for it goes on without. */
function mayBeNew({ name, continues }: GuestCapability): boolean {
  return name === LOAD_MODULE || continues !== undefined
}

/**
 * What grants reach must have been reached when the run began: names alone do not tell one directory from another.
 * @throws CaissonError `checkpoint_refused` with `details: { widened }`
 */
export async function checkScope(
  parts: KeptRunParts,
  owner: RunOwner,
  { from }: RunRecord,
  scope: readonly string[] = [],
): Promise<void> {
  if (scope.length === 0) return
  const { scope: was = [] } = from.type === 'start' ? from : await readStart(parts, owner)
  const widened = scope.filter((one) => !was.includes(one))
  if (widened.length === 0) return
  throw new CaissonError(
    'checkpoint_refused',
    `The run was started with other rights. Not there then: ${widened.join(', ')}.`,
    { details: { differs: 'scope', widened, was } },
  )
}

async function readStart({ store, checkpoints }: KeptRunParts, owner: RunOwner): Promise<StartEntry> {
  const { tenant, run } = owner
  const [sealed] = await store.entries(run, 0, 1)
  if (sealed === undefined) throw noStart(run)
  const start = await new EntryCodec(checkpoints.sealing).open(sealed, { tenant, run, at: 0 })
  if (start.type !== 'start') throw noStart(run)
  return start
}

async function readHead(
  { store, checkpoints }: KeptRunParts,
  head: RunHead,
  owner: RunOwner,
): Promise<ReadCheckpoint> {
  const id = head.chain[0] as Digest
  const bytes = await store.getBlob(id)
  if (bytes === undefined)
    throw new CaissonError('corrupted', `The checkpoint ${id} of run "${owner.run}" is missing.`)
  return checkpoints.read(bytes, { ...owner, id }, (parent) => store.getBlob(parent))
}

async function readEntries(
  store: WatchedStore,
  { tenant, run }: RunOwner,
  from: number,
  codec: EntryCodec,
): Promise<{ readonly entries: readonly RunEntry[] } & Pick<KeptRun, 'at' | 'bytes'>> {
  const entries: RunEntry[] = []
  let length = 0
  for (;;) {
    const at = from + entries.length
    const sealed = await store.entries(run, at, ENTRIES_AT_ONCE)
    for (const [i, bytes] of sealed.entries()) {
      if (entries.length > 0) length += bytes.length
      entries.push(await codec.open(bytes, { tenant, run, at: at + i }))
    }
    if (sealed.length < ENTRIES_AT_ONCE) break
  }
  if (entries.length === 0 && from > 0) {
    throw new CaissonError('corrupted', `The log of run "${run}" ends before its newest checkpoint.`)
  }
  if (entries.length === 0) throw new CaissonError('not_found', `There is no run "${run}" in the store.`)
  return { entries, at: from + entries.length, bytes: length }
}

function checkOwner({ tenant, principal }: StartEntry, owner: RunOwner): void {
  for (const [what, was, is] of [
    ['tenant', tenant, owner.tenant],
    ['principal', principal, owner.principal],
  ] as const) {
    if (was !== is) {
      throw new CaissonError('checkpoint_refused', `The run belongs to another ${what}.`, {
        details: { differs: what },
      })
    }
  }
}

/** @throws CaissonError `corrupted` */
function checkMark(from: RunRecord['from'], { state }: ReadCheckpoint, run: string): void {
  if (from.type === 'mark' && from.name === state.mark) return
  throw new CaissonError(
    'corrupted',
    `The head of run "${run}" joins a checkpoint with a place in the log that is not its own.`,
  )
}

function noStart(run: string): CaissonError {
  return new CaissonError('corrupted', `The log of run "${run}" does not begin with its start.`)
}
