/** What a journal says of the nodes of a run, and of the scopes they stand in: the parts of `RunState`. */
import type { Digest } from '../../base/digest.ts'
import type { PlanNode } from '../plan/plan.ts'
import type {
  Asked,
  CallAnswer,
  CallInDoubt,
  Failure,
  FreezeReason,
  SkipReason,
  Used,
  ValueRef,
  Waiting,
} from './run-event.ts'
import type { ScopePlan } from './scope-plan.ts'
import type { NodeStatus } from './transitions.ts'

/** One node of one scope: of an `each` there are as many as it has items. */
export interface NodeState {
  /** `enrich/3/lookup`: ids of nodes, and between them the numbers of items or rounds. */
  readonly path: string
  readonly id: string
  readonly node: PlanNode
  readonly scope: ScopeState
  status: NodeStatus
  attempt: number
  /** When it began, and when it was settled: milliseconds since the epoch. */
  startedAtMs: number | undefined
  endedAtMs: number | undefined
  /** When the attempt began that is under way, or the undoing. */
  attemptAtMs: number | undefined
  input: ValueRef | undefined
  output: ValueRef | undefined
  /** Of a choice that was made. */
  chosen: readonly string[] | undefined
  skipped: SkipReason | undefined
  waiting: Waiting | undefined
  /** What people are asked, or were asked last, by the digests of the requests. */
  readonly requests: Map<Digest, RequestState>
  /** Of a node that failed, and for whose output people are asked: why, and which fallback says so. */
  instead: { readonly error: Failure; readonly fallback: number } | undefined
  /** Requests so far. */
  asks: number
  /** Of a wait that is over: the value that came with what ended it. */
  woken: ValueRef | undefined
  retryAtMs: number | undefined
  error: Failure | undefined
  /** By it, all its attempts, and the nodes inside of it. */
  used: Used
  /** Of a program: what the journal has of the attempt that is under way, or of the undoing. */
  counted: Used
  /** Why it stands still. */
  frozenFor: FreezeReason | undefined
  /** The node that stands in for it after it failed. */
  standby: string | undefined
  /** Scopes inside of it: of an `each` by item, of a `loop` the round that is under way, of a `plan` one. */
  readonly inner: Map<number, ScopeState>
  /** Of a `call`: the one that was let in, and how it ended, if it has. */
  call: NodeCall | undefined
  /** Of a program that is frozen: its calls in doubt, by their numbers, and what a person said of them. */
  readonly doubts: Map<number, DoubtState>
  /** Of an `each`. */
  items: number | undefined
  /** Scopes inside of it that have ended. */
  innerEnded: number
  /** Nodes at work, waiting or frozen in the scopes inside of it. */
  innerLive: number
  /** The first node inside of it that failed for good. */
  innerFailed: NodeState | undefined
  /** Of a `loop`: rounds that have ended, and the state after the last one. */
  rounds: number
  roundState: ValueRef | undefined
  /** Whether the last round was the last one. */
  roundsDone: boolean
}

/** A request to people, and what became of it. */
export interface RequestState extends Asked {
  readonly decision: RequestDecision | undefined
  /** The node went on with the decision: it cannot be taken back any more. */
  readonly used: boolean
}

export interface RequestDecision {
  readonly by: string
  readonly approved: boolean
  readonly comment: string
  /** Of a rejection. */
  readonly reason: string
  /** What stands in the place of what was shown. */
  readonly value: ValueRef | undefined
  readonly atMs: number
}

/** A call in doubt. `settled`: a person said what became of it. */
export interface DoubtState extends CallInDoubt {
  readonly settled: boolean
  /** As it ended; undefined where it did not happen, and is made again. */
  readonly answer: CallAnswer | undefined
}

/** A call of a node, as the journal has it. */
export interface NodeCall {
  readonly id: number
  /** For services that deduplicate: the same for every attempt to make it. */
  readonly key: string
  /** Whether it may be made again without asking anybody. */
  readonly repeatable: boolean
  readonly answer: CallAnswer | undefined
}

/** Nodes that end together. */
export interface ScopeState {
  /** Of the node that it is in and its number, with a slash at the end; empty for the plan. */
  readonly path: string
  readonly index: number
  readonly owner: NodeState | undefined
  readonly plan: ScopePlan
  readonly nodes: Map<string, NodeState>
  /** How many nodes each one waits for; those at 0 have begun, or may. */
  readonly waits: Map<string, number>
  /** Nodes that are not settled, those that did not begin included. */
  open: number
  /** Nodes at work, waiting or frozen. */
  live: number
  /** The first node that failed for good. */
  failed: NodeState | undefined
}

/** A node that begins. */
export function newNode(path: string, id: string, scope: ScopeState): NodeState {
  return {
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
}
