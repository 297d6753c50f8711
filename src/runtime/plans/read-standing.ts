/** Where a run stands by its store: read without a lease, and changing nothing. */
import type { Digest } from '../../base/digest.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { readJournal } from '../../journal/journal.ts'
import { digestValue } from '../../values/digest-value.ts'
import type { RunOwner } from '../run-owner.ts'
import { EventCollector, foldEvents, noRun, type PlanRecord, pointOf } from './plan-record.ts'
import type { PlanRunParts } from './plan-run-parts.ts'

/** A record, and the digest of exactly where it ends. */
export interface Standing extends PlanRecord {
  readonly events: readonly RecordedEvent[]
  readonly point: Digest
  readonly request: Digest
}

/** @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `unsupported`, `store_failed` */
export async function readStanding(
  { store, sealing, plans }: Pick<PlanRunParts, 'store' | 'sealing' | 'plans'>,
  owner: RunOwner,
): Promise<Standing> {
  const { run, tenant } = owner
  const head = await store.head(run)
  const collector = new EventCollector()
  const end = await readJournal({ store, run, tenant, sealing }, collector.add)
  if (end.length === 0) throw noRun(run)
  const { plan, state } = await foldEvents(run, collector.events, plans, store)
  return {
    plan,
    state,
    head,
    end,
    events: collector.events,
    point: pointOf(owner, end),
    request: requestOf(owner, state),
  }
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
