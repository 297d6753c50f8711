/**
 * A run of a plan for people who look: what is done, pending and in doubt, what it cost, and where exactly it stands.
 * A pure function of its state.
 */
import type { Digest } from '../../base/digest.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import { isEffect } from '../../graph/plan/node-kinds.ts'
import type { Budget, PlanNode, Scope } from '../../graph/plan/plan.ts'
import { nextActions, nextDueMs } from '../../graph/run/next-actions.ts'
import type { NodeState, ScopeState } from '../../graph/run/node-state.ts'
import { isOpen } from '../../graph/run/requests.ts'
import type { Failure, SkipReason, Used } from '../../graph/run/run-event.ts'
import type { RunState, Standstill } from '../../graph/run/run-state.ts'
import { scopePlan } from '../../graph/run/scope-plan.ts'
import { ENDED, type NodeStatus, type RunStatus } from '../../graph/run/transitions.ts'
import { MOST_EVENTS, type PlanStatus, type PlanSummary } from '../plan-summary.ts'
import type { RunCut } from './run-cut.ts'
import type { Erased } from './run-key.ts'

/** A node, or a place of one that has not begun. */
export interface NodeView {
  /** `enrich/3/lookup`: ids of nodes, and between them the numbers of items or rounds. */
  readonly path: string
  readonly kind: PlanNode['kind']
  readonly title: string | undefined
  readonly status: NodeStatus | 'pending'
  readonly attempt: number
  /** Milliseconds since the epoch. */
  readonly startedAtMs: number | undefined
  readonly endedAtMs: number | undefined
  readonly used: Used
  readonly budget: Budget | undefined
  readonly error: Failure | undefined
  readonly skipped: SkipReason | undefined
  /** What it waits for, in words for machines: a person, a time, an event. */
  readonly waits: 'person' | 'time' | 'event' | 'retry' | undefined
  /** Name of the event that it waits for. */
  readonly event: string | undefined
  /** When its timer is due. */
  readonly untilMs: number | undefined
  /** A call of its own was made, and nothing says yet what became of it: where nobody drives the run, it may be in doubt. */
  readonly unanswered?: true
  /** Of an `each`: items in all, and those that have ended. Of a `loop`: rounds that have ended. */
  readonly items: number | undefined
  readonly ended: number | undefined
  readonly nodes: readonly NodeView[]
}

export interface RunView {
  readonly run: string
  readonly plan: { readonly name: string; readonly version: string; readonly digest: Digest }
  readonly status: PlanStatus
  /** Digest of what was proposed: plan, input and tools. What `approve` takes. */
  readonly request: Digest
  /** Digest of exactly where it stands. What `resume` takes. */
  readonly point: Digest
  /** Events in its journal. */
  readonly events: number
  readonly proposedBy: string
  readonly approvedBy: string | undefined
  /** Milliseconds since the epoch. */
  readonly proposedAtMs: number
  readonly startedAtMs: number | undefined
  readonly changedAtMs: number
  /** Of the plan, and of each scope in an order in which they can begin. */
  readonly nodes: readonly NodeView[]
  /** Paths of nodes of which a call is in doubt. */
  readonly inDoubt: readonly string[]
  /** Requests that wait for people. */
  readonly requests: number
  readonly used: Used
  readonly budget: Budget | undefined
  /** What was allowed on top of the budget. */
  readonly more: Used & { readonly wallMs?: number }
  readonly untilMs: number | undefined
  readonly frozen: Standstill | undefined
  readonly failure: { readonly node: string; readonly error: Failure } | undefined
  readonly reason: string | undefined
  readonly left: readonly string[]
  /** Who erased its values, and when, where somebody did. */
  readonly erased?: Erased
  /** Of a run whose journal was cut: how many entries it had, who cut it, and when. */
  readonly cut?: Pick<RunCut, 'entries' | 'by' | 'atMs'>
}

export interface ViewParts {
  readonly run: string
  readonly plan: DefinedPlan
  readonly state: RunState
  readonly request: Digest
  readonly point: Digest
  /** Whether somebody goes on with it at this moment. */
  readonly isDriven: boolean
}

export function viewOf({ run, plan, state, request, point, isDriven }: ViewParts): RunView {
  const { name, version } = plan.plan
  return {
    run,
    plan: { name, version, digest: plan.digest },
    status: statusOf(state, isDriven),
    request,
    point,
    events: state.events,
    proposedBy: state.proposal?.by ?? '',
    approvedBy: state.approval?.by,
    proposedAtMs: state.proposedAtMs,
    startedAtMs: state.startedAtMs,
    changedAtMs: state.timeMs,
    nodes: state.root === undefined ? pendingNodes(plan.plan, '') : nodesOf(state.root),
    inDoubt: [...state.live.values()]
      .filter(({ frozenFor }) => frozenFor === 'in_doubt')
      .map(({ path }) => path),
    requests: openRequests(state),
    used: state.used,
    budget: plan.plan.budget,
    more: state.more,
    untilMs: state.status === 'running' ? nextDueMs(state) : undefined,
    frozen: state.frozen,
    failure: state.failure,
    reason: state.reason,
    left: state.left,
  }
}

