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

const known = new WeakMap<Plan, Map<string, readonly Rights[]>>()

/** Where a node stands in its plan: its path without the numbers of items and rounds. */
export function placeOf(path: string): string {
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
  const places = known.get(plan) ?? new Map<string, readonly Rights[]>()
  known.set(plan, places)
  const found = places.get(place)
  if (found !== undefined) return found
  const rights = findRights(plan, place)
  places.set(place, rights)
  return rights
}

function findRights(plan: Plan, place: string): readonly Rights[] {
  const rights = [rightsOf('', plan.grants)]
  const undoes = place.endsWith(UNDO)
  const ids = (undoes ? place.slice(0, -UNDO.length) : place).split('/')
  let scope: Scope | undefined = plan
  for (const [i, id] of ids.entries()) {
    const node: PlanNode | undefined =
      scope !== undefined && Object.hasOwn(scope.nodes, id) ? scope.nodes[id] : undefined
    if (node === undefined) break
    const here = ids.slice(0, i + 1).join('/')
    if (i === ids.length - 1) {
      const own = undoes ? undoingGrants(node) : isGuest(node) ? grantsOf(node) : undefined
      if (own !== undefined) rights.unshift(rightsOf(place, own))
    } else if (node.kind === 'plan') {
      rights.unshift(rightsOf(here, node.plan.grants))
      scope = node.plan
    } else scope = node.kind === 'each' || node.kind === 'loop' ? node.do : undefined
  }
  return rights
}

/** A call that undoes a node has the rights of its plan. */
function undoingGrants(node: PlanNode): readonly PlanGrant[] | undefined {
  if (!isEffect(node)) return undefined
  return node.compensate?.kind === 'program' ? (node.compensate.grants ?? []) : undefined
}

function rightsOf(place: string, grants: readonly PlanGrant[] = []): Rights {
  return { place, rules: new Map(grants.map(ruleOf).map((rule) => [rule.capability, rule])) }
}
