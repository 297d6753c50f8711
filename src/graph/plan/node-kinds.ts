/**
 * The registry of kinds of nodes that do something in the world: what the core has to know of each, so that another one is
 * a file like `wasm-kinds.ts`, a line here and a line where guests are run (`runtime/plans/wasm-work.ts`).
 *
 * The core asks `isEffect` for what all of them share (attempts, retries, fallbacks, compensation, budgets) and `isGuest`
 * for what is done by a guest in a world of its own, whatever it was written in. Of the
 * registered kinds it never asks by name.
 *
 * Invariants
 * 1. What a node does is said by `identityOf` and by its input, and by nothing else: two nodes that are equal in both do
 *    the same.
 * 2. `inputOf` names all templates of the kind: what it gives is on record before the node is at work.
 */
import type { GuestKind } from './guest-kind.ts'
import type { CallNode, PlanGrant, PlanNode, ProgramNode } from './plan.ts'
import { COMPONENT_KIND, MODULE_KIND } from './wasm-kinds.ts'

type Registered = 'module' | 'component'

const REGISTERED: { readonly [K in Registered]: GuestKind<Extract<PlanNode, { readonly kind: K }>> } = {
  module: MODULE_KIND,
  component: COMPONENT_KIND,
}

/** Nodes of registered kinds. */
export type RegisteredNode = Extract<PlanNode, { readonly kind: Registered }>

/** A node that is done by a guest. */
export type GuestNode = ProgramNode | RegisteredNode

export type EffectNode = GuestNode | CallNode

export const REGISTERED_KINDS: readonly Registered[] = Object.keys(REGISTERED) as Registered[]

export function kindOf<N extends RegisteredNode>({ kind }: Pick<N, 'kind'>): GuestKind<N> {
  return REGISTERED[kind] as unknown as GuestKind<N>
}

export function isRegistered(node: PlanNode): node is RegisteredNode {
  return Object.hasOwn(REGISTERED, node.kind)
}

export function isGuest(node: PlanNode): node is GuestNode {
  return node.kind === 'program' || isRegistered(node)
}

export function isEffect(node: PlanNode): node is EffectNode {
  return node.kind === 'call' || isGuest(node)
}

/** What a guest is granted itself. */
export function grantsOf(
  node: Pick<PlanNode, 'kind'> & { readonly grants?: readonly PlanGrant[] },
): readonly PlanGrant[] {
  return node.kind === 'program' || Object.hasOwn(REGISTERED, node.kind) ? (node.grants ?? []) : []
}
