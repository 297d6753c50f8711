/**
 * A new run from a point of another one: what happened up to there has happened in it too, and from there on it goes its
 * own way.
 *
 * Invariants
 * 1. Nothing after the point is taken over: no effect, no answer, no decision. Keys and random streams are derived anew.
 * 2. What was under way in the world at the point, or waited for a person, is taken over by nobody: there is no fork then.
 * 3. It stands still until somebody confirms its point, and says where it comes from.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { isGuest } from '../../graph/plan/node-kinds.ts'
import type { NodeState } from '../../graph/run/node-state.ts'
import { isKept } from '../../graph/run/node-work.ts'
import type { Origin, RecordedEvent } from '../../graph/run/run-event.ts'
import { RunState } from '../../graph/run/run-state.ts'
import type { RunOwner } from '../run-owner.ts'
import { type PlanShelf, pointOf } from './plan-record.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { wasmOf } from './plan-wasm.ts'
import { openRequests } from './run-view.ts'
import { storedOf } from './stored-values.ts'
import { readEvidence } from './verify/evidence.ts'

export interface ForkOptions {
  /** How many events are taken over: from 1, the proposal, on. */
  readonly at: number
  /** Name of the new run. Default: of the plan, and random. */
  readonly run?: string
  readonly by: string
  readonly domain?: string
  readonly principal?: string
}

export interface ForkedRun {
  readonly plan: Awaited<ReturnType<PlanShelf['load']>>
  /** The journal of the new run. */
  readonly events: readonly RecordedEvent[]
  /** Everything in the store that they name. */
  readonly stored: readonly Digest[]
}

/** @throws CaissonError `not_found`, `corrupted`, `invalid_argument`, `invalid_transition` where there is no fork, `store_failed` */
export async function forkRun(
  parts: Pick<PlanRunParts, 'store' | 'sealing' | 'plans' | 'hostClock'>,
  owner: RunOwner,
  { at, by }: ForkOptions,
  id: string,
): Promise<ForkedRun> {
  const { events, digests, damage } = await readEvidence(parts, owner, undefined)
  if (damage !== undefined && damage.position < at)
    throw new CaissonError('corrupted', damage.message, { details: { at: damage.position } })
  const [first] = events
  const digest = digests[at - 1]
  if (first?.type !== 'proposed' || digest === undefined || !Number.isSafeInteger(at)) {
    const message = `A fork takes over 1 to ${events.length} events of the run, not ${String(at)}.`
    throw new CaissonError('invalid_argument', message, { details: { option: 'at', events: events.length } })
  }
  const plan = await parts.plans.load(parts.store, first.plan)
  const state = new RunState(plan.plan)
  for (const event of events.slice(0, at)) state.apply(event)
  checkForkable(state)
  const origin: Origin = {
    run: owner.run,
    id: first.id,
    events: at,
    point: pointOf(owner, { length: at, digest }),
  }
  const from = [...(first.from ?? []).filter((one) => one.events < at), origin]
  const timeMs = Math.max(parts.hostClock.now(), state.timeMs)
  const hasStarted = state.startedAtMs !== undefined
  const forked: RecordedEvent[] = [{ ...first, id, from: hasStarted ? from : [{ ...origin, events: 1 }] }]
  // What was approved and not begun is another run: it is approved anew.
  if (hasStarted) forked.push(...events.slice(1, at))
  if (state.status === 'running') {
    const message = `It is a fork of "${owner.run}" after ${at} events, made by ${by.slice(0, 200)}.`
    forked.push({ type: 'frozen', reason: 'asked', message, timeMs })
  }
  return { plan, events: forked, stored: [...wasmOf(plan.plan), ...storedOf(forked)] }
}

function checkForkable(state: RunState): void {
  const { status = 'proposed' } = state
  if (!FORKABLE.has(status)) throw refused(`The run is ${status} there: choose an earlier point.`, [])
  const underWay = [...state.live.values()].filter(isUnderWay).map(({ path }) => path)
  if (underWay.length > 0)
    throw refused(`${underWay.join(', ').slice(0, 500)} may be doing something in the world there.`, underWay)
  if (openRequests(state) > 0)
    throw refused('People are asked something there, which is about that run and no other.', [])
}

/** A call that was let in and has no answer, or a program that may call something. */
function isUnderWay({ node, status, call, waiting }: NodeState): boolean {
  if (call !== undefined && call.answer === undefined) return true
  return isGuest(node) && isKept(node) && status !== 'retrying' && waiting === undefined
}

const FORKABLE: ReadonlySet<string> = new Set(['proposed', 'approved', 'running', 'frozen'])

function refused(why: string, nodes: readonly string[]): CaissonError {
  return new CaissonError('invalid_transition', `There is no fork at this point. ${why}`, {
    details: { nodes },
  })
}
