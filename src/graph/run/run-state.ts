/**
 * What a journal says of a run: a fold over its events.
 *
 * Invariants
 * 1. The fold is pure: the same plan and events give the same state, on every machine.
 * 2. Every event passes the tables of `transitions.ts`, and names a node that can have it: nothing is guessed.
 * 3. An event costs what it changes, not how many there were before it.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { UNDO } from '../plan/rights-at.ts'
import { GrantBook } from './grant-book.ts'
import { RunLoops } from './loop-guard.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import { checkDecided, hasUnusedDecision, noteAsked, noteDecision, useDecisions } from './requests.ts'
import type {
  Failure,
  FreezeReason,
  NodeEvent,
  RecordedEvent,
  RunEvent,
  Used,
  ValueRef,
} from './run-event.ts'
import { innerScope, type ScopePlan, scopePlan } from './scope-plan.ts'
import { type NodeStatus, nextNodeStatus, nextRunStatus, type RunStatus, SETTLED } from './transitions.ts'
import { addUsed } from './used.ts'

export class RunState {
  readonly plan: Plan
  status: RunStatus | undefined
  input: ValueRef | undefined
  /** As it was proposed. */
  proposal: Extract<RunEvent, { type: 'proposed' }> | undefined
  /** Who approved it, and when. */
  approval: { readonly by: string; readonly request: Digest; readonly timeMs: number } | undefined
  proposedAtMs = 0
  /** Why it was rejected, or cancelled. */
  reason: string | undefined
  /** Why it stands still, where it does. */
  frozen: { readonly reason: FreezeReason; readonly message: string } | undefined
  /** Nodes that could not be undone. */
  left: readonly string[] = []
  /** When the last event was written down. */
  timeMs = 0
  root: ScopeState | undefined
  failure: { readonly node: string; readonly error: Failure } | undefined
  output: ValueRef | undefined
  startedAtMs: number | undefined
  /** By all nodes. */
  used: Used = {}
  /** What was taken of rights. */
  readonly grants: GrantBook
  readonly loops: RunLoops
  /** What was allowed on top of the budget of the plan. */
  more: Used & { readonly wallMs?: number } = {}
  /** The highest number of a call so far. */
  calls = 0
  /** Events so far. */
  events = 0
  /** Nodes that may begin: everything before them is settled. */
  readonly ready: Map<string, { readonly scope: ScopeState; readonly id: string }> = new Map()
  /** Nodes whose inner scope needs a decision: it has ended, or a node in it failed. */
  readonly toConclude: Map<string, NodeState> = new Map()
  /** Waiting nodes of which somebody decided what they asked. */
  readonly toGoOn: Map<string, NodeState> = new Map()
  /** Nodes that stand still until somebody lets the run go on. */
  readonly toThaw: Map<string, NodeState> = new Map()
  /** Nodes that failed, and whose stand-in completed. */
  readonly toStandIn: Map<string, NodeState> = new Map()
  /** Nodes that are at work, wait, or are frozen. */
  readonly live: Map<string, NodeState> = new Map()
  /** Completed nodes that can be undone, in the order of their completion. */
  readonly undoable: NodeState[] = []
  /** The one that is being undone. */
  undoing: NodeState | undefined
  readonly #nodes = new Map<string, NodeState>()

  /** @param plan checked */
  constructor(plan: Plan) {
    this.plan = plan
    this.grants = new GrantBook(plan)
    this.loops = new RunLoops(plan)
  }

  /** The node at a path, if it has begun. */
  node(path: string): NodeState | undefined {
    return this.#nodes.get(path)
  }

  get nodes(): Iterable<NodeState> {
    return this.#nodes.values()
  }

  /** @throws CaissonError `invalid_transition`; nothing is changed then */
  apply(event: RunEvent | RecordedEvent): void {
    const { timeMs = 0 } = event as Partial<RecordedEvent>
    this.timeMs = Math.max(this.timeMs, timeMs)
    if ('node' in event && event.type !== 'failing') this.#applyToNode(event as NodeEvent)
    else this.#applyToRun(event as Exclude<RunEvent, NodeEvent>)
    this.events += 1
  }

  /** Changes nothing. @throws what `apply` would, as far as the tables and decisions go */
  check(event: RunEvent): void {
    if ('node' in event && event.type !== 'failing') {
      const known = this.#nodes.get(event.node)
      nextNodeStatus(event.node, known?.status, (event as NodeEvent).type)
      checkDecided(known, event as NodeEvent)
    } else nextRunStatus(this.status, (event as Exclude<RunEvent, NodeEvent>).type)
  }

  #applyToRun(event: Exclude<RunEvent, NodeEvent>): void {
    this.status = nextRunStatus(this.status, event.type)
    switch (event.type) {
      case 'proposed':
        this.proposal = event
        this.proposedAtMs = this.timeMs
        this.input = event.input
        break
      case 'approved':
        this.approval = { by: event.by, request: event.request, timeMs: this.timeMs }
        break
      case 'started':
        this.startedAtMs = event.atMs
        this.root = this.#open('', 0, undefined, scopePlan(this.plan))
        break
      case 'rejected':
      case 'cancel_asked':
        this.reason = event.reason
        break
      case 'frozen':
        this.frozen = { reason: event.reason, message: event.message }
        break
      case 'compensated':
        this.left = event.left
        break
      case 'confirmed': {
        if (this.frozen?.reason === 'loop_guard') this.loops.clear()
        this.frozen = undefined
        const { wallMs = 0, ...more } = event.more ?? {}
        this.more = { ...addUsed(this.more, more), wallMs: (this.more.wallMs ?? 0) + wallMs }
        break
      }
      case 'failing':
        this.failure = { node: event.node, error: event.error }
        break
      case 'completed':
        this.output = event.output
        break
      case 'failed':
        this.failure ??= { node: '', error: event.error }
        break
      default:
    }
  }

  #applyToNode(event: NodeEvent): void {
    const known = this.#nodes.get(event.node)
    const status = nextNodeStatus(event.node, known?.status, event.type)
    checkDecided(known, event)
    if (event.type === 'node_undoing' && this.undoable.at(-1) !== known) throw outOfOrder(event.node)
    const state = known ?? this.#begin(event.node)
    const before = known?.status
    state.status = status
    this.#note(state, event)
    this.#spend(state, event)
    this.loops.note(state, event)
    if (before !== undefined && isLive(before) && !isLive(status)) this.#leave(state)
    else if ((before === undefined || !isLive(before)) && isLive(status)) this.#enter(state)
    if (
      SETTLED.has(status) &&
      (before === undefined || !SETTLED.has(before) || event.type === 'node_recovered')
    )
      this.#settle(state)
  }

  /** An attempt is a step, and a call that was let in is one whatever became of it. */
  #spend(state: NodeState, { used, type }: NodeEvent): void {
    const own = type === 'node_started' ? { steps: 1 } : type === 'node_called' ? { calls: 1 } : undefined
    const { by, ...parts } = used ?? {}
    if (by !== undefined)
      this.grants.note(state === this.undoing ? state.path + UNDO : state.path, by, this.timeMs)
    if (used !== undefined && state.node.kind === 'program') state.counted = addUsed(state.counted, used)
    for (const more of [used && parts, own]) {
      if (more === undefined) continue
      this.used = addUsed(this.used, more)
      for (let at: NodeState | undefined = state; at !== undefined; at = at.scope.owner)
        at.used = addUsed(at.used, more)
    }
  }

  /** Takes over what an event says of a node. */
  #note(state: NodeState, event: NodeEvent): void {
    switch (event.type) {
      case 'node_started':
        state.attempt = event.attempt
        state.input = event.input
        state.startedAtMs ??= this.timeMs
        state.attemptAtMs = this.timeMs
        state.retryAtMs = undefined
        state.call = undefined
        state.counted = {}
        state.doubts.clear()
        state.instead = undefined
        if (event.attempt === 1) this.#openFirst(state)
        break
      case 'node_skipped':
        state.skipped = event.reason
        break
      case 'node_called':
        state.call = { id: event.call, key: event.key, repeatable: event.repeatable, answer: undefined }
        this.calls = Math.max(this.calls, event.call)
        break
      case 'node_answered':
        noteAnswer(state, event)
        break
      case 'node_frozen':
        state.frozenFor = event.reason
        if (THAWS.has(event.reason)) this.toThaw.set(state.path, state)
        state.doubts.clear()
        for (const call of event.calls ?? [])
          state.doubts.set(call.call, { ...call, settled: false, answer: undefined })
        break
      case 'node_expanded':
        this.#expand(state, event.items)
        break
      case 'node_round':
        this.#endRound(state, event.round, event.state, event.done)
        break
      case 'node_waiting':
        state.waiting = event.waiting
        state.woken = undefined
        noteAsked(state, event.waiting)
        this.#lookAtDecisions(state)
        break
      case 'node_woken':
        state.waiting = undefined
        state.woken = event.value
        useDecisions(state)
        this.toGoOn.delete(state.path)
        break
      case 'node_decided':
      case 'node_withdrawn':
        noteDecision(state, event, this.timeMs)
        this.#lookAtDecisions(state)
        break
      case 'node_completed':
        state.output = event.output
        state.chosen = event.chosen
        this.#noteUndoable(state)
        break
      case 'node_recovered':
        state.output = event.output
        state.error = event.error
        this.toStandIn.delete(state.path)
        this.#noteUndoable(state)
        break
      case 'node_failed':
        state.error = event.error
        state.standby = event.standby
        break
      case 'node_thawed':
        state.frozenFor = undefined
        this.toThaw.delete(state.path)
        if (event.again) state.call = undefined
        break
      case 'node_retrying':
        state.error = event.error
        state.retryAtMs = event.atMs
        break
      case 'node_undoing':
        this.undoable.pop()
        this.undoing = state
        state.requests.clear()
        state.attemptAtMs = this.timeMs
        state.call = undefined
        state.counted = {}
        break
      case 'node_undone':
        this.undoing = undefined
        break
      case 'node_not_undone':
        this.undoing = undefined
        state.error = event.error
        break
      default:
    }
  }

  #lookAtDecisions(state: NodeState): void {
    if (state.waiting !== undefined && hasUnusedDecision(state)) this.toGoOn.set(state.path, state)
    else this.toGoOn.delete(state.path)
  }

  #noteUndoable(state: NodeState): void {
    const { node } = state
    if ((node.kind === 'program' || node.kind === 'call') && node.compensate !== undefined)
      this.undoable.push(state)
  }

  /** The first event of a node: it must be one that may begin. */
  #begin(path: string): NodeState {
    const place = this.ready.get(path)
    if (place === undefined) {
      throw new CaissonError('invalid_transition', `Node "${path.slice(0, 200)}" cannot begin here.`, {
        details: { node: path.slice(0, 200) },
      })
    }
    const { scope, id } = place
    const state: NodeState = {
      path,
      id,
      node: scope.plan.node(id),
      scope,
      status: 'running',
      attempt: 0,
      startedAtMs: undefined,
      endedAtMs: undefined,
      attemptAtMs: undefined,
      input: undefined,
      output: undefined,
      chosen: undefined,
      skipped: undefined,
      waiting: undefined,
      requests: new Map(),
      instead: undefined,
      asks: 0,
      woken: undefined,
      retryAtMs: undefined,
      error: undefined,
      used: {},
      counted: {},
      frozenFor: undefined,
      standby: undefined,
      inner: new Map(),
      items: undefined,
      call: undefined,
      doubts: new Map(),
      innerEnded: 0,
      innerLive: 0,
      innerFailed: undefined,
      rounds: 0,
      roundState: undefined,
      roundsDone: false,
    }
    this.ready.delete(path)
    this.#nodes.set(path, state)
    scope.nodes.set(id, state)
    return state
  }

  #enter(state: NodeState): void {
    state.scope.live += 1
    if (state.scope.owner !== undefined) state.scope.owner.innerLive += 1
    this.live.set(state.path, state)
  }

  #leave(state: NodeState): void {
    state.scope.live -= 1
    if (state.scope.owner !== undefined) state.scope.owner.innerLive -= 1
    this.live.delete(state.path)
    state.waiting = undefined
    this.toConclude.delete(state.path)
    this.toThaw.delete(state.path)
    state.frozenFor = undefined
    this.toGoOn.delete(state.path)
  }

  /** A node has ended: what waited for it may begin, and its scope may have ended. */
  #settle(state: NodeState): void {
    state.endedAtMs = this.timeMs
    if (state.status === 'failed' && state.standby !== undefined) this.#release(state.scope, state.standby)
    else this.#end(state)
  }

  #end(state: NodeState): void {
    const { scope, id } = state
    scope.open -= 1
    if (state.status === 'failed') {
      scope.failed ??= state
      if (scope.owner !== undefined) scope.owner.innerFailed ??= state
    }
    for (const next of scope.plan.after.get(id) ?? []) if (next !== state.standby) this.#release(scope, next)
    const original = scope.nodes.get(scope.plan.standsInFor.get(id) ?? '')
    if (original?.status === 'failed' && original.standby === id) {
      if (state.status === 'completed') this.toStandIn.set(original.path, original)
      else this.#end(original)
    }
    this.#look(scope)
  }

  #release(scope: ScopeState, id: string): void {
    const waits = (scope.waits.get(id) ?? 0) - 1
    scope.waits.set(id, waits)
    if (waits === 0) this.ready.set(scope.path + id, { scope, id })
  }

  /** Whether the node around a scope has something to decide. */
  #look(scope: ScopeState): void {
    const { owner } = scope
    if (owner === undefined || !isLive(owner.status)) return
    if (scope.open === 0) owner.innerEnded += 1
    if (owner.innerFailed !== undefined) this.toConclude.set(owner.path, owner)
    else if (scope.open > 0) return
    else if (owner.node.kind !== 'each') this.toConclude.set(owner.path, owner)
    else if (owner.innerEnded === owner.items) this.toConclude.set(owner.path, owner)
    else this.#openNext(owner)
  }

  #openFirst(state: NodeState): void {
    const inner = innerScope(state.node)
    if (inner === undefined || state.node.kind === 'each') return
    this.#openInner(state, 0)
  }

  #expand(state: NodeState, items: number): void {
    state.items = items
    if (items === 0) this.toConclude.set(state.path, state)
    else for (let i = 0; i < concurrencyOf(state.node); i++) this.#openNext(state)
  }

  #openNext(state: NodeState): void {
    const next = state.inner.size
    if (next < (state.items ?? 0)) this.#openInner(state, next)
  }

  #endRound(state: NodeState, round: number, after: ValueRef, done: boolean): void {
    state.rounds = round + 1
    state.roundState = after
    state.roundsDone = done
    this.toConclude.delete(state.path)
    if (done) this.toConclude.set(state.path, state)
    else this.#openInner(state, round + 1)
  }

  #openInner(state: NodeState, index: number): void {
    const scope = innerScope(state.node)
    if (scope === undefined) return
    const path = state.node.kind === 'plan' ? `${state.path}/` : `${state.path}/${index}/`
    // Of a loop only the round that is under way is kept.
    if (state.node.kind === 'loop') state.inner.clear()
    state.inner.set(index, this.#open(path, index, state, scopePlan(scope)))
  }

  #open(path: string, index: number, owner: NodeState | undefined, plan: ScopePlan): ScopeState {
    const ids = Object.keys(plan.scope.nodes)
    const scope: ScopeState = {
      path,
      index,
      owner,
      plan,
      nodes: new Map(),
      waits: new Map(ids.map((id) => [id, plan.before.get(id)?.size ?? 0])),
      open: ids.length,
      live: 0,
      failed: undefined,
    }
    for (const id of ids) if (scope.waits.get(id) === 0) this.ready.set(path + id, { scope, id })
    return scope
  }
}

/** What lets the run go on lets these go on too. */
const THAWS: ReadonlySet<FreezeReason> = new Set(['budget', 'loop_guard'])

const DEFAULT_CONCURRENCY = 4

function noteAnswer(state: NodeState, event: Extract<NodeEvent, { type: 'node_answered' }>): void {
  const doubt = state.doubts.get(event.call)
  if (doubt !== undefined) state.doubts.set(event.call, { ...doubt, settled: true, answer: event.answer })
  else if (state.call !== undefined) state.call = { ...state.call, answer: event.answer }
}

function outOfOrder(path: string): CaissonError {
  return new CaissonError(
    'invalid_transition',
    `Node "${path.slice(0, 200)}" is not the one that completed last: it is not its turn to be undone.`,
    { details: { node: path.slice(0, 200) } },
  )
}

function concurrencyOf(node: PlanNode): number {
  return node.kind === 'each' ? (node.concurrency ?? DEFAULT_CONCURRENCY) : 1
}

function isLive(status: NodeStatus): boolean {
  return status === 'running' || status === 'waiting' || status === 'retrying' || status === 'frozen'
}
