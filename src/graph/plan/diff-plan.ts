/**
 * What a new version of a plan changes, for the person who is to approve it: authority and budget first, since they
 * decide whether an approval of the old one can stand.
 *
 * Invariants
 * 1. Plans with different digests differ in at least one change.
 * 2. A change is `narrowed` or `same` only where the new plan can do nothing that the old one could not.
 */
import { DEFAULT_LOOP_GUARD, LOOP_THRESHOLDS } from '../../capability/loop-guard.ts'
import { digestValue } from '../../values/digest-value.ts'
import { isWithin, ruleOf } from './authority.ts'
import { amountOf, BUDGET_PARTS } from './budget-share.ts'
import { grantsOf } from './node-kinds.ts'
import { PLAN_LIMITS } from './plain-tree.ts'
import type { Budget, Plan, PlanGrant, PlanGrantRule, PlanNode, Scope } from './plan.ts'
import { pointerTo, shownPointer } from './plan-problem.ts'
import { edgesOf } from './scope-edges.ts'
import { isObject } from './shape.ts'

export interface PlanChange {
  /** What of a plan, in the order in which changes are told. */
  readonly of: 'authority' | 'budget' | 'node' | 'edge' | 'text'
  /** Whether the new plan may do more, less, or other things; `same` for words alone. */
  readonly effect: 'widened' | 'narrowed' | 'changed' | 'same'
  /** JSON Pointer into the new plan, or into the old one for what is gone. */
  readonly at: string
  /** One sentence without a full stop. Quotes the plans: escape it where it is shown. */
  readonly words: string
}

/** The changes from one checked plan to another. */
export function diffPlans(before: Plan, after: Plan): readonly PlanChange[] {
  const changes: PlanChange[] = []
  diffPlanAt(before, after, '', 'the plan', changes)
  const rank = { authority: 0, budget: 1, node: 2, edge: 3, text: 4 } as const
  return changes.sort((a, b) => rank[a.of] - rank[b.of])
}

/** Whether somebody who approved the old plan has not approved all that the new one may do. */
export function needsApproval(changes: readonly PlanChange[]): boolean {
  return changes.some(({ effect }) => effect === 'widened' || effect === 'changed')
}

function diffPlanAt(before: Plan, after: Plan, at: string, who: string, changes: PlanChange[]): void {
  const known = changes.length
  for (const key of ['name', 'version', 'description'] as const) {
    if (before[key] === after[key]) continue
    const words = `the ${key} of ${who} is ${shown(after[key])}, and was ${shown(before[key])}`
    changes.push({ of: 'text', effect: 'same', at: `${at}/${key}`, words })
  }
  diffGrants(before.grants ?? [], after.grants ?? [], `${at}/grants`, who, changes)
  diffBudget(before.budget, after.budget, `${at}/budget`, who, changes)
  diffGuard(before.guard, after.guard, `${at}/guard`, who, changes)
  diffScope(before, after, at, who, changes)
  if (changes.length === known && !same(before, after)) changes.push(writtenOtherwise(at, who))
}

function diffScope(before: Scope, after: Scope, at: string, who: string, changes: PlanChange[]): void {
  const edgesBefore = edgesOf(before).before
  const edgesAfter = edgesOf(after).before
  for (const [id, { kind }] of Object.entries(before.nodes)) {
    if (Object.hasOwn(after.nodes, id)) continue
    // What it did is not done any more, what it kept back (a question, a condition) is not kept back any more.
    const place = pointerTo(`${at}/nodes`, id)
    changes.push({ of: 'node', effect: 'changed', at: place, words: `node "${id}" (${kind}) is gone` })
  }
  for (const [id, node] of Object.entries(after.nodes)) {
    const place = pointerTo(`${at}/nodes`, id)
    const old = Object.hasOwn(before.nodes, id) ? before.nodes[id] : undefined
    if (old === undefined) {
      const words = `node "${id}" (${node.kind}) is new`
      changes.push({ of: 'node', effect: 'widened', at: place, words })
      continue
    }
    const known = changes.length
    diffNode(old, node, place, `node "${id}"`, changes)
    diffEdges(edgesBefore.get(id), edgesAfter.get(id), place, id, changes)
    if (changes.length === known && !same(old, node)) changes.push(writtenOtherwise(place, `node "${id}"`))
  }
  diffValue(before.output, after.output, `${at}/output`, at, who, changes)
}

