/**
 * What a plan means, beyond its form: every reference leads somewhere, nothing waits for itself, and no node has more
 * authority or budget than what is around it.
 */
import { nearNames } from '../../capability/near-names.ts'
import { grantProblems } from './authority.ts'
import { budgetProblems, budgetWithin } from './budget-share.ts'
import { type EffectNode, isEffect, kindOf } from './node-kinds.ts'
import type { Budget, Compensation, Plan, PlanGrant, PlanNode, Program, Scope } from './plan.ts'
import { SOURCES, type SourceName } from './plan-names.ts'
import type { PlanProblems } from './plan-problem.ts'
import { edgesOf, findCycle, findStandInCycle, templatesOf } from './scope-edges.ts'
import { visitTemplate } from './template.ts'

const MOST_NESTED = 16
const MOST_NODES = 10_000

/** What a scope can refer to, and what it may use. */
interface Surroundings {
  readonly sources: ReadonlySet<SourceName>
  /** Nodes of the scopes around it, up to the plan. */
  readonly outer: ReadonlySet<string>
  readonly grants: readonly PlanGrant[]
  readonly budget: Budget | undefined
  readonly depth: number
}

/** Adds what is wrong with a plan whose form is right. */
export function checkPlan(plan: Plan, problems: PlanProblems): void {
  const { grants = [], budget } = plan
  for (const { at, problem } of grantProblems(grants, undefined)) problems.add(`/grants${at}`, problem)
  checkScope(plan, '', { ...ALONE, grants, budget, depth: 1 }, problems, { nodes: 0 })
}

/** Nothing of what is around a plan can be referred to in it. */
const ALONE: Pick<Surroundings, 'sources' | 'outer'> = { sources: new Set(['input']), outer: new Set() }

interface Count {
  nodes: number
}

function checkScope(
  scope: Scope,
  at: string,
  around: Surroundings,
  problems: PlanProblems,
  count: Count,
): void {
  const ids = Object.keys(scope.nodes)
  count.nodes += ids.length
  const tooMuch =
    count.nodes > MOST_NODES
      ? `the plan has more than ${MOST_NODES} nodes`
      : around.depth > MOST_NESTED && `nodes are nested more than ${MOST_NESTED} deep`
  if (tooMuch) {
    problems.add(at, tooMuch)
    return
  }
  const names: Names = { sources: around.sources, nodes: new Set([...ids, ...around.outer]) }
  const inside: Surroundings = { ...around, depth: around.depth + 1, outer: names.nodes }
  for (const id of ids) {
    const node = scope.nodes[id] as PlanNode
    checkNode(node, `${at}/nodes/${id}`, scope, names, inside, problems, count)
  }
  checkReferences(scope.output, `${at}/output`, names, problems)
  checkDecisions(scope, at, problems)
  const edges = edgesOf(scope)
  const cycle = findCycle(edges.before) ?? findStandInCycle(edges)
  if (cycle !== undefined)
    problems.add(
      `${at}/nodes/${cycle[0]}`,
      `waits for itself: ${[...cycle, cycle[0]].join(' waits for ')}. Only a loop goes round`,
    )
}

/** @param around as the nodes inside of it see it */
function checkNode(
  node: PlanNode,
  at: string,
  scope: Scope,
  names: Names,
  around: Surroundings,
  problems: PlanProblems,
  count: Count,
): void {
  for (const [i, id] of (node.after ?? []).entries()) checkId(id, `${at}/after/${i}`, scope, problems)
  for (const { at: place, template } of templatesOf(node))
    checkReferences(template, at + place, names, problems)
  for (const problem of budgetProblems(node.budget, around.budget))
    problems.add(`${at}/budget${problem.at}`, problem.problem)
  const budget = budgetWithin(node.budget, around.budget)
  switch (node.kind) {
    case 'program':
      checkProgram(node, at, problems)
      checkGrants(node.grants, `${at}/grants`, around, problems)
      break
    case 'call':
      checkCapability(node.capability, `${at}/capability`, around, problems)
      break
    case 'each':
      checkScope(
        node.do,
        `${at}/do`,
        { ...around, budget, sources: withSources(around, 'item', 'index') },
        problems,
        count,
      )
      break
    case 'loop':
      checkScope(
        node.do,
        `${at}/do`,
        { ...around, budget, sources: withSources(around, 'state', 'index') },
        problems,
        count,
      )
      checkReferences(
        node.until,
        `${at}/until`,
        { nodes: names.nodes, sources: withSources(around, 'state', 'index') },
        problems,
      )
      break
    case 'plan':
      checkInner(node.plan, `${at}/plan`, budget, around, problems, count)
      break
    case 'wait':
      exactlyOne(node, ['forMs', 'until', 'event'], at, problems)
      break
    case 'approval':
    case 'choice':
      break
    default:
      kindOf(node).check(node, at, problems)
      checkGrants(node.grants, `${at}/grants`, around, problems)
  }
  if (isEffect(node)) checkEffect(node, at, scope, names, around, problems)
}

/** A plan in a plan: its authority and budget are part of those around it. */
function checkInner(
  plan: Plan,
  at: string,
  budget: Budget | undefined,
  around: Surroundings,
  problems: PlanProblems,
  count: Count,
): void {
  for (const { at: place, problem } of grantProblems(plan.grants ?? [], around.grants))
    problems.add(`${at}/grants${place}`, problem)
  for (const problem of budgetProblems(plan.budget, budget))
    problems.add(`${at}/budget${problem.at}`, problem.problem)
  if (plan.guard !== undefined) problems.add(`${at}/guard`, 'only the outermost plan has a guard')
  const inside = { ...ALONE, grants: plan.grants ?? [], budget: budgetWithin(plan.budget, budget) }
  checkScope(plan, at, { ...inside, depth: around.depth }, problems, count)
}

