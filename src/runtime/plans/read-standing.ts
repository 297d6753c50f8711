/** Where a run stands by its store: read without a lease, and changing nothing. */
import type { Digest } from '../../base/digest.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { readJournal } from '../../journal/journal.ts'
import type { RunHead } from '../../ports/run-store.ts'
import { digestValue } from '../../values/digest-value.ts'
import type { RunOwner } from '../run-owner.ts'
import { type ImageParts, loadImage, type StandingImage } from './load-image.ts'
import { EventCollector, foldEvents, noRun, type PlanRecord, pointOf } from './plan-record.ts'
import { type RunCut, standingOfCut } from './run-cut.ts'

/** A record, and the digest of exactly where it ends. */
export interface Standing extends PlanRecord {
  readonly point: Digest
  readonly request: Digest
  /** Of a run whose journal was cut: what it was. */
  readonly cut: RunCut | undefined
}

/** With everything that happened. */
export interface History extends Standing {
  readonly events: readonly RecordedEvent[]
}

/**
 * By the newest image, and what came after it.
 * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `unsupported`, `store_failed`
 */
export async function readStanding(parts: ImageParts, owner: RunOwner): Promise<Standing> {
  const head = await parts.store.head(owner.run)
  return readFrom(parts, owner, head, await loadImage(parts, owner, head))
}

/** By all of its journal. @throws as `readStanding` */
export async function readHistory(parts: ImageParts, owner: RunOwner): Promise<History> {
  return readFrom(parts, owner, await parts.store.head(owner.run), undefined)
}

async function readFrom(
  { store, sealing, plans }: ImageParts,
  owner: RunOwner,
  head: RunHead | undefined,
  image: StandingImage | undefined,
): Promise<History> {
  const { run, tenant } = owner
  const collector = new EventCollector()
  const end = await readJournal({ store, run, tenant, sealing }, collector.add, image?.end)
  if (end.length === 0) return readCutRun({ store, sealing, plans }, owner, head)
  const { plan, state } = await foldEvents(run, collector.events, plans, store, image)
  return historyOf(owner, { plan, state, head, end, events: collector.events, cut: undefined })
}

async function readCutRun(parts: ImageParts, owner: RunOwner, head: RunHead | undefined): Promise<History> {
  const cut = await standingOfCut(parts, owner)
  if (cut === undefined) throw noRun(owner.run)
  return historyOf(owner, { ...cut, head, events: [] })
}

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
