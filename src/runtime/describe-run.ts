/**
 * What a store holds of its runs, for people who look: lists, and one run in detail.
 *
 * Invariants
 * 1. Looking changes nothing and takes no lease: what is told may be older than what is.
 * 2. One run that cannot be read is told as such, and keeps no other from being listed.
 * 3. A head is checked before what it names is read: a chain of any length would be followed to its end.
 * 4. Nothing that is told here decides anything: `resume` reads and checks for itself.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import type { RunHead, RunStore } from '../ports/run-store.ts'
import { type InspectedCheckpoint, inspectCheckpoint } from '../snapshot/container/inspect-checkpoint.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { EntrySealOptions } from '../snapshot/run-log/entry-seal.ts'
import type { EndEntry, IntentEntry, RunEntry, StartEntry } from '../snapshot/run-log/run-entry.ts'
import { foldRun, type RunRecord } from '../snapshot/run-log/run-record.ts'
import { decodePlanSummary, isShelf, type PlanSummary, refusePlanRun } from './plan-summary.ts'
import { decodeRunSummary, type RunSummary, type SummarizedCall } from './run-summary.ts'
import { headFrom } from './store-answers.ts'

const ENTRIES_AT_ONCE = 1_000

/** One line of a list of runs. Written by whoever wrote to the store: not authenticated. */
export interface ListedRun {
  readonly run: string
  /** Undefined where it cannot be read. */
  readonly summary: RunSummary | undefined
  /** Checkpoints that it stands on. */
  readonly checkpoints: number
  /** What they take as stored. */
  readonly checkpointBytes: number
  /** Checkpoints that the head names and the store lacks. */
  readonly missing: number
  /** The engine that it needs; undefined where that cannot be read. */
  readonly engine: string | undefined
  /** Of a run of a plan, which has no checkpoints of its own. */
  readonly plan?: PlanSummary
  /** It is no run: a list of values that a run of a plan needs. */
  readonly isShelf?: boolean
}

/** One run in detail. */
export interface DescribedRun {
  readonly run: string
  readonly head: RunHead | undefined
  readonly summary: RunSummary | undefined
  /** The engine that it needs: of its newest checkpoint, or that it was started on. */
  readonly engine: string
  /** Calls that it waits for by its record: asked, and not answered. None after its end. */
  readonly waitsFor: readonly SummarizedCall[]
  /** When its next timer is due, where it took no turn since that was written: milliseconds since the epoch. */
  readonly wakeAtMs: number | undefined
  /** What each checkpoint says of itself, newest first; undefined for one that is missing or damaged. */
  readonly chain: readonly { readonly id: Digest; readonly checkpoint: InspectedCheckpoint | undefined }[]
  /** What the run began with. */
  readonly start: StartEntry
  /** Entries in the log. */
  readonly entries: number
  /** What they take as stored: of those that were read, the first and all since the newest checkpoint. */
  readonly readBytes: number
  /** Entries since the newest checkpoint, by type. */
  readonly since: Readonly<Record<string, number>>
  /** Calls that were let in and have no recorded answer: in doubt, unless their capabilities are idempotent. */
  readonly open: readonly IntentEntry[]
  /** Ids of calls whose answers are recorded and not delivered. */
  readonly undelivered: readonly number[]
  readonly limits: Limits
  readonly end: EndEntry | undefined
}

/**
 * @param options with the keys that runs were written with, where some were
 * @param tenant whose runs they are
 * @throws CaissonError what the store throws
 */
export async function listRuns(
  store: RunStore,
  options: EntrySealOptions,
  tenant: string,
): Promise<readonly ListedRun[]> {
  const listed: ListedRun[] = []
  for (const run of await store.runs()) {
    try {
      listed.push(await listRun(store, run, options, tenant))
    } catch (error) {
      // The name is the store's own: where it refuses that, somebody wrote it there by hand.
      if (!CaissonError.is(error, 'corrupted') && !CaissonError.is(error, 'invalid_argument')) throw error
      listed.push(unreadable(run))
    }
  }
  return listed
}

function unreadable(run: string): ListedRun {
  return { run, summary: undefined, checkpoints: 0, checkpointBytes: 0, missing: 0, engine: undefined }
}

async function listRun(
  store: RunStore,
  run: string,
  options: EntrySealOptions,
  tenant: string,
): Promise<ListedRun> {
  const head = await headOf(store, run)
  const plan = head && decodePlanSummary(head.summary)
  if (plan !== undefined) return { ...unreadable(run), plan }
  if (head !== undefined && isShelf(head.summary)) return { ...unreadable(run), isShelf: true }
  let checkpointBytes = 0
  let missing = 0
  let engine: string | undefined
  for (const [i, id] of (head?.chain ?? []).entries()) {
    const bytes = await store.getBlob(id)
    if (bytes === undefined) missing += 1
    else checkpointBytes += bytes.length
    if (i === 0) engine = (await inspected(bytes, options))?.engine
  }
  engine ??= await startEngine(store, run, options, tenant)
  const checkpoints = head?.chain.length ?? 0
  return { run, summary: summaryOf(head), checkpoints, checkpointBytes, missing, engine }
}

