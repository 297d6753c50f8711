/**
 * The state of a run as plain data: an image of the fold, from which it goes on without the events before.
 *
 * Nodes and scopes are told by their numbers in two lists, each node after those around it.
 *
 * Invariants
 * 1. Two states have equal images if, and only if, they go on equally: also what is only iterated over stands in its
 *    order, but for nodes that may begin, which have none.
 * 2. What is read has the shape that it says, and every number names something, before a state is made of it.
 */
import type { LoopGuardMemory } from '../../capability/loop-guard.ts'
import type { Scope } from '../plan/plan.ts'
import type { GrantTaken } from './grant-book.ts'
import type { RunLoopsMemory } from './loop-guard.ts'
import type { DoubtState, NodeCall, NodeState, RequestState } from './node-state.ts'
import type { CallAnswer, RecordedEvent } from './run-event.ts'
import type { RunState } from './run-state.ts'

/** Names the form of images, and its version. */
export const STATE_IMAGE_FORMAT = 'state/1'

/** Number of a node, or of a scope, in its list. */
export type Numbered = number

export interface ScopeImage {
  /** The node that it is in; none for the plan. */
  readonly owner?: Numbered
  readonly index: number
  /** Of a loop, a round that is over is not: it is only there for what can be undone. */
  readonly isOpen: boolean
  /** By the ids of its nodes, sorted. */
  readonly waits: readonly number[]
  readonly open: number
  readonly live: number
  readonly failed?: Numbered
}

/** Sorted by their code units, in whatever order the plan has them. */
export function idsOf({ nodes }: Pick<Scope, 'nodes'>): readonly string[] {
  return Object.keys(nodes).sort()
}

type Plain =
  | 'status'
  | 'attempt'
  | 'startedAtMs'
  | 'endedAtMs'
  | 'attemptAtMs'
  | 'input'
  | 'output'
  | 'chosen'
  | 'skipped'
  | 'waiting'
  | 'instead'
  | 'asks'
  | 'woken'
  | 'retryAtMs'
  | 'error'
  | 'used'
  | 'counted'
  | 'frozenFor'
  | 'standby'
  | 'items'
  | 'innerEnded'
  | 'innerLive'
  | 'rounds'
  | 'roundState'
  | 'roundsDone'

/** Members that are as they are in a node; what is undefined is left out. */
export const PLAIN_NODE_MEMBERS: readonly Plain[] = [
  'status',
  'attempt',
  'startedAtMs',
  'endedAtMs',
  'attemptAtMs',
  'input',
  'output',
  'chosen',
  'skipped',
  'waiting',
  'instead',
  'asks',
  'woken',
  'retryAtMs',
  'error',
  'used',
  'counted',
  'frozenFor',
  'standby',
  'items',
  'innerEnded',
  'innerLive',
  'rounds',
  'roundState',
  'roundsDone',
]

/** What a node has that is not told by default. */
type Told = { readonly [Member in Plain]?: Exclude<NodeState[Member], undefined> }

export type RequestImage = Omit<RequestState, 'decision'> & {
  readonly decision?: Omit<NonNullable<RequestState['decision']>, 'value'> & {
    readonly value?: NonNullable<NonNullable<RequestState['decision']>['value']>
  }
}

export type NodeImage = Told & {
  readonly scope: Numbered
  readonly id: string
  readonly requests?: readonly RequestImage[]
  readonly call?: Omit<NodeCall, 'answer'> & { readonly answer?: CallAnswer }
  readonly doubts?: readonly (Omit<DoubtState, 'answer'> & { readonly answer?: CallAnswer })[]
  readonly innerFailed?: Numbered
}

/** What the guard of loops knows, where it knows anything. */
export interface LoopsImage extends LoopGuardMemory {
  readonly begun: RunLoopsMemory['begun']
}

export interface StateImage {
  readonly format: typeof STATE_IMAGE_FORMAT
  readonly status: NonNullable<RunState['status']>
  readonly proposal: Extract<RecordedEvent, { type: 'proposed' }>
  readonly approval?: NonNullable<RunState['approval']>
  readonly reason?: string
  readonly frozen?: NonNullable<RunState['frozen']>
  readonly left: readonly string[]
  readonly timeMs: number
  readonly failure?: NonNullable<RunState['failure']>
  readonly output?: NonNullable<RunState['output']>
  readonly startedAtMs?: number
  readonly used: RunState['used']
  readonly more: RunState['more']
  readonly calls: number
  readonly events: number
  readonly grants: readonly GrantTaken[]
  readonly loops: LoopsImage
  /** The first one is that of the plan; none before it has started. */
  readonly scopes: readonly ScopeImage[]
  readonly nodes: readonly NodeImage[]
  readonly ready: readonly (readonly [scope: Numbered, id: string])[]
  readonly live: readonly Numbered[]
  readonly toConclude: readonly Numbered[]
  readonly toStandIn: readonly Numbered[]
  readonly toGoOn: readonly Numbered[]
  readonly toThaw: readonly Numbered[]
  readonly undoable: readonly Numbered[]
  readonly undoing?: Numbered
}
