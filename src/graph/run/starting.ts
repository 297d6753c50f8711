/**
 * Whether an attempt of a node may begin: a budget around it may be used up, or the same may have been done again and
 * again. Then the run stands still before it, and somebody decides.
 */
import { isGuest } from '../plan/node-kinds.ts'
import type { PlanNode } from '../plan/plan.ts'
import { leftFor, leftIn, NOTHING_RESERVED, usedUp } from './budgets.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import { noneLeft } from './none-left.ts'
import type { ValueRef } from './run-event.ts'
import type { RunState, Standstill } from './run-state.ts'

/** Parts without which a node of its kind does nothing. What it may need beside them is asked when it needs it. */
const OF_CALLS = ['steps', 'calls'] as const
const OF_GUESTS = ['steps', 'fuel', 'activeMs', 'bytes'] as const
const STEP = ['steps'] as const

/** @param known the node, where it is tried again */
export function whyNotStart(
  state: RunState,
  {
    path,
    scope,
    node,
    input,
    known,
  }: {
    readonly path: string
    readonly scope: ScopeState
    readonly node: PlanNode
    readonly input: ValueRef
    readonly known?: NodeState
  },
): Standstill | undefined {
  const left =
    known === undefined ? leftIn(state, scope, NOTHING_RESERVED) : leftFor(state, known, NOTHING_RESERVED)
  const part = usedUp(left, node.kind === 'call' ? OF_CALLS : isGuest(node) ? OF_GUESTS : STEP)
  if (part !== undefined) return noneLeft(part, `for "${path}"`)
  const found = state.loops.check(path, node, input)
  if (found !== undefined)
    return { reason: 'loop_guard', message: `${found.message} It stands still before "${path}".` }
  return undefined
}
