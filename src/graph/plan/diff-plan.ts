/**
 * What a new version of a plan changes, for the person who is to approve it: authority and budget first, since they
 * decide whether an approval of the old one can stand.
 *
 * Invariants
 * 1. Plans with different digests differ in at least one change.
 * 2. Work is bounded by the size of both plans: texts are compared whole, and told by their lengths and lines.
 */
import { digestValue } from '../../values/digest-value.ts'
import { ruleOf } from './authority.ts'
import { BUDGET_PARTS } from './budget-share.ts'
import { PLAN_LIMITS } from './plain-tree.ts'
import type { Budget, Plan, PlanGrant, PlanNode, Scope } from './plan.ts'
import { pointerTo } from './plan-problem.ts'
import { edgesOf } from './scope-edges.ts'

export interface PlanChange {
  /** What of a plan: `authority` and `budget` need a new approval, as do nodes that do other things. */
  readonly of: 'authority' | 'budget' | 'node' | 'edge' | 'text'
  /** Whether the new plan may do more, or other things: `narrowed` where it may do less, `same` for words alone. */
  readonly effect: 'widened' | 'narrowed' | 'changed' | 'same'
  /** JSON Pointer into the new plan, or into the old one for what is gone. */
  readonly at: string
  /** One sentence without a full stop. */
  readonly words: string
}

/** The changes from one checked plan to another. */
export function diffPlans(before: Plan, after: Plan): readonly PlanChange[] {
  const changes: PlanChange[] = []
  diffPlanAt(before, after, '', changes)
  const rank = { authority: 0, budget: 1, node: 2, edge: 3, text: 4 } as const
  return changes.sort((a, b) => rank[a.of] - rank[b.of])
}

function diffPlanAt(before: Plan, after: Plan, at: string, changes: PlanChange[]): void {
  const words = ['name', 'version', 'description'] as const
  for (const key of words) {
    if (before[key] !== after[key]) {
      changes.push({
        of: 'text',
        effect: 'same',
        at: `${at}/${key}`,
        words: `${key} is ${quoted(after[key])}, and was ${quoted(before[key])}`,
      })
    }
  }
  diffGrants(before.grants ?? [], after.grants ?? [], `${at}/grants`, 'the plan', changes)
  diffBudget(before.budget, after.budget, `${at}/budget`, 'the plan', changes)
  diffScope(before, after, at, changes)
}

function diffScope(before: Scope, after: Scope, at: string, changes: PlanChange[]): void {
  const edgesBefore = edgesOf(before).before
  const edgesAfter = edgesOf(after).before
  for (const [id, node] of Object.entries(before.nodes)) {
    const place = pointerTo(`${at}/nodes`, id)
    if (Object.hasOwn(after.nodes, id)) continue
    changes.push({ of: 'node', effect: 'narrowed', at: place, words: `node "${id}" (${node.kind}) is gone` })
  }
  for (const [id, node] of Object.entries(after.nodes)) {
    const place = pointerTo(`${at}/nodes`, id)
    const old = Object.hasOwn(before.nodes, id) ? before.nodes[id] : undefined
    if (old === undefined) {
      changes.push({ of: 'node', effect: 'widened', at: place, words: `node "${id}" (${node.kind}) is new` })
      continue
    }
    diffNode(old, node, place, id, changes)
    diffEdges(edgesBefore.get(id), edgesAfter.get(id), place, id, changes)
  }
  if (!same(before.output, after.output)) {
    changes.push({ of: 'node', effect: 'changed', at: `${at}/output`, words: 'what comes out is another' })
  }
}

/** Members that have a comparison of their own. */
const APART: ReadonlySet<string> = new Set(['grants', 'budget', 'after', 'do', 'plan', 'title'])

function diffNode(before: PlanNode, after: PlanNode, at: string, id: string, changes: PlanChange[]): void {
  const node = `node "${id}"`
  if (before.kind !== after.kind) {
    changes.push({
      of: 'node',
      effect: 'changed',
      at: `${at}/kind`,
      words: `${node} is a ${after.kind}, and was a ${before.kind}`,
    })
    return
  }
  if (before.title !== after.title) {
    changes.push({ of: 'text', effect: 'same', at: `${at}/title`, words: `the title of ${node} is another` })
  }
  const [old, now] = [membersOf(before), membersOf(after)]
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (APART.has(key) || same(old[key], now[key])) continue
    changes.push({
      of: 'node',
      effect: 'changed',
      at: pointerTo(at, key),
      words: memberWords(node, key, old[key], now[key]),
    })
  }
  diffGrants(grantsOf(before), grantsOf(after), `${at}/grants`, node, changes)
  diffBudget(before.budget, after.budget, `${at}/budget`, node, changes)
  if ((before.kind === 'each' || before.kind === 'loop') && 'do' in after)
    diffScope(before.do, after.do, `${at}/do`, changes)
  if (before.kind === 'plan' && after.kind === 'plan')
    diffPlanAt(before.plan, after.plan, `${at}/plan`, changes)
}

