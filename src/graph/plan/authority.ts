/**
 * Rights in plans, as data: whether one is part of another, and the rule that the gate is given.
 *
 * Invariant: what a node is granted is never more than what its plan is, whichever of the two says less.
 */
import { nameProblem } from '../../capability/capability-name.ts'
import { nearNames } from '../../capability/near-names.ts'
import { amountOf } from './budget-share.ts'
import type { ArgumentRule, PlanGrant, PlanGrantRule } from './plan.ts'

/** A problem of a list of grants, by its place in it. */
interface GrantProblem {
  readonly at: string
  readonly problem: string
}

const AMOUNTS = ['calls', 'concurrent', 'bytesIn', 'bytesOut'] as const

/** What is wrong with grants. @param around what they must be part of; undefined for the grants of a whole plan */
export function grantProblems(
  grants: readonly PlanGrant[],
  around: readonly PlanGrant[] | undefined,
): readonly GrantProblem[] {
  const problems: GrantProblem[] = []
  const met = new Set<string>()
  const held = new Map((around ?? []).map((grant) => [ruleOf(grant).capability, ruleOf(grant)]))
  for (const [i, grant] of grants.entries()) {
    const rule = ruleOf(grant)
    const add = (problem: string): void => {
      problems.push({ at: `/${i}`, problem })
    }
    if (met.has(rule.capability)) add(`"${rule.capability}" is granted twice`)
    met.add(rule.capability)
    if (around === undefined) {
      const wrong = nameProblem(rule.capability)
      if (wrong !== undefined) add(`"${rule.capability}" is no name of a capability: ${wrong}`)
      continue
    }
    const wider = held.get(rule.capability)
    if (wider === undefined) {
      const [near] = nearNames(rule.capability, held.keys())
      const meant = near === undefined ? '' : ` (did you mean "${near}"?)`
      add(`"${rule.capability}" is not among the grants of the plan${meant}`)
    } else for (const problem of widened(rule, wider)) add(problem)
  }
  return problems
}

/** In which conditions a rule asks for more than the one around it. */
function widened(rule: PlanGrantRule, around: PlanGrantRule): readonly string[] {
  const problems: string[] = []
  for (const name of AMOUNTS) {
    const [own, most] = [rule[name], around[name]]
    if (own !== undefined && most !== undefined && own > most)
      problems.push(`${name} is ${own}, and the plan around it has ${most}`)
  }
  for (const [unit, own] of Object.entries(rule.budgets ?? {})) {
    const most = amountOf(around.budgets, unit)
    if (most !== undefined && own > most)
      problems.push(`the budget for "${unit}" is ${own}, and the plan around it has ${most}`)
  }
  if (rule.approve === false && around.approve === true)
    problems.push('the plan around it asks a person about every call, and so does this')
  return problems
}

/** A grant with its conditions. */
export function ruleOf(grant: PlanGrant): PlanGrantRule {
  return typeof grant === 'string' ? { capability: grant } : grant
}

/** Whether all that one rule allows is allowed by another: where that is not sure, it is not. */
export function isWithin(rule: PlanGrantRule, around: PlanGrantRule): boolean {
  const most = (own: number | undefined, bound: number | undefined): boolean =>
    bound === undefined || (own !== undefined && own <= bound)
  const { rate, budgets = {}, only = {} } = around
  return (
    rule.capability === around.capability &&
    (around.approve !== true || rule.approve === true) &&
    AMOUNTS.every((name) => most(rule[name], around[name])) &&
    (rate === undefined || (rule.rate?.perMs === rate.perMs && rule.rate.calls <= rate.calls)) &&
    Object.entries(budgets).every(([unit, amount]) => most(amountOf(rule.budgets, unit), amount)) &&
    Object.entries(only).every(([pointer, allowed]) => isNarrower(rule.only, pointer, allowed))
  )
}

function isNarrower(own: PlanGrantRule['only'], pointer: string, allowed: readonly ArgumentRule[]): boolean {
  const mine = own !== undefined && Object.hasOwn(own, pointer) ? own[pointer] : undefined
  return mine?.every((rule) => allowed.some((wider) => covers(wider, rule))) === true
}

function covers(wider: ArgumentRule, rule: ArgumentRule): boolean {
  if (typeof rule !== 'object' || rule === null) return allows(wider, rule)
  if (typeof wider !== 'object' || wider === null) return false
  if ('prefix' in wider) return 'prefix' in rule && rule.prefix.startsWith(wider.prefix)
  if ('prefix' in rule) return false
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = wider
  return (rule.min ?? Number.NEGATIVE_INFINITY) >= min && (rule.max ?? Number.POSITIVE_INFINITY) <= max
}

/** What is wrong with the final arguments of a call; undefined where the rule allows them. */
export function argumentProblem(only: PlanGrantRule['only'], args: unknown): string | undefined {
  for (const [pointer, rules] of Object.entries(only ?? {})) {
    const value = valueAt(args, pointer)
    if (!rules.some((rule) => allows(rule, value)))
      return `${pointer === '' ? 'the arguments are' : `${pointer.slice(1)} is`} not among what was granted`
  }
  return undefined
}

function allows(rule: ArgumentRule, value: unknown): boolean {
  if (typeof rule !== 'object' || rule === null) return Object.is(rule, value)
  if ('prefix' in rule) return typeof value === 'string' && value.startsWith(rule.prefix)
  const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = rule
  return typeof value === 'number' && value >= min && value <= max
}

function valueAt(value: unknown, pointer: string): unknown {
  let found = value
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~')
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as Readonly<Record<string, unknown>>)[key]
  }
  return found
}
