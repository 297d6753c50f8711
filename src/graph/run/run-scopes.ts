/**
 * The scopes of a run that are open: which of their nodes may begin, and what ends with them.
 *
 * Invariants
 * 1. A node may begin once everything before it is settled; one that stands in for another only when that has failed.
 * 2. Of an `each` no more scopes are open than may be at work at once, and of a `loop` one.
 * 3. What a node that is settled sets free is found from it alone, however large the plan is.
 */
import type { Plan, PlanNode } from '../plan/plan.ts'
import { type NodeState, newNode, type ScopeState } from './node-state.ts'
import { innerScope, type ScopePlan, scopePlan } from './scope-plan.ts'
import { isLive } from './transitions.ts'

/** Scopes of an `each` that are open at once. */
const DEFAULT_CONCURRENCY = 4

/** Where a node begins. */
export interface NodePlace {
  readonly scope: ScopeState
  readonly id: string
}

export class RunScopes {
  /** Nodes that may begin: everything before them is settled. */
  readonly ready: Map<string, NodePlace> = new Map()
  /** Nodes whose inner scope needs a decision: it has ended, or a node in it failed. */
  readonly toConclude: Map<string, NodeState> = new Map()
  /** Nodes that failed, and whose stand-in completed. */
  readonly toStandIn: Map<string, NodeState> = new Map()
  /** Nodes that are at work, wait, or are frozen. */
  readonly live: Map<string, NodeState> = new Map()

  openRoot(plan: Plan): ScopeState {
    return this.#open('', 0, undefined, scopePlan(plan))
  }

  begin(path: string, { scope, id }: NodePlace): NodeState {
    const state = newNode(path, id, scope)
    this.ready.delete(path)
    scope.nodes.set(id, state)
    return state
  }

  /** A node is at work, waits, or is frozen from now on. */
  enter(state: NodeState): void {
    state.scope.live += 1
    if (state.scope.owner !== undefined) state.scope.owner.innerLive += 1
    this.live.set(state.path, state)
  }

  leave(state: NodeState): void {
    state.scope.live -= 1
    if (state.scope.owner !== undefined) state.scope.owner.innerLive -= 1
    this.live.delete(state.path)
    this.toConclude.delete(state.path)
  }

  /** A node has ended: what waited for it may begin, and its scope may have ended. */
  settle(state: NodeState): void {
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

  /** Of a node that begins: what is inside of it, but for an `each`, whose items are not known yet. */
  openFirst(state: NodeState): void {
    if (state.node.kind !== 'each') this.#openInner(state, 0)
  }

  /** An `each` knows how many items it has. */
  expand(state: NodeState, items: number): void {
    state.items = items
    if (items === 0) this.toConclude.set(state.path, state)
    else for (let i = 0; i < concurrencyOf(state.node); i++) this.#openNext(state)
  }

  #openNext(state: NodeState): void {
    const next = state.inner.size
    if (next < (state.items ?? 0)) this.#openInner(state, next)
  }

  /** A round of a `loop` is over, and the next one begins, if there is one. */
  endRound(state: NodeState): void {
    this.toConclude.delete(state.path)
    if (state.roundsDone) this.toConclude.set(state.path, state)
    else this.#openInner(state, state.rounds)
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

function concurrencyOf(node: PlanNode): number {
  return node.kind === 'each' ? (node.concurrency ?? DEFAULT_CONCURRENCY) : 1
}
