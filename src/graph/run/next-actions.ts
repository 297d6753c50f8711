/**
 * What a run does next: a pure function of its state.
 *
 * Invariants
 * 1. A node begins when all that it waits for is settled, and not in a scope in which something failed.
 * 2. What fails stops nobody at work beside it: those go on to their ends, those that only wait are called off, and
 *    then the scope has failed.
 * 3. What was done is undone in the reverse order of its completion, one after the other.
 * 4. A state in which nothing is to be done, and nothing is at work, has ended or waits for somebody.
 */

import type { NodeState, ScopeState } from './node-state.ts'
import { dueOfRequests } from './requests.ts'
import type { SkipReason } from './run-event.ts'
import type { RunState } from './run-state.ts'
import { innerScope } from './scope-plan.ts'

export type Action =
  /** Evaluate its condition and its input, and start it, or skip it. */
  | { readonly do: 'begin'; readonly path: string; readonly scope: ScopeState; readonly id: string }
  | { readonly do: 'skip'; readonly path: string; readonly reason: SkipReason }
  /** All scopes inside of it have ended: it has an output, or the next round. */
  | { readonly do: 'conclude'; readonly node: NodeState }
  /** A node inside of it failed, and nothing in it is at work any more. */
  | { readonly do: 'fail'; readonly node: NodeState; readonly because: NodeState }
  /** Its stand-in completed. */
  | { readonly do: 'stand_in'; readonly node: NodeState }
  /** Somebody decided what it waits for. */
  | { readonly do: 'go_on'; readonly node: NodeState }
  /** It stood still, and the run goes on. */
  | { readonly do: 'thaw'; readonly node: NodeState }
  /** It only waits, and need not any more. */
  | { readonly do: 'call_off'; readonly node: NodeState }
  | { readonly do: 'undo'; readonly node: NodeState }
  | { readonly do: 'begin_undoing' }
  /** The run has an end, or begins to fail. */
  | { readonly do: 'complete' }
  | { readonly do: 'fail_run'; readonly because: NodeState }
  | { readonly do: 'end'; readonly as: 'failed' | 'cancelled' | 'compensated' }

/** Actions that can be taken now, in the order of the plan. Those at work already are not among them. */
export function nextActions(state: RunState): readonly Action[] {
  switch (state.status) {
    case 'running':
      return workingActions(state)
    case 'failing':
    case 'cancelling':
      return endingActions(state, state.status)
    case 'compensating':
      return undoingActions(state)
    default:
      return []
  }
}

/** When the first timer of the run is due, milliseconds since the epoch: a wait, a retry, a term that ends. */
export function nextDueMs(state: RunState): number | undefined {
  let first: number | undefined
  for (const node of state.live.values()) {
    const due = dueMs(node)
    if (due !== undefined && (first === undefined || due < first)) first = due
  }
  return first
}

/** When the timer of a node is due. */
export function dueMs(node: NodeState): number | undefined {
  const { status, retryAtMs, waiting } = node
  if (status === 'retrying') return retryAtMs
  if (status !== 'waiting' || waiting === undefined) return undefined
  if (waiting.for === 'time') return waiting.atMs
  return waiting.for === 'event' ? waiting.expiresAtMs : dueOfRequests(node)
}

function workingActions(state: RunState): readonly Action[] {
  const actions: Action[] = []
  const { root } = state
  if (root === undefined) return actions
  for (const [path, { scope, id }] of state.ready) {
    if (isFailing(scope)) continue
    const reason = skipReason(scope, id)
    actions.push(reason === undefined ? { do: 'begin', path, scope, id } : { do: 'skip', path, reason })
  }
  for (const node of nodesOf(state.toGoOn)) if (!isFailing(node.scope)) actions.push({ do: 'go_on', node })
  for (const node of nodesOf(state.toThaw)) if (!isFailing(node.scope)) actions.push({ do: 'thaw', node })
  for (const node of nodesOf(state.toStandIn)) actions.push({ do: 'stand_in', node })
  let failing = root.failed !== undefined
  for (const node of nodesOf(state.toConclude)) {
    const because = node.innerFailed
    failing ||= because !== undefined
    if (because !== undefined && node.innerLive === 0) actions.push({ do: 'fail', node, because })
    else if (because === undefined && !isFailing(node.scope)) actions.push({ do: 'conclude', node })
  }
  if (failing)
    for (const node of state.live.values()) if (isLeftWaiting(node)) actions.push({ do: 'call_off', node })
  if (root.failed !== undefined && root.live === 0) actions.push({ do: 'fail_run', because: root.failed })
  else if (root.open === 0) actions.push({ do: 'complete' })
  return actions
}

/** Something in the scope, beside it in the same node, or around it failed for good. */
export function isFailing(scope: ScopeState): boolean {
  for (let at: ScopeState | undefined = scope; at !== undefined; at = at.owner?.scope) {
    if (at.failed !== undefined || at.owner?.innerFailed !== undefined) return true
  }
  return false
}

/** In a scope that fails: it only waits, or it holds others of which none is at work. */
function isLeftWaiting(node: NodeState): boolean {
  if (!isFailing(node.scope)) return false
  return (
    node.status !== 'running' || (holdsNodes(node) && node.innerLive === 0 && node.innerFailed === undefined)
  )
}

function holdsNodes({ node }: NodeState): boolean {
  return innerScope(node) !== undefined
}

/** Why a node that may begin does not: undefined where it does. */
function skipReason({ plan, nodes }: ScopeState, id: string): SkipReason | undefined {
  const original = plan.standsInFor.size > 0 ? nodes.get(plan.standsInFor.get(id) ?? '') : undefined
  if (original !== undefined && !(original.status === 'failed' && original.standby === id))
    return 'not_needed'
  const choice = plan.chosenBy.size > 0 ? nodes.get(plan.chosenBy.get(id) ?? '') : undefined
  if (choice !== undefined) {
    if (choice.status === 'skipped') return 'skipped_before'
    if (choice.chosen?.includes(id) !== true) return 'not_chosen'
  }
  let before = 0
  let skipped = 0
  for (const other of plan.before.get(id) ?? NONE) {
    if (other === original?.id || other === choice?.id) continue
    before += 1
    if (nodes.get(other)?.status === 'skipped') skipped += 1
  }
  if (skipped === 0) return undefined
  const isMet = plan.node(id).join === 'any' && skipped < before
  return isMet ? undefined : 'skipped_before'
}

const NONE: readonly never[] = []

/** An iterator takes longer than all that there mostly is. */
function nodesOf(list: ReadonlyMap<string, NodeState>): Iterable<NodeState> {
  return list.size === 0 ? NONE : list.values()
}

function endingActions(state: RunState, status: 'failing' | 'cancelling'): readonly Action[] {
  const actions: Action[] = []
  for (const node of state.live.values()) {
    // A node that holds others is at work as long as they are.
    const waits = holdsNodes(node) ? node.innerLive === 0 : node.status !== 'running'
    if (waits) actions.push({ do: 'call_off', node })
  }
  if (state.live.size > 0) return actions
  if (state.undoable.length > 0) return [{ do: 'begin_undoing' }]
  return [{ do: 'end', as: status === 'failing' ? 'failed' : 'cancelled' }]
}

function undoingActions(state: RunState): readonly Action[] {
  if (state.undoing !== undefined) {
    const isDecided = state.toGoOn.has(state.undoing.path)
    return isDecided ? [{ do: 'go_on', node: state.undoing }] : []
  }
  const node = state.undoable.at(-1)
  return node === undefined ? [{ do: 'end', as: 'compensated' }] : [{ do: 'undo', node }]
}