/** A list in another order, a right with and without its braces: nothing that would change what happens. */
function writtenOtherwise(at: string, who: string): PlanChange {
  return { of: 'text', effect: 'same', at, words: `${who} is written in another way, and means the same` }
}

/** Members that have a comparison of their own. */
const APART: ReadonlySet<string> = new Set(['kind', 'title', 'grants', 'budget', 'after', 'do', 'plan'])

function diffNode(before: PlanNode, after: PlanNode, at: string, who: string, changes: PlanChange[]): void {
  if (before.kind !== after.kind) {
    const words = `${who} is of the kind ${after.kind}, and was of the kind ${before.kind}`
    changes.push({ of: 'node', effect: 'changed', at: `${at}/kind`, words })
    return
  }
  if (before.title !== after.title) {
    const words = `the title of ${who} is ${shown(after.title)}, and was ${shown(before.title)}`
    changes.push({ of: 'text', effect: 'same', at: `${at}/title`, words })
  }
  const [old, now] = [membersOf(before), membersOf(after)]
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    if (!APART.has(key)) diffValue(old[key], now[key], pointerTo(at, key), at, who, changes)
  }
  diffGrants(grantsOf(before), grantsOf(after), `${at}/grants`, who, changes)
  diffBudget(before.budget, after.budget, `${at}/budget`, who, changes)
  if ((before.kind === 'each' || before.kind === 'loop') && 'do' in after)
    diffScope(before.do, after.do, `${at}/do`, who, changes)
  if (before.kind === 'plan' && after.kind === 'plan')
    diffPlanAt(before.plan, after.plan, `${at}/plan`, `the plan of ${who}`, changes)
}

/** Tells where in a value it differs. @param from pointer of what it is a value of */
function diffValue(
  before: unknown,
  after: unknown,
  at: string,
  from: string,
  who: string,
  changes: PlanChange[],
): void {
  if (before === after) return
  const inner = Array.isArray(before) && Array.isArray(after) ? 'list' : isObject(before) && isObject(after)
  if (inner !== false) {
    const [old, now] = [before as Members, after as Members]
    for (const key of new Set([...Object.keys(old), ...Object.keys(now)]))
      diffValue(memberOf(old, key), memberOf(now, key), pointerTo(at, key), from, who, changes)
    return
  }
  const what = shownPointer(at.slice(from.length))
  changes.push({ of: 'node', effect: 'changed', at, words: valueWords(what, who, before, after) })
}

function valueWords(what: string, who: string, before: unknown, after: unknown): string {
  if (after === undefined) return `${who} has no ${what} any more, which was ${shown(before)}`
  if (before === undefined) return `${who} has ${what}: ${shown(after)}`
  if (typeof before === 'string' && typeof after === 'string' && isLong(before + after))
    return `${what} of ${who} is another text: ${difference(before, after)}`
  return `${what} of ${who} is ${shown(after)}, and was ${shown(before)}`
}

function isLong(text: string): boolean {
  return text.length > 100 || text.includes('\n')
}

/** How two different texts differ: the first line that does, and how many lines there are. */
function difference(before: string, after: string): string {
  const [old, now] = [before.split('\n'), after.split('\n')]
  let line = 0
  while (old[line] === now[line]) line += 1
  const lines = `${old.length} ${old.length === 1 ? 'line' : 'lines'} before, ${now.length} now`
  const first = `from line ${line + 1} on, ${shown(now[line])} for ${shown(old[line])}`
  return `${first} (${lines})`
}

