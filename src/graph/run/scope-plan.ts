/**
 * A scope as the scheduler reads it: what each node waits for, and who waits for it. Made once for each scope of a
 * plan, however often it is instantiated.
 */
import type { PlanNode, Scope } from '../plan/plan.ts'
import { runOrder } from '../plan/run-order.ts'
import { edgesOf, type ScopeEdges } from '../plan/scope-edges.ts'

export interface ScopePlan extends ScopeEdges {
  readonly scope: Scope
  /** Nodes that wait for a node, by its id, in the order of the plan. */
  readonly after: ReadonlyMap<string, readonly string[]>
  /** Its nodes, each after those that it waits for: for people. */
  readonly order: readonly string[]
  node(id: string): PlanNode
}

const made = new WeakMap<Scope, ScopePlan>()

/** @param scope of a checked plan */
export function scopePlan(scope: Scope): ScopePlan {
  const known = made.get(scope)
  if (known !== undefined) return known
  const edges = edgesOf(scope)
  const after = new Map<string, string[]>()
  for (const [id, before] of edges.before) {
    for (const other of before) {
      const waiting = after.get(other)
      if (waiting === undefined) after.set(other, [id])
      else waiting.push(id)
    }
  }
  const plan: ScopePlan = {
    ...edges,
    scope,
    after,
    order: runOrder(edges.before),
    node: (id) => scope.nodes[id] as PlanNode,
  }
  made.set(scope, plan)
  return plan
}

/** The scope inside of a node; undefined for nodes without one. */
export function innerScope(node: PlanNode): Scope | undefined {
  switch (node.kind) {
    case 'each':
    case 'loop':
      return node.do
    case 'plan':
      return node.plan
    default:
      return undefined
  }
}