/**
 * @param options with the keys that the run was written with, where it was
 * @param tenant whose run it is: part of what a MAC stands for
 * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused` and `encryption_required` for a log that these
 *   keys do not open, `invalid_argument` for a run of a plan, what the store throws
 */
export async function describeRun(
  store: RunStore,
  run: string,
  options: EntrySealOptions,
  tenant: string,
): Promise<DescribedRun> {
  const head = await headOf(store, run)
  refusePlanRun(run, head?.summary)
  const chain: { id: Digest; checkpoint: InspectedCheckpoint | undefined }[] = []
  for (const id of head?.chain ?? []) {
    const checkpoint = await inspected(await store.getBlob(id), options)
    chain.push({ id, checkpoint: checkpoint?.id === id ? checkpoint : undefined })
  }
  const [first] = await readLog(store, run, 0, 1, options, tenant)
  if (first === undefined) throw new CaissonError('not_found', `There is no run "${run}" in the store.`)
  const start = first.entry
  if (start.type !== 'start') {
    throw new CaissonError('corrupted', `The log of run "${run}" does not begin with its start.`)
  }
  const position = head?.position ?? 0
  const read = await readLog(store, run, position, Number.POSITIVE_INFINITY, options, tenant)
  const record = foldRun(read.map(({ entry }) => entry))
  const since: Record<string, number> = {}
  for (const { entry } of read.slice(1)) since[entry.type] = (since[entry.type] ?? 0) + 1
  const bytes = [...(position === 0 ? [] : [first]), ...read].map(({ length }) => length)
  const summary = summaryOf(head)
  return {
    run,
    head,
    summary,
    engine: chain[0]?.checkpoint?.engine ?? start.engine,
    waitsFor: record.end === undefined ? waitingCalls(summary, record) : [],
    wakeAtMs: record.end === undefined && record.turns.length === 0 ? summary?.wakeAtMs : undefined,
    chain,
    start,
    entries: position + read.length,
    readBytes: bytes.reduce((a, b) => a + b, 0),
    since,
    open: record.open,
    undelivered: record.undelivered.map(({ id }) => id),
    limits: parseLimits(record.limits ?? start.limits),
    end: record.end,
  }
}

/** Invariant 3. @throws CaissonError `corrupted`, what the store throws */
async function headOf(store: RunStore, run: string): Promise<RunHead | undefined> {
  const answer = await store.head(run)
  try {
    return headFrom(answer)
  } catch (cause) {
    throw new CaissonError('corrupted', 'The store is damaged: the head of a run is none.', {
      details: { run },
      cause,
    })
  }
}

/** Of those at the newest checkpoint: what has no answer since. Calls that were let in after it wait, too. */
function waitingCalls(summary: RunSummary | undefined, record: RunRecord): readonly SummarizedCall[] {
  const answers = [...record.undelivered, ...record.turns.flatMap((turn) => turn.answers)]
  const answered = new Set(answers.map(({ id }) => id))
  const asked = (summary?.pending ?? []).filter(({ id }) => !answered.has(id))
  const known = new Set(asked.map(({ id }) => id))
  const later = record.open.filter(({ id }) => !known.has(id))
  return [...asked, ...later.map(({ id, capability }) => ({ id, capability }))]
}

async function readLog(
  store: RunStore,
  run: string,
  from: number,
  most: number,
  options: EntrySealOptions,
  tenant: string,
): Promise<readonly { readonly entry: RunEntry; readonly length: number }[]> {
  const codec = new EntryCodec(options)
  const read: { entry: RunEntry; length: number }[] = []
  while (read.length < most) {
    const wanted = Math.min(ENTRIES_AT_ONCE, most - read.length)
    const sealed = await store.entries(run, from + read.length, wanted)
    for (const bytes of sealed) {
      const entry = await codec.open(bytes, { tenant, run, at: from + read.length })
      read.push({ entry, length: bytes.length })
    }
    if (sealed.length < wanted) break
  }
  return read
}

/** Before the first checkpoint only the log knows the engine. */
async function startEngine(
  store: RunStore,
  run: string,
  options: EntrySealOptions,
  tenant: string,
): Promise<string | undefined> {
  try {
    const [first] = await readLog(store, run, 0, 1, options, tenant)
    return first?.entry.type === 'start' ? first.entry.engine : undefined
  } catch (error) {
    if (CaissonError.is(error) && UNREADABLE.has(error.code)) return undefined
    throw error
  }
}

const UNREADABLE: ReadonlySet<string> = new Set(['corrupted', 'checkpoint_refused', 'encryption_required'])

async function inspected(
  bytes: Uint8Array | undefined,
  { ports }: EntrySealOptions,
): Promise<InspectedCheckpoint | undefined> {
  if (bytes === undefined) return undefined
  try {
    return await inspectCheckpoint(bytes, { ports })
  } catch (error) {
    if (CaissonError.is(error)) return undefined
    throw error
  }
}

function summaryOf(head: RunHead | undefined): RunSummary | undefined {
  try {
    return head && decodeRunSummary(head.summary)
  } catch {
    return undefined
  }
}