function diffEdges(
  before: ReadonlySet<string> = new Set(),
  after: ReadonlySet<string> = new Set(),
  at: string,
  id: string,
  changes: PlanChange[],
): void {
  const more = [...after].filter((other) => !before.has(other)).join(', ')
  const less = [...before].filter((other) => !after.has(other)).join(', ')
  const add = (words: string): void => {
    changes.push({ of: 'edge', effect: 'changed', at, words })
  }
  if (more !== '') add(`node "${id}" waits for ${more} now`)
  if (less !== '') add(`node "${id}" waits no more for ${less}`)
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
  const add = (effect: PlanChange['effect'], place: string, words: string): void => {
    changes.push({ of: 'authority', effect, at: place, words: `${who} may call ${words}` })
  }
  for (const name of old.keys()) if (!now.has(name)) add('narrowed', at, `${name} no more`)
  let i = 0
  for (const [name, rule] of now) {
    const place = `${at}/${i++}`
    const was = old.get(name)
    if (was === undefined)
      add('widened', place, Object.keys(rule).length > 1 ? name + conditions(rule) : name)
    else if (!same(was, rule)) {
      const effect = isWithin(rule, was) ? 'narrowed' : isWithin(was, rule) ? 'widened' : 'changed'
      const [then, next] = [conditionsOf(was, rule), conditionsOf(rule, was)]
      add(effect, place, `${name}${conditions(next)}, and before${conditions(then)}`)
    }
  }
}

/** The conditions of a rule that another has otherwise. */
function conditionsOf(rule: PlanGrantRule, other: PlanGrantRule): Members {
  const [own, others] = [rule as unknown as Members, other as unknown as Members]
  return Object.fromEntries(Object.entries(own).filter(([key, value]) => !same(value, others[key])))
}

function conditions(rule: object): string {
  const { capability: _, ...rest } = rule as Members
  return Object.keys(rest).length === 0 ? ' without such a condition' : ` under ${shown(rest, 400)}`
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
    const effect = least(now) > least(old) ? 'widened' : 'narrowed'
    const words = `the ${name} of ${who} is ${now ?? AROUND}, and was ${old ?? AROUND}`
    changes.push({ of: 'budget', effect, at: place, words })
  }
  for (const part of BUDGET_PARTS)
    compare(`budget for ${part}`, `${at}/${part}`, before?.[part], after?.[part])
  const [old, now] = [before?.units, after?.units]
  for (const unit of new Set([...Object.keys(old ?? {}), ...Object.keys(now ?? {})])) {
    const place = pointerTo(`${at}/units`, unit)
    compare(`budget for "${unit}"`, place, amountOf(old, unit), amountOf(now, unit))
  }
}

function diffGuard(
  before: Plan['guard'],
  after: Plan['guard'],
  at: string,
  who: string,
  changes: PlanChange[],
): void {
  const [old, now] = [
    { ...DEFAULT_LOOP_GUARD, ...before },
    { ...DEFAULT_LOOP_GUARD, ...after },
  ]
  for (const part of LOOP_THRESHOLDS) {
    if (old[part] === now[part]) continue
    const effect = now[part] > old[part] ? 'widened' : 'narrowed'
    const words = `${who} is stopped when it repeats itself at ${now[part]} (${part}), and was at ${old[part]}`
    changes.push({ of: 'budget', effect, at: `${at}/${part}`, words })
  }
}

const AROUND = 'that of what is around it'

type Members = Readonly<Record<string, unknown>>

function membersOf(node: PlanNode): Members {
  return node as unknown as Members
}

function memberOf(members: Members, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined
}

function same(a: unknown, b: unknown): boolean {
  return (
    a === b ||
    (a !== undefined && b !== undefined && digestValue(a, PLAN_LIMITS) === digestValue(b, PLAN_LIMITS))
  )
}

function shown(value: unknown, most = 120): string {
  if (value === undefined) return 'none'
  const text = JSON.stringify(value)
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`
}
