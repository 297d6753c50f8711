/**
 * The rights under which a node of a plan acts: its own, and those of every plan around it.
 *
 * Rights are told by the places at which a plan grants them, and a place is the same however often its node is at work:
 * for all items of an `each`, all rounds of a `loop` and all attempts. What is counted there is counted over all of them.
 */
import { ruleOf } from './authority.ts'
import { grantsOf, isEffect, isGuest } from './node-kinds.ts'
import type { Plan, PlanGrant, PlanGrantRule, PlanNode, Scope } from './plan.ts'

/** What is granted at one place. */
export interface Rights {
  /** Ids of nodes from the plan on, with slashes between; empty for the plan. With `#undo` for what undoes a node. */
  readonly place: string
  readonly rules: ReadonlyMap<string, PlanGrantRule>
}

/** At the end of the path of what undoes a node. */
export const UNDO = '#undo'

/** The nodes of one scope have the same rights around them. */
interface Around {
  /** Undefined where the plan has none. */
  readonly scope: Scope | undefined
  readonly rights: readonly Rights[]
}

/** What was found in one plan: most nodes of a scope share what is around them. */
interface Known {
  readonly root: Around
  /** By the places of the nodes that hold scopes. */
  readonly inside: Map<string, Around>
  readonly at: Map<string, readonly Rights[]>
}

const known = new WeakMap<Plan, Known>()

/** Where a node stands in its plan: its path without the numbers of items and rounds. */
export function placeOf(path: string): string {
  if (!isRepeated(path)) return path
  return path
    .split('/')
    .filter((part) => !/^[0-9]/.test(part))
    .join('/')
}

/** Whether a node can begin more than once, beside being tried again: it stands in an `each` or a `loop`. */
export function isRepeated(path: string): boolean {
  return /\/[0-9]/.test(path)
}

/**
 * From the innermost on: all of them have to allow a call.
 * @param plan checked
 * @param path of a node, with `#undo` at its end for what undoes it
 */
export function rightsAt(plan: Plan, path: string): readonly Rights[] {
  const place = placeOf(path)
  let places = known.get(plan)
  if (places === undefined) {
    const root = { scope: plan, rights: [rightsOf('', plan.grants)] }
    places = { root, inside: new Map(), at: new Map([['', root.rights]]) }
    known.set(plan, places)
  }
  const found = places.at.get(place)
  if (found !== undefined) return found
  const rights = findRights(places, place)
  places.at.set(place, rights)
  return rights
}

function findRights(places: Known, place: string): readonly Rights[] {
  const undoes = place.endsWith(UNDO)
  const { holder, id } = lastOf(undoes ? place.slice(0, -UNDO.length) : place)
  const { scope, rights } = around(places, holder)
  const node = nodeIn(scope, id)
  if (node === undefined) return rights
  const own = undoes ? undoingGrants(node) : isGuest(node) ? grantsOf(node) : undefined
  return own === undefined ? rights : [rightsOf(place, own), ...rights]
}

/** @param holder place of the node whose inside it is; undefined for the plan */
function around(places: Known, holder: string | undefined): Around {
  if (holder === undefined) return places.root
  const found = places.inside.get(holder)
  if (found !== undefined) return found
  const { holder: outer, id } = lastOf(holder)
  const made = inside(nodeIn(around(places, outer).scope, id), holder, around(places, outer).rights)
  places.inside.set(holder, made)
  return made
}

function inside(node: PlanNode | undefined, holder: string, rights: readonly Rights[]): Around {
  if (node?.kind === 'plan')
    return { scope: node.plan, rights: [rightsOf(holder, node.plan.grants), ...rights] }
  return { scope: node?.kind === 'each' || node?.kind === 'loop' ? node.do : undefined, rights }
}

function lastOf(place: string): { readonly holder: string | undefined; readonly id: string } {
  const end = place.lastIndexOf('/')
  return end < 0
    ? { holder: undefined, id: place }
    : { holder: place.slice(0, end), id: place.slice(end + 1) }
}

function nodeIn(scope: Scope | undefined, id: string): PlanNode | undefined {
  return scope !== undefined && Object.hasOwn(scope.nodes, id) ? scope.nodes[id] : undefined
}

/** A call that undoes a node has the rights of its plan. */
function undoingGrants(node: PlanNode): readonly PlanGrant[] | undefined {
  if (!isEffect(node)) return undefined
  return node.compensate?.kind === 'program' ? (node.compensate.grants ?? []) : undefined
}

function rightsOf(place: string, grants: readonly PlanGrant[] = []): Rights {
  return { place, rules: new Map(grants.map(ruleOf).map((rule) => [rule.capability, rule])) }
}
