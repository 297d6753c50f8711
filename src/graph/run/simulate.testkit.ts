/** Plays a run without doing anything in the world: every decision that a runner would take is drawn. */
import { sha256 } from '../../base/digest.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { type Action, nextActions } from './next-actions.ts'
import type { NodeState } from './node-state.ts'
import type { Failure, NodeEvent, RunEvent, Waiting } from './run-event.ts'
import { RunState } from './run-state.ts'

/** What becomes of nodes: each answer is drawn when it is needed. */
export interface Fate {
  /** A number from 0 up to `below`. */
  draw(below: number): number
  /** Nodes at work at once, at most. */
  readonly atOnce: number
  /** One of so many nodes fails; 0: none. */
  readonly failing: number
}

export interface Played {
  readonly state: RunState
  readonly events: readonly RunEvent[]
}

const FAILURE: Failure = { class: 'unknown', code: 'capability_failed', message: 'drawn' }
const NOTHING = { value: null }
const MOST_EVENTS = 20_000

/** Plays from the proposal to an end. @throws Error when it stands still before it has ended */
export function play(
  plan: Plan,
  fate: Fate,
  watch: (state: RunState, event: RunEvent) => void = () => {},
): Played {
  const state = new RunState(plan)
  const events: RunEvent[] = []
  const emit = (event: RunEvent): void => {
    state.apply(event)
    events.push(event)
    watch(state, event)
    if (events.length > MOST_EVENTS) throw new Error('It does not end.')
  }
  const digest = `sha256:${'0'.repeat(64)}` as never
  emit({ type: 'proposed', format: 'run/1', id: 'r', tools: {}, plan: digest, input: NOTHING, by: 'ann' })
  emit({ type: 'approved', request: digest, by: 'bob' })
  emit({ type: 'started', by: 'bob', atMs: 0 })
  for (;;) {
    const actions = nextActions(state)
    const working = [...state.live.values()].filter(isAtWork)
    const choices = [...actions, ...(working.length > 0 ? ['finish' as const] : [])]
    if (choices.length === 0) break
    const startable = actions.filter((action) => action.do !== 'begin' || working.length < fate.atOnce)
    const pick = fate.draw(startable.length + working.length)
    const action = startable[pick]
    if (action === undefined) emit(finish(working[pick - startable.length] as NodeState, fate))
    else for (const event of act(action, state, fate)) emit(event)
  }
  if (!ended(state)) throw new Error(`It stands still: ${state.status}, ${[...state.live.keys()].join()}`)
  return { state, events }
}

function ended(state: RunState): boolean {
  return ['completed', 'failed', 'cancelled', 'compensated'].includes(state.status ?? '')
}

/** Nodes that hold others are not at work by themselves. */
function isAtWork({ node, status }: NodeState): boolean {
  return status !== 'running' || (node.kind !== 'each' && node.kind !== 'loop' && node.kind !== 'plan')
}

function act(action: Action, state: RunState, fate: Fate): readonly RunEvent[] {
  switch (action.do) {
    case 'begin':
      return begin(action.path, action.scope.plan.node(action.id), fate)
    case 'skip':
      return [{ node: action.path, type: 'node_skipped', reason: action.reason }]
    case 'stand_in':
      return [
        { node: action.node.path, type: 'node_recovered', error: FAILURE, fallback: 0, output: NOTHING },
      ]
    case 'go_on':
      return [{ node: action.node.path, type: 'node_woken' }]
    case 'thaw':
      return [{ node: action.node.path, type: 'node_thawed', again: true }]
    case 'call_off':
      return [{ node: action.node.path, type: 'node_cancelled' }]
    case 'fail':
      return [{ node: action.node.path, type: 'node_failed', error: FAILURE }]
    case 'conclude':
      return [conclude(action.node, fate)]
    case 'undo':
      return undo(action.node.path, fate)
    case 'begin_undoing':
      return [{ type: 'undoing' }]
    case 'complete':
      return [{ type: 'completed', output: NOTHING }]
    case 'fail_run':
      return [{ type: 'failing', node: action.because.path, error: FAILURE }]
    case 'end':
      return [endOf(action.as, state)]
  }
}