function memberWords(node: string, key: string, before: unknown, after: unknown): string {
  if (after === undefined) return `${node} has no ${key} any more`
  if (before === undefined) return `${node} has ${key}: ${shown(after)}`
  if (key === 'source')
    return `the program of ${node} is another (${lines(before)} lines before, ${lines(after)} now)`
  return `${key} of ${node} is ${shown(after)}, and was ${shown(before)}`
}

function diffEdges(
  before: ReadonlySet<string> = new Set(),
  after: ReadonlySet<string> = new Set(),
  at: string,
  id: string,
  changes: PlanChange[],
): void {
  const more = [...after].filter((other) => !before.has(other))
  const less = [...before].filter((other) => !after.has(other))
  if (more.length > 0)
    changes.push({
      of: 'edge',
      effect: 'changed',
      at,
      words: `node "${id}" waits for ${more.join(', ')} now`,
    })
  if (less.length > 0)
    changes.push({
      of: 'edge',
      effect: 'changed',
      at,
      words: `node "${id}" waits no more for ${less.join(', ')}`,
    })
}

function diffGrants(
  before: readonly PlanGrant[],
  after: readonly PlanGrant[],
  at: string,
  who: string,
  changes: PlanChange[],
): void {
  const old = new Map(before.map((grant) => [ruleOf(grant).capability, ruleOf(grant)]))
  const now = new Map(after.map((grant) => [ruleOf(grant).capability, ruleOf(grant)]))
  for (const name of old.keys()) {
    if (!now.has(name))
      changes.push({ of: 'authority', effect: 'narrowed', at, words: `${who} may call ${name} no more` })
  }
  let i = 0
  for (const [name, rule] of now) {
    const place = `${at}/${i++}`
    const was = old.get(name)
    if (was === undefined)
      changes.push({
        of: 'authority',
        effect: 'widened',
        at: place,
        words: `${who} may call ${name}${conditions(rule)}`,
      })
    else if (!same(was, rule)) {
      changes.push({
        of: 'authority',
        effect: 'changed',
        at: place,
        words: `${who} may call ${name}${conditions(rule)}, and before${conditions(was) || ' without conditions'}`,
      })
    }
  }
}

function conditions(rule: object): string {
  const { capability: _, ...rest } = rule as Readonly<Record<string, unknown>>
  return Object.keys(rest).length === 0 ? '' : ` under ${shown(rest)}`
}

function diffBudget(
  before: Budget | undefined,
  after: Budget | undefined,
  at: string,
  who: string,
  changes: PlanChange[],
): void {
  const compare = (name: string, place: string, old: number | undefined, now: number | undefined): void => {
    if (old === now) return
    const least = (value: number | undefined): number => value ?? Number.POSITIVE_INFINITY
    changes.push({
      of: 'budget',
      effect: least(now) > least(old) ? 'widened' : 'narrowed',
      at: place,
      words: `the ${name} of ${who} is ${now ?? 'that of what is around it'}, and was ${old ?? 'that of what is around it'}`,
    })
  }
  for (const part of BUDGET_PARTS) compare(part, `${at}/${part}`, before?.[part], after?.[part])
  const units = new Set([...Object.keys(before?.units ?? {}), ...Object.keys(after?.units ?? {})])
  for (const unit of units)
    compare(
      `budget for "${unit}"`,
      pointerTo(`${at}/units`, unit),
      before?.units?.[unit],
      after?.units?.[unit],
    )
}

function grantsOf(node: PlanNode): readonly PlanGrant[] {
  return node.kind === 'program' ? (node.grants ?? []) : []
}

function membersOf(node: PlanNode): Readonly<Record<string, unknown>> {
  return node as unknown as Readonly<Record<string, unknown>>
}

function same(a: unknown, b: unknown): boolean {
  return a === b || digestValue(a, PLAN_LIMITS) === digestValue(b, PLAN_LIMITS)
}

function quoted(text: string | undefined): string {
  return text === undefined ? 'none' : JSON.stringify(text.slice(0, 200))
}

function shown(value: unknown): string {
  const text = JSON.stringify(value)
  return text.length <= 120 ? text : `${text.slice(0, 117)}...`
}

function lines(source: unknown): number {
  return String(source).split('\n').length
}