/** What lists show. */
export function summaryOf(
  { plan, digest }: DefinedPlan,
  state: RunState,
  isDriven: boolean,
  atMs: number,
): PlanSummary {
  const { name, version } = plan
  const requests = openRequests(state)
  const events = awaitedEvents(state)
  const wakeAtMs = state.status === 'running' ? nextDueMs(state) : undefined
  return {
    kind: 'plan',
    status: statusOf(state, isDriven),
    plan: { name, version, digest },
    atMs,
    ...(requests > 0 && { requests }),
    ...(events.length > 0 && { events }),
    ...(wakeAtMs !== undefined && { wakeAtMs }),
  }
}

/** The first ones, each once. */
function awaitedEvents({ live }: RunState): readonly string[] {
  const names = new Set<string>()
  for (const { status, waiting } of live.values()) {
    if (status === 'waiting' && waiting?.for === 'event') names.add(waiting.name)
    if (names.size === MOST_EVENTS) break
  }
  return [...names]
}

export function statusOf(state: RunState, isDriven: boolean): PlanStatus {
  const { status = 'proposed' } = state
  if (isDriven || ENDED.has(status) || !AT_WORK.has(status)) return status
  if (wasInterrupted(state)) return 'interrupted'
  return status === 'running' ? 'waiting' : status
}

/** Whether something was under way, or about to begin, when whoever drove the run stopped. */
export function wasInterrupted(state: RunState): boolean {
  if (state.status === undefined || !AT_WORK.has(state.status)) return false
  if (state.undoing !== undefined) return true
  // What somebody decided meanwhile waits to be gone on with: that interrupts nothing.
  if (nextActions(state).some((action) => action.do !== 'go_on')) return true
  for (const { status, node } of state.live.values()) if (status === 'running' && isEffect(node)) return true
  return false
}

const AT_WORK: ReadonlySet<RunStatus> = new Set(['running', 'failing', 'cancelling', 'compensating'])

export function openRequests(state: RunState): number {
  let open = 0
  for (const { requests } of state.live.values())
    for (const request of requests.values()) if (isOpen(request)) open += 1
  return open
}

function nodesOf(scope: ScopeState): readonly NodeView[] {
  return scope.plan.order.map((id) => {
    const state = scope.nodes.get(id)
    return state === undefined ? pendingNode(scope.plan.node(id), scope.path + id) : nodeOf(state)
  })
}

function nodeOf(state: NodeState): NodeView {
  const { path, node, status, attempt, startedAtMs, endedAtMs, used, error, skipped, waiting } = state
  return {
    path,
    kind: node.kind,
    title: node.title,
    status,
    attempt,
    startedAtMs,
    endedAtMs,
    used,
    budget: node.budget,
    error: status === 'failed' || status === 'retrying' || status === 'uncompensated' ? error : undefined,
    skipped,
    waits: status === 'retrying' ? 'retry' : status === 'waiting' ? waiting?.for : undefined,
    event: status === 'waiting' && waiting?.for === 'event' ? waiting.name : undefined,
    untilMs: untilOf(state),
    items: state.items,
    ...(isUnanswered(state) && { unanswered: true as const }),
    ended: node.kind === 'loop' ? state.rounds : node.kind === 'each' ? state.innerEnded : undefined,
    nodes: [...state.inner.values()].flatMap((scope) => nodesOf(scope)),
  }
}

/** A call of its own was made: who lets the run go on after an interruption may have to say what became of it. */
function isUnanswered({ status, call }: NodeState): boolean {
  return AT_A_CALL.has(status) && call !== undefined && call.answer === undefined
}

const AT_A_CALL: ReadonlySet<NodeState['status']> = new Set(['running', 'compensating'])

function untilOf({ status, retryAtMs, waiting }: NodeState): number | undefined {
  if (status === 'retrying') return retryAtMs
  if (status !== 'waiting' || waiting === undefined) return undefined
  return waiting.for === 'time' ? waiting.atMs : waiting.for === 'event' ? waiting.expiresAtMs : undefined
}

function pendingNodes(scope: Scope, path: string): readonly NodeView[] {
  const { order, node } = scopePlan(scope)
  return order.map((id) => pendingNode(node(id), path + id))
}

function pendingNode(node: PlanNode, path: string): NodeView {
  return {
    path,
    kind: node.kind,
    title: node.title,
    status: 'pending',
    attempt: 0,
    startedAtMs: undefined,
    endedAtMs: undefined,
    used: {},
    budget: node.budget,
    error: undefined,
    skipped: undefined,
    waits: undefined,
    event: undefined,
    untilMs: undefined,
    items: undefined,
    ended: undefined,
    nodes: [],
  }
}
