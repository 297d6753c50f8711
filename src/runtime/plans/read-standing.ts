/** Where a run stands by its store: read without a lease, and changing nothing. */
import type { Digest } from '../../base/digest.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { readJournal } from '../../journal/journal.ts'
import type { RunHead } from '../../ports/run-store.ts'
import { digestValue } from '../../values/digest-value.ts'
import type { RunOwner } from '../run-owner.ts'
import type { KnownStanding, NewestImage } from './known-standings.ts'
import type { ImageParts } from './load-image.ts'
import { placeToReadFrom } from './place-to-read-from.ts'
import { EventCollector, foldEvents, noRun, type PlanRecord, pointOf } from './plan-record.ts'
import { type RunCut, standingOfCut } from './run-cut.ts'
import { writtenOn } from './written-on.ts'

/** A record, and the digest of exactly where it ends. */
export interface Standing extends PlanRecord {
  readonly point: Digest
  readonly request: Digest
  /** Of a run whose journal was cut: what it was. */
  readonly cut: RunCut | undefined
  /** The newest image, and the bytes of the journal after it. */
  readonly image: NewestImage
}

/** With everything that happened. */
export interface History extends Standing {
  readonly events: readonly RecordedEvent[]
}

/**
 * By where it was left here or its newest image, and what came after that. Whoever has nothing more to do with the state
 * gives it back (`keepStanding`).
 * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `unsupported`, `store_failed`
 */
export async function readStanding(parts: ImageParts, owner: RunOwner): Promise<Standing> {
  const head = await parts.store.head(owner.run)
  return readFrom(parts, owner, head, await placeToReadFrom(parts, owner, head))
}

/** For whoever reads the run next: it must not be looked at any more. */
export function keepStanding(
  { standings }: Pick<ImageParts, 'standings'>,
  owner: RunOwner,
  { plan, state, end: { length, digest }, image }: Standing,
): void {
  if (digest !== undefined) standings?.put(owner, { plan, state, end: { length, digest }, image })
}

/** By all of its journal. @throws as `readStanding` */
export async function readHistory(parts: ImageParts, owner: RunOwner): Promise<History> {
  return readFrom(parts, owner, await parts.store.head(owner.run), undefined)
}

async function readFrom(
  { store, sealing, plans }: ImageParts,
  owner: RunOwner,
  head: RunHead | undefined,
  from: KnownStanding | undefined,
): Promise<History> {
  const { run, tenant } = owner
  const collector = new EventCollector()
  let bytes = from?.image.bytes ?? 0
  const read = (more: number): void => {
    bytes += more
  }
  const counted = writtenOn(
    store,
    () => undefined,
    () => {},
    read,
  )
  const end = await readJournal({ store: counted, run, tenant, sealing }, collector.add, from?.end)
  if (end.length === 0) return readCutRun({ store, sealing, plans }, owner, head)
  const { plan, state } = await foldEvents(run, collector.events, plans, store, from)
  const image = { records: from?.image.records ?? 0, imageBytes: from?.image.imageBytes ?? 0, bytes }
  return historyOf(owner, { plan, state, head, end, events: collector.events, cut: undefined, image })
}

async function readCutRun(parts: ImageParts, owner: RunOwner, head: RunHead | undefined): Promise<History> {
  const cut = await standingOfCut(parts, owner)
  if (cut === undefined) throw noRun(owner.run)
  return historyOf(owner, { ...cut, head, events: [], image: NO_IMAGE })
}

/** Nothing is written to a journal that was cut. */
const NO_IMAGE: NewestImage = { records: 0, imageBytes: 0, bytes: 0 }

function historyOf(owner: RunOwner, read: Omit<History, 'point' | 'request'>): History {
  return { ...read, point: pointOf(owner, read.end), request: requestOf(owner, read.state) }
}

/**
 * The digest of what was proposed: what whoever approves says yes to, once. Another run that is proposed under the name of
 * one that is gone has another.
 * @param id of the run that was proposed
 */
export function requestOf(
  { tenant, run }: RunOwner,
  { proposal }: Pick<RunState, 'proposal'>,
  id: string | null = proposal?.id ?? null,
): Digest {
  const { plan = null, input = null, tools = null, scope } = proposal ?? {}
  return digestValue({ request: 1, tenant, run, id, plan, input, tools, ...(scope && { scope }) })
}
