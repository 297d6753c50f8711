/**
 * The state machine of runs and of nodes, in two tables: which event may follow in which state. Everything else is
 * refused, whoever asks: a rejected plan never runs, and what has ended never goes on.
 *
 * docs/plans.md shows these tables; a test compares them.
 */
import { CaissonError } from '../../base/errors.ts'
import type { EventType, NodeEventType } from './run-event.ts'

export const RUN_STATES = [
  'proposed',
  'approved',
  'rejected',
  'running',
  'frozen',
  'failing',
  'cancelling',
  'compensating',
  'completed',
  'failed',
  'cancelled',
  'compensated',
] as const

export type RunStatus = (typeof RUN_STATES)[number]

export const NODE_STATES = [
  'running',
  'waiting',
  'retrying',
  'frozen',
  'completed',
  'failed',
  'skipped',
  'cancelled',
  'compensating',
  'compensated',
  'uncompensated',
] as const

export type NodeStatus = (typeof NODE_STATES)[number]

/** Before its first event. */
const NOTHING = 'nothing'

export type RunEventType = Exclude<EventType, NodeEventType>

type Table<State extends string, Type extends string> = Readonly<
  Record<State | typeof NOTHING, Partial<Readonly<Record<Type, State>>>>
>

export const RUN_TRANSITIONS: Table<RunStatus, RunEventType> = {
  nothing: { proposed: 'proposed' },
  proposed: { approved: 'approved', rejected: 'rejected', cancel_asked: 'cancelling' },
  approved: { started: 'running', rejected: 'rejected', cancel_asked: 'cancelling' },
  rejected: {},
  running: { frozen: 'frozen', cancel_asked: 'cancelling', failing: 'failing', completed: 'completed' },
  frozen: { confirmed: 'running', cancel_asked: 'cancelling' },
  failing: { undoing: 'compensating', failed: 'failed', cancel_asked: 'cancelling', confirmed: 'failing' },
  cancelling: { undoing: 'compensating', cancelled: 'cancelled', confirmed: 'cancelling' },
  compensating: { compensated: 'compensated', confirmed: 'compensating' },
  completed: {},
  failed: {},
  cancelled: {},
  compensated: {},
}

export const NODE_TRANSITIONS: Table<NodeStatus, NodeEventType> = {
  nothing: { node_started: 'running', node_skipped: 'skipped' },
  running: {
    node_called: 'running',
    node_answered: 'running',
    node_expanded: 'running',
    node_round: 'running',
    node_waiting: 'waiting',
    node_frozen: 'frozen',
    node_completed: 'completed',
    node_recovered: 'completed',
    node_failed: 'failed',
    node_retrying: 'retrying',
    node_cancelled: 'cancelled',
    node_decided: 'running',
    node_withdrawn: 'running',
  },
  waiting: {
    node_decided: 'waiting',
    node_withdrawn: 'waiting',
    node_woken: 'running',
    node_recovered: 'completed',
    node_failed: 'failed',
    node_frozen: 'frozen',
    node_cancelled: 'cancelled',
  },
  retrying: { node_started: 'running', node_failed: 'failed', node_cancelled: 'cancelled' },
  frozen: {
    node_answered: 'frozen',
    node_skipped: 'skipped',
    node_thawed: 'running',
    node_failed: 'failed',
    node_cancelled: 'cancelled',
  },
  completed: { node_undoing: 'compensating' },
  failed: { node_recovered: 'completed' },
  skipped: {},
  cancelled: {},
  compensating: {
    node_called: 'compensating',
    node_answered: 'compensating',
    node_waiting: 'compensating',
    node_decided: 'compensating',
    node_withdrawn: 'compensating',
    node_woken: 'compensating',
    node_undone: 'compensated',
    node_not_undone: 'uncompensated',
  },
  compensated: {},
  uncompensated: {},
}

/** A run in one of these has ended for good. */
export const ENDED: ReadonlySet<RunStatus> = new Set([
  'rejected',
  'completed',
  'failed',
  'cancelled',
  'compensated',
])

/** A node in one of these does nothing more by itself. */
export const SETTLED: ReadonlySet<NodeStatus> = new Set([
  'completed',
  'failed',
  'skipped',
  'cancelled',
  'compensated',
  'uncompensated',
])

/** At work, waiting, or frozen. One that is being undone was settled before. */
export function isLive(status: NodeStatus): boolean {
  return status === 'running' || status === 'waiting' || status === 'retrying' || status === 'frozen'
}

/** @throws CaissonError `invalid_transition` */
export function nextRunStatus(status: RunStatus | undefined, type: RunEventType): RunStatus {
  const next = RUN_TRANSITIONS[status ?? NOTHING][type]
  if (next === undefined) throw refused('run', status, type)
  return next
}

/** @throws CaissonError `invalid_transition` */
export function nextNodeStatus(
  node: string,
  status: NodeStatus | undefined,
  type: NodeEventType,
): NodeStatus {
  const next = NODE_TRANSITIONS[status ?? NOTHING][type]
  if (next === undefined) throw refused(`node "${node.slice(0, 200)}"`, status, type)
  return next
}

function refused(what: string, status: string | undefined, type: string): CaissonError {
  const state = status === undefined ? 'does not exist yet' : `is ${status}`
  return new CaissonError('invalid_transition', `The ${what} ${state}: "${type}" cannot follow.`, {
    details: { status: status ?? NOTHING, event: type },
  })
}