function checkEffect(
  { fallback = [], compensate, retry }: EffectNode,
  at: string,
  scope: Scope,
  names: Names,
  around: Surroundings,
  problems: PlanProblems,
): void {
  if (retry?.on.some((one) => one === 'fatal' || one === 'denied'))
    problems.add(`${at}/retry/on`, 'what was denied, or cannot get better, is never tried again')
  for (const [i, choice] of fallback.entries()) {
    const place = `${at}/fallback/${i}`
    exactlyOne(choice, ['node', 'cached', 'value', 'ask'], place, problems)
    if (choice.node !== undefined) checkId(choice.node, `${place}/node`, scope, problems)
    if (choice.value !== undefined) checkReferences(choice.value, `${place}/value`, names, problems)
  }
  if (compensate === undefined) return
  const undone = { ...names, sources: new Set([...names.sources, 'output' as const]) }
  checkReferences(compensate.input, `${at}/compensate/input`, undone, problems)
  checkCompensation(compensate, `${at}/compensate`, around, problems)
}

function checkCompensation(
  compensate: Compensation,
  at: string,
  around: Surroundings,
  problems: PlanProblems,
): void {
  if (compensate.kind === 'call') {
    checkCapability(compensate.capability, `${at}/capability`, around, problems)
    return
  }
  checkProgram(compensate, at, problems)
  checkGrants(compensate.grants, `${at}/grants`, around, problems)
}

function checkProgram(program: Program, at: string, problems: PlanProblems): void {
  exactlyOne(program, ['source', 'file'], at, problems)
}

function checkGrants(
  grants: readonly PlanGrant[] | undefined,
  at: string,
  around: Surroundings,
  problems: PlanProblems,
): void {
  for (const { at: place, problem } of grantProblems(grants ?? [], around.grants))
    problems.add(at + place, problem)
}

function checkCapability(name: string, at: string, { grants }: Surroundings, problems: PlanProblems): void {
  const held = grants.map((grant) => (typeof grant === 'string' ? grant : grant.capability))
  if (!held.includes(name))
    problems.add(at, `"${name}" is not among the grants of the plan${meant(name, held)}`)
}

/** A node is decided over by one choice, or stands in for one node, at most. */
function checkDecisions(scope: Scope, at: string, problems: PlanProblems): void {
  const decided = new Map<string, string>()
  const decide = (id: string, by: string, place: string): void => {
    if (!checkId(id, place, scope, problems)) return
    const earlier = decided.get(id)
    if (earlier === undefined) decided.set(id, by)
    else if (earlier !== by) problems.add(place, `whether "${id}" starts is decided by "${earlier}" already`)
  }
  for (const [id, node] of Object.entries(scope.nodes)) {
    if (node.kind === 'choice') {
      for (const [i, { take }] of node.cases.entries()) {
        for (const [j, chosen] of take.entries()) decide(chosen, id, `${at}/nodes/${id}/cases/${i}/take/${j}`)
      }
      for (const [j, chosen] of (node.otherwise ?? []).entries())
        decide(chosen, id, `${at}/nodes/${id}/otherwise/${j}`)
    }
    if (!isEffect(node)) continue
    for (const [i, { node: other }] of (node.fallback ?? []).entries())
      if (other !== undefined) decide(other, id, `${at}/nodes/${id}/fallback/${i}/node`)
  }
}

/** What a template may name. */
interface Names {
  readonly sources: ReadonlySet<SourceName>
  readonly nodes: ReadonlySet<string>
}

function checkReferences(template: unknown, at: string, names: Names, problems: PlanProblems): void {
  if (template === undefined) return
  visitTemplate(template, at, {
    problem: (place, problem) => problems.add(place, problem),
    reference({ source }, place) {
      if (names.nodes.has(source) || names.sources.has(source as SourceName)) return
      if ((SOURCES as readonly string[]).includes(source))
        return problems.add(place, `there is no "${source}" here: ${WHERE[source as SourceName]}`)
      problems.add(place, `there is no node "${source.slice(0, 80)}"${meant(source, names.nodes)}`)
    },
  })
}

const WHERE: Readonly<Record<SourceName, string>> = {
  input: 'it is everywhere',
  item: 'only the nodes of an "each" have an item',
  index: 'only the nodes of an "each" or a "loop" are counted',
  state: 'only a "loop" has a state',
  output: 'only what undoes a node has its output',
}

function checkId(id: string, at: string, scope: Scope, problems: PlanProblems): boolean {
  if (Object.hasOwn(scope.nodes, id)) return true
  problems.add(at, `there is no node "${id.slice(0, 80)}" beside it${meant(id, Object.keys(scope.nodes))}`)
  return false
}

function meant(name: string, names: Iterable<string>): string {
  const [near] = nearNames(name, names)
  return near === undefined ? '' : ` (did you mean "${near}"?)`
}

function exactlyOne(object: object, keys: readonly string[], at: string, problems: PlanProblems): void {
  const given = keys.filter((key) => Object.hasOwn(object, key))
  if (given.length !== 1)
    problems.add(at, `needs exactly one of ${keys.join(', ')}, and has ${given.join(' and ') || 'none'}`)
}

function withSources(around: Surroundings, ...more: readonly SourceName[]): ReadonlySet<SourceName> {
  return new Set([...around.sources, ...more])
}
