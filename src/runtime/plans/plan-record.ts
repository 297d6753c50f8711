/**
 * Reads a run of a plan from its store: the plan, and the state that its journal leads to. Changes nothing.
 *
 * Invariants
 * 1. The plan is the one that was proposed: its digest, and its form, are checked again.
 * 2. Every record is checked before it is folded; what may not follow is refused by the fold.
 * 3. The journal as it was read has one digest, which stands for all of it: the point at which the run stands.
 * 4. What an image shows of the records before it is not read again: the point is the same.
 */
import { type Digest, digestOf, sha256Bytes } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { type DefinedPlan, keptPlan } from '../../graph/plan/define-plan.ts'
import { PLAN_LIMITS } from '../../graph/plan/plain-tree.ts'
import { parseRunEvent } from '../../graph/run/parse-run-event.ts'
import type { RecordedEvent } from '../../graph/run/run-event.ts'
import { RunState } from '../../graph/run/run-state.ts'
import type { JournalEnd } from '../../journal/journal.ts'
import type { Hash } from '../../ports/hash.ts'
import type { RunHead } from '../../ports/run-store.ts'
import { decodeCanonical } from '../../values/decode-canonical.ts'
import { digestValue } from '../../values/digest-value.ts'
import { encodeCanonical } from '../../values/encode-canonical.ts'
import type { RunOwner } from '../run-owner.ts'
import type { WatchedStore } from '../watched-store.ts'

/** Where a run stands by its journal. */
export interface PlanRecord {
  readonly plan: DefinedPlan
  readonly state: RunState
  readonly head: RunHead | undefined
  readonly end: JournalEnd
}

/** Plans that were read, by their digests: many runs are of the same one. */
export class PlanShelf {
  readonly #plans = new Map<Digest, DefinedPlan>()
  readonly #digest: (bytes: Uint8Array) => Digest

  /** @param hash as fast as the platform has it */
  constructor(hash: Pick<Hash, 'sha256'> = { sha256: sha256Bytes }) {
    this.#digest = (bytes) => digestOf(hash.sha256(bytes))
  }

  add(plan: DefinedPlan): void {
    this.#plans.delete(plan.digest)
    this.#plans.set(plan.digest, plan)
    const [oldest] = this.#plans.keys()
    if (this.#plans.size > MOST_PLANS && oldest !== undefined) this.#plans.delete(oldest)
  }

  /** @throws CaissonError `not_found`, `corrupted`, `invalid_plan`, `store_failed` */
  async load(store: Pick<WatchedStore, 'getBlob'>, digest: Digest): Promise<DefinedPlan> {
    const known = this.#plans.get(digest)
    if (known !== undefined) return known
    const bytes = await store.getBlob(digest)
    if (bytes === undefined) throw new CaissonError('not_found', `The plan ${digest} is not in the store.`)
    if (this.#digest(bytes) !== digest)
      throw new CaissonError('corrupted', `The plan ${digest} was changed in the store.`)
    const plan = keptPlan(decodeCanonical(bytes, PLAN_LIMITS), this.#digest)
    if (plan.digest !== digest)
      throw new CaissonError('corrupted', `The plan ${digest} is not in its canonical form in the store.`)
    this.add(plan)
    return plan
  }
}

const MOST_PLANS = 64

/** What a plan is kept as: its digest is that of these bytes. */
export function planBytes({ plan }: DefinedPlan): Uint8Array {
  return encodeCanonical(plan, PLAN_LIMITS)
}

/** The events of a journal, each checked by itself. */
export class EventCollector {
  readonly events: RecordedEvent[] = []

  readonly add = (record: unknown, at: number): void => {
    this.events.push(parseRunEvent(record, at))
  }
}

/** A state that is gone on from, which is changed. */
export type FoldedFrom = Pick<PlanRecord, 'plan' | 'state'>

/**
 * The state that events lead to.
 * @param from what those before them lead to; left out, they are all
 * @throws CaissonError `not_found` where there are none, `corrupted` where one may not follow those before it
 */
export async function foldEvents(
  run: string,
  events: readonly RecordedEvent[],
  plans: PlanShelf,
  store: Pick<WatchedStore, 'getBlob'>,
  from?: FoldedFrom,
): Promise<FoldedFrom> {
  const { plan, state } = from ?? (await beginning(run, events, plans, store))
  for (const event of events) {
    const at = state.events
    try {
      state.apply(event)
    } catch (cause) {
      if (!CaissonError.is(cause)) throw cause
      throw new CaissonError(
        'corrupted',
        `Entry ${at} of the journal of run "${run}" cannot follow those before it: ${cause.message}`,
        { details: { run, at }, cause },
      )
    }
  }
  return { plan, state }
}

async function beginning(
  run: string,
  events: readonly RecordedEvent[],
  plans: PlanShelf,
  store: Pick<WatchedStore, 'getBlob'>,
): Promise<FoldedFrom> {
  const [first] = events
  if (first === undefined) throw noRun(run)
  if (first.type !== 'proposed')
    throw new CaissonError('corrupted', `The journal of run "${run}" does not begin with a proposal.`, {
      details: { run, at: 0 },
    })
  const plan = await plans.load(store, first.plan)
  return { plan, state: new RunState(plan.plan) }
}

export function noRun(run: string): CaissonError {
  return new CaissonError('not_found', `There is no run of a plan "${run}" in the store.`, {
    details: { run },
  })
}

/** What somebody confirms who lets a run go on: that it stands exactly where they saw it. */
export function pointOf({ tenant, run }: RunOwner, { length, digest }: JournalEnd): Digest {
  return digestValue({ point: 1, tenant, run, length, journal: digest ?? null })
}
