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
import { isEffect, isGuest } from '../plan/node-kinds.ts'
import type { Plan } from '../plan/plan.ts'
import { UNDO } from '../plan/rights-at.ts'
import { GrantBook } from './grant-book.ts'
import { leftUndone } from './left-undone.ts'
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
import { RunScopes } from './run-scopes.ts'
import {
  isLive,
  type NodeStatus,
  nextNodeStatus,
  nextRunStatus,
  type RunStatus,
  SETTLED,
} from './transitions.ts'
import { addUsed, oneMore } from './used.ts'

/** Why a run stands still; `part` is that of a budget which is used up. */
export interface Standstill {
  readonly reason: FreezeReason
  readonly message: string
  readonly part?: string
}

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
  frozen: Standstill | undefined
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
  /** Waiting nodes of which somebody decided what they asked. */
  readonly toGoOn: Map<string, NodeState> = new Map()
  /** Nodes that stand still until somebody lets the run go on. */
  readonly toThaw: Map<string, NodeState> = new Map()
  /** Completed nodes that can be undone, in the order of their completion. */
  readonly undoable: NodeState[] = []
  /** Nodes around them, of the first so many of them. */
  readonly #holders = new Set<NodeState>()
  #held = 0
  /** The one that is being undone. */
  undoing: NodeState | undefined
  readonly #nodes = new Map<string, NodeState>()
  readonly #scopes = new RunScopes()

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

  get scopes(): RunScopes {
    return this.#scopes
  }

  /** A node of an image of the state: those around it are there already. */
  adopt(node: NodeState): void {
    this.#nodes.set(node.path, node)
  }

  /** See `RunScopes`, as the next three. */
  get ready(): RunScopes['ready'] {
    return this.#scopes.ready
  }

  get toConclude(): RunScopes['toConclude'] {
    return this.#scopes.toConclude
  }

  get toStandIn(): RunScopes['toStandIn'] {
    return this.#scopes.toStandIn
  }

  get live(): RunScopes['live'] {
    return this.#scopes.live
  }

  /** @throws CaissonError `invalid_transition`; nothing is changed then */
  apply(event: RunEvent | RecordedEvent): void {
    const { timeMs = 0 } = event as Partial<RecordedEvent>
    this.timeMs = Math.max(this.timeMs, timeMs)
    if ('node' in event && event.type !== 'failing') this.#applyToNode(event as NodeEvent)
    else this.#applyToRun(event as Exclude<RunEvent, NodeEvent>)
    this.events += 1
  }

  /** Of events one after the other. Changes nothing. @throws what `apply` would, as far as the tables and decisions go */
  check(events: readonly RunEvent[]): void {
    let { status } = this
    const nodes = new Map<string, NodeStatus>()
    for (const event of events) {
      if ('node' in event && event.type !== 'failing') {
        const known = this.#nodes.get(event.node)
        const before = nodes.get(event.node) ?? known?.status
        nodes.set(event.node, nextNodeStatus(event.node, before, (event as NodeEvent).type))
        checkDecided(known, event as NodeEvent)
      } else status = nextRunStatus(status, (event as Exclude<RunEvent, NodeEvent>).type)
    }
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
        this.root = this.#scopes.openRoot(this.plan)
        break
      case 'rejected':
      case 'cancel_asked':
        this.reason = event.reason
        break
      case 'frozen':
        this.frozen = {
          reason: event.reason,
          message: event.message,
          ...(event.part !== undefined && { part: event.part }),
        }
        break
      case 'compensated':
        this.left = leftUndone(this.nodes)
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
    else if ((before === undefined || !isLive(before)) && isLive(status)) this.#scopes.enter(state)
    if (
      SETTLED.has(status) &&
      (before === undefined || !SETTLED.has(before) || event.type === 'node_recovered')
    ) {
      state.endedAtMs = this.timeMs
      this.#scopes.settle(state)
    }
  }

  /** An attempt is a step, and a call that was let in is one whatever became of it. */
  #spend(state: NodeState, { used, type }: NodeEvent): void {
    if (used !== undefined) {
      const { by, ...parts } = used
      if (by !== undefined)
        this.grants.note(state === this.undoing ? state.path + UNDO : state.path, by, this.timeMs)
      if (isGuest(state.node)) state.counted = addUsed(state.counted, used)
      this.used = addUsed(this.used, parts)
      for (let at: NodeState | undefined = state; at !== undefined; at = at.scope.owner)
        at.used = addUsed(at.used, parts)
    }
    const part = type === 'node_started' ? 'steps' : type === 'node_called' ? 'calls' : undefined
    if (part === undefined) return
    this.used = oneMore(this.used, part)
    for (let at: NodeState | undefined = state; at !== undefined; at = at.scope.owner)
      at.used = oneMore(at.used, part)
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
        if (event.attempt === 1) this.#scopes.openFirst(state)
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
        this.#scopes.expand(state, event.items)
        break
      case 'node_round':
        // Of the rounds of a loop only the last one is kept: else a run grew with all that it ever did.
        if (!event.done) for (const scope of state.inner.values()) this.#forget(scope)
        state.rounds = event.round + 1
        state.roundState = event.state
        state.roundsDone = event.done
        this.#scopes.endRound(state)
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
        this.#scopes.toStandIn.delete(state.path)
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
    if (canBeUndone(state)) this.undoable.push(state)
  }

  /** The first event of a node: it must be one that may begin. */
  #begin(path: string): NodeState {
    const place = this.ready.get(path)
    if (place === undefined) {
      throw new CaissonError('invalid_transition', `Node "${path.slice(0, 200)}" cannot begin here.`, {
        details: { node: path.slice(0, 200) },
      })
    }
    const state = this.#scopes.begin(path, place)
    this.#nodes.set(path, state)
    return state
  }

  /** Nothing happens any more to the nodes of a scope that is over, but to those that can be undone. @returns whether one is kept */
  #forget({ nodes }: ScopeState): boolean {
    let keepsOne = false
    this.#noteHolders()
    for (const node of nodes.values()) {
      // A loop in it holds what earlier rounds of its own left to be undone, though these are over.
      let isKept = (node.status === 'completed' && canBeUndone(node)) || this.#holders.has(node)
      for (const scope of node.inner.values()) isKept = this.#forget(scope) || isKept
      if (!isKept) this.#nodes.delete(node.path)
      keepsOne ||= isKept
    }
    return keepsOne
  }

  /** Nodes around those that can be undone, of those that came since it was looked last. */
  #noteHolders(): void {
    for (; this.#held < this.undoable.length; this.#held += 1)
      for (let at = this.undoable[this.#held]?.scope.owner; at !== undefined; at = at.scope.owner)
        this.#holders.add(at)
  }

  #leave(state: NodeState): void {
    this.#scopes.leave(state)
    state.waiting = undefined
    state.frozenFor = undefined
    this.toThaw.delete(state.path)
    this.toGoOn.delete(state.path)
  }
}

function canBeUndone({ node }: NodeState): boolean {
  return isEffect(node) && node.compensate !== undefined
}

/** What lets the run go on lets these go on too. */
const THAWS: ReadonlySet<FreezeReason> = new Set(['budget', 'loop_guard'])

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