function begin(node: string, { kind, when, ...rest }: PlanNode, fate: Fate): readonly RunEvent[] {
  if (when !== undefined && fate.draw(3) === 0) return [{ node, type: 'node_skipped', reason: 'condition' }]
  const started: RunEvent = { node, type: 'node_started', attempt: 1, input: NOTHING }
  if (kind !== 'each') return [started]
  const { most } = rest as { readonly most: number }
  return [started, { node, type: 'node_expanded', items: fate.draw(Math.min(most, 6) + 1) }]
}

function undo(node: string, fate: Fate): readonly RunEvent[] {
  const undone = fate.draw(4) > 0
  return [
    { node, type: 'node_undoing' },
    undone ? { node, type: 'node_undone' } : { node, type: 'node_not_undone', error: FAILURE },
  ]
}

function endOf(as: 'failed' | 'cancelled' | 'compensated', state: RunState): RunEvent {
  if (as === 'failed') return { type: 'failed', error: FAILURE }
  if (as === 'cancelled') return { type: 'cancelled' }
  const left = [...state.nodes].filter(({ status }) => status === 'uncompensated').map(({ path }) => path)
  return { type: 'compensated', left }
}

function conclude(node: NodeState, fate: Fate): RunEvent {
  const { path, rounds, roundsDone } = node
  if (node.node.kind !== 'loop' || roundsDone) return { node: path, type: 'node_completed', output: NOTHING }
  const done = rounds + 1 >= Math.min(node.node.most, 4) || fate.draw(2) === 0
  return { node: path, type: 'node_round', round: rounds, state: NOTHING, done }
}

function finish(node: NodeState, fate: Fate): NodeEvent {
  const { path, status, attempt } = node
  if (status === 'waiting') return node.waiting?.for === 'person' ? decide(node, fate) : woken(node)
  if (status === 'retrying') return { node: path, type: 'node_started', attempt: attempt + 1, input: NOTHING }
  if (status === 'frozen') return { node: path, type: 'node_thawed', again: true }
  if (fate.failing > 0 && fate.draw(fate.failing) === 0) return failed(node, fate)
  const way = fate.draw(8)
  if (way === 0) return { node: path, type: 'node_waiting', waiting: { for: 'time', atMs: 1 } }
  if (way === 3) return { node: path, type: 'node_waiting', waiting: asking(node, fate) }
  if (way === 1 && attempt < 3) return { node: path, type: 'node_retrying', atMs: 1, error: FAILURE }
  if (way === 2) return { node: path, type: 'node_frozen', reason: 'in_doubt' }
  const chosen = chosenOf(node, fate)
  return { node: path, type: 'node_completed', output: NOTHING, ...(chosen && { chosen }) }
}

function woken({ path }: NodeState): NodeEvent {
  return { node: path, type: 'node_woken' }
}

/** One or two requests, as of a program. */
function asking({ path, asks }: NodeState, fate: Fate): Waiting {
  const asked = Array.from({ length: 1 + fate.draw(2) }, (_, i) => ({
    request: sha256(new TextEncoder().encode(`${path}#${asks + i}`)),
    shown: NOTHING,
  }))
  return { for: 'person', asked }
}

/** A decision over the first request that has none, or the end of the wait. */
function decide(node: NodeState, fate: Fate): NodeEvent {
  const open = [...node.requests.values()].find(({ decision }) => decision === undefined)
  if (open === undefined) return woken(node)
  const common = { node: node.path, request: open.request, by: 'bob' } as const
  return { ...common, type: 'node_decided', approved: fate.draw(2) === 0 }
}

function failed({ path, node }: NodeState, fate: Fate): NodeEvent {
  const fallback = node.kind === 'program' || node.kind === 'call' ? (node.fallback ?? []) : []
  const standby = fallback.find((one) => one.node !== undefined)?.node
  if (fallback.length > 0 && standby === undefined && fate.draw(2) === 0)
    return { node: path, type: 'node_recovered', error: FAILURE, fallback: 0, output: NOTHING }
  return { node: path, type: 'node_failed', error: FAILURE, ...(standby && { standby }) }
}

function chosenOf({ node }: NodeState, fate: Fate): readonly string[] | undefined {
  if (node.kind !== 'choice') return undefined
  const ways = [...node.cases.map(({ take }) => take), node.otherwise ?? []]
  return ways[fate.draw(ways.length)]
}
