/**
 * A plan as it is told to people: its nodes in the order in which they can run, what each does, what it waits for, what
 * it may do. Every renderer shows this, and escapes it in its own way: all texts here quote the plan as it is.
 */
import { showCount } from '../../base/show-count.ts'
import { ruleOf } from '../plan/authority.ts'
import { BUDGET_PARTS } from '../plan/budget-share.ts'
import { type EffectNode, kindOf } from '../plan/node-kinds.ts'
import type {
  ArgumentRule,
  Budget,
  Fallback,
  Plan,
  PlanGrant,
  PlanNode,
  Program,
  Retry,
  Scope,
  Template,
} from '../plan/plan.ts'
import { runOrder } from '../plan/run-order.ts'
import { edgesOf } from '../plan/scope-edges.ts'
import { durationText } from './duration-text.ts'

export interface ScopeOutline {
  /** What is at the beginning stands first; else as in the plan. */
  readonly nodes: readonly NodeOutline[]
  /** What comes out. */
  readonly output: string | undefined
}

export interface NodeOutline {
  readonly id: string
  readonly kind: PlanNode['kind']
  readonly title: string | undefined
  /** A few words. */
  readonly does: string
  /** Everything else that was said of it. */
  readonly facts: readonly Fact[]
  readonly before: readonly OutlineEdge[]
  readonly inner: ScopeOutline | undefined
}

/** One thing that is so: `[what, how]`. */
export type Fact = readonly [label: string, text: string]

export interface OutlineEdge {
  readonly from: string
  /** `order`: it waits. `choice`: it starts if it is chosen. `fallback`: it starts if the other fails. */
  readonly kind: 'order' | 'choice' | 'fallback'
}

/**
 * @param scope of a checked plan, or the plan itself
 * @param known what somebody knows of a node beside what the plan says
 */
export function outlineOf(scope: Scope, known: (node: PlanNode) => readonly Fact[] = NOTHING): ScopeOutline {
  const { before, chosenBy, standsInFor } = edgesOf(scope)
  const nodes = runOrder(before).map((id): NodeOutline => {
    const node = scope.nodes[id] as PlanNode
    const edges = [...(before.get(id) ?? [])].map((from): OutlineEdge => {
      const kind = chosenBy.get(id) === from ? 'choice' : standsInFor.get(id) === from ? 'fallback' : 'order'
      return { from, kind }
    })
    const inner = node.kind === 'each' || node.kind === 'loop' ? node.do : node.kind === 'plan' && node.plan
    return {
      id,
      kind: node.kind,
      title: node.title,
      does: doingOf(node),
      facts: [...edgeFacts(edges, node), ...known(node), ...factsOf(node)],
      before: edges,
      inner: inner ? outlineOf(inner, known) : undefined,
    }
  })
  return { nodes, output: scope.output === undefined ? undefined : templateText(scope.output) }
}

const NOTHING = (): readonly Fact[] => []

/** What a plan may do in all. */
export function authorityOf({
  grants = [],
  budget,
  guard,
}: Pick<Plan, 'grants' | 'budget' | 'guard'>): readonly Fact[] {
  return [...grantFacts(grants), ...budgetFacts(budget), ...guardFacts(guard)]
}

/** When a run is stopped because it repeats itself, where a plan says so. */
function guardFacts(guard: Plan['guard']): readonly Fact[] {
  const parts = Object.entries(guard ?? {}).map(([part, most]) => `${part} ${most}`)
  return parts.length === 0 ? [] : [['guard', parts.join(', ')]]
}

function edgeFacts(edges: readonly OutlineEdge[], { join, when }: PlanNode): readonly Fact[] {
  const from = (kind: OutlineEdge['kind']): string =>
    edges.flatMap((edge) => (edge.kind === kind ? [edge.from] : [])).join(', ')
  const facts: Fact[] = []
  if (from('order') !== '') facts.push(['after', from('order')])
  if (join === 'any') facts.push(['starts', 'if one of them completed'])
  if (from('choice') !== '') facts.push(['if', `chosen by ${from('choice')}`])
  if (from('fallback') !== '') facts.push(['if', `${from('fallback')} failed`])
  if (when !== undefined) facts.push(['if', templateText(when)])
  return facts
}

function doingOf(node: PlanNode): string {
  switch (node.kind) {
    case 'program':
      return programText(node)
    case 'call':
      return node.capability
    case 'approval':
      return oneLine(node.question)
    case 'choice': {
      const ids = [...node.cases.flatMap(({ take }) => take), ...(node.otherwise ?? [])]
      return [...new Set(ids)].join(' or ')
    }
    case 'each':
      return `over ${templateText(node.over)}, at most ${node.most}`
    case 'loop':
      return `until ${templateText(node.until)}, at most ${times(node.most)}`
    case 'plan':
      return `${node.plan.name} ${node.plan.version}`
    case 'wait':
      if (node.forMs !== undefined) return `for ${durationText(node.forMs)}`
      return node.event === undefined
        ? `until ${templateText(node.until ?? null)}`
        : `for the event ${node.event}`
    default:
      return kindOf(node).words(node)
  }
}

function factsOf(node: PlanNode): readonly Fact[] {
  const budget = budgetFacts(node.budget)
  switch (node.kind) {
    case 'program':
      return [
        ...inputFact(node.input),
        ...grantFacts(node.grants ?? []),
        ...limitFact(node.limits),
        ...budget,
        ...effectFacts(node),
      ]
    case 'call':
      return [...inputFact(node.input), ...budget, ...effectFacts(node)]
    case 'approval':
      return [
        ...(node.show === undefined ? [] : [['shows', templateText(node.show)] as const]),
        ...expiryFact(node.expiresMs),
        ...(node.rejected === 'continue' ? [['rejected', 'the run goes on'] as const] : []),
        ...budget,
      ]
    case 'choice':
      return [
        ...node.cases.map(
          ({ when, take }) => ['takes', `${take.join(', ')} if ${templateText(when)}`] as const,
        ),
        ...(node.otherwise === undefined
          ? []
          : [['else', node.otherwise.join(', ') || 'none of them'] as const]),
        ...budget,
      ]
    case 'each':
      return [['runs', `${node.concurrency ?? 4} at once`], ...budget]
    case 'loop':
      return [...(node.state === undefined ? [] : [['begins', templateText(node.state)] as const]), ...budget]
    case 'plan':
      return [...inputFact(node.input), ...authorityOf(node.plan), ...budget]
    case 'wait':
      return [...expiryFact(node.expiresMs), ...budget]
    default: {
      const members = Object.entries(node)
      const shown = kindOf(node).shown.flatMap((name): Fact[] => {
        const [, value] = members.find(([key]) => key === name) ?? []
        return value === undefined ? [] : [[name, typeof value === 'string' ? value : templateText(value)]]
      })
      return [
        ...shown,
        ...grantFacts(node.grants ?? []),
        ...limitFact(node.limits),
        ...budget,
        ...effectFacts(node),
      ]
    }
  }
}

function effectFacts({ timeoutMs, retry, fallback = [], compensate }: EffectNode): readonly Fact[] {
  const facts: Fact[] = []
  if (timeoutMs !== undefined) facts.push(['within', durationText(timeoutMs)])
  if (retry !== undefined) facts.push(['tries', retryText(retry)])
  for (const one of fallback) facts.push(['or else', fallbackText(one)])
  if (compensate === undefined) return facts
  const what = compensate.kind === 'call' ? compensate.capability : programText(compensate)
  facts.push(['undone by', what])
  if (compensate.kind === 'program')
    facts.push(...grantFacts(compensate.grants ?? []).map(([, text]): Fact => ['it may call', text]))
  return facts
}

function inputFact(input: Template | undefined): readonly Fact[] {
  return input === undefined ? [] : [['input', templateText(input)]]
}

function expiryFact(expiresMs: number | undefined): readonly Fact[] {
  return expiresMs === undefined ? [] : [['within', durationText(expiresMs)]]
}

function limitFact(limits: Readonly<Record<string, number>> | undefined): readonly Fact[] {
  const texts = Object.entries(limits ?? {}).map(([name, value]) => `${name} ${countText(value)}`)
  return texts.length === 0 ? [] : [['limits', texts.join(', ')]]
}

function budgetFacts(budget: Budget = {}): readonly Fact[] {
  const parts = BUDGET_PARTS.flatMap((part) => {
    const amount = budget[part]
    if (amount === undefined) return []
    if (part === 'activeMs') return [`${durationText(amount)} at work`]
    if (part === 'wallMs') return [`${durationText(amount)} from start to end`]
    return [`${countText(amount)} ${amount === 1 ? part.replace(/s$/, '') : part}`]
  })
  const units = Object.entries(budget.units ?? {}).map(([unit, amount]) => `${countText(amount)} ${unit}`)
  const all = [...parts, ...units]
  return all.length === 0 ? [] : [['may spend', all.join(', ')]]
}

function grantFacts(grants: readonly PlanGrant[]): readonly Fact[] {
  return grants.map((grant) => ['may call', grantText(grant)])
}

/** A right in words. */
function grantText(grant: PlanGrant): string {
  const {
    capability,
    approve,
    calls,
    rate,
    concurrent,
    bytesIn,
    bytesOut,
    budgets = {},
    only = {},
  } = ruleOf(grant)
  const conditions = [
    ...(approve === true ? ['a person decides over every call'] : []),
    ...(calls === undefined ? [] : [`at most ${countText(calls)} ${calls === 1 ? 'call' : 'calls'}`]),
    ...(rate === undefined ? [] : [`at most ${countText(rate.calls)} in ${durationText(rate.perMs)}`]),
    ...(concurrent === undefined ? [] : [`${countText(concurrent)} at once`]),
    ...(bytesIn === undefined ? [] : [`${countText(bytesIn)} bytes in`]),
    ...(bytesOut === undefined ? [] : [`${countText(bytesOut)} bytes out`]),
    ...Object.entries(budgets).map(([unit, amount]) => `${countText(amount)} ${unit}`),
    ...Object.entries(only).map(
      ([pointer, rules]) =>
        `${pointer === '' ? 'arguments' : pointer.slice(1)} ${rules.map(argumentText).join(' or ')}`,
    ),
  ]
  return conditions.length === 0 ? capability : `${capability}: ${conditions.join('; ')}`
}

function argumentText(rule: ArgumentRule): string {
  if (typeof rule !== 'object' || rule === null) return `= ${JSON.stringify(rule)}`
  if ('prefix' in rule) return `begins with ${JSON.stringify(rule.prefix)}`
  const { min, max } = rule
  if (min === undefined && max === undefined) return 'a number'
  return [...(min === undefined ? [] : [`≥ ${min}`]), ...(max === undefined ? [] : [`≤ ${max}`])].join(
    ' and ',
  )
}

function retryText({ attempts, on, delayMs = 200, mostDelayMs = 60_000 }: Retry): string {
  return `${times(attempts)} on ${on.join(', ')}; first after ${durationText(delayMs)}, at most ${durationText(mostDelayMs)}`
}

function fallbackText({ on, node, cached, value, ask }: Fallback): string {
  const what =
    node !== undefined
      ? node
      : cached !== undefined
        ? `what an earlier run gave, at most ${durationText(cached.mostAgeMs)} old`
        : ask !== undefined
          ? `a person: ${oneLine(ask)}`
          : templateText(value ?? null)
  return on === undefined ? what : `${what} (on ${on.join(', ')})`
}

function programText({ source, file, language }: Program): string {
  if (file !== undefined) return file
  const lines = (source ?? '').trimEnd().split('\n').length
  const name = language === undefined ? '' : language === 'ts' ? ' of TypeScript' : ' of JavaScript'
  return `${countText(lines)} ${lines === 1 ? 'line' : 'lines'}${name}`
}

const MOST_TEXT = 400

/** A template as short as it can be said: references by their paths, expressions by their text. */
function templateText(template: unknown): string {
  const text = partText(template, 6)
  return text.length <= MOST_TEXT ? text : `${text.slice(0, MOST_TEXT)}…`
}

function partText(template: unknown, depth: number): string {
  if (typeof template !== 'object' || template === null) return clipped(JSON.stringify(template))
  if (depth === 0) return '…'
  if (Array.isArray(template)) {
    const shown = template.slice(0, MOST_PARTS).map((one) => partText(one, depth - 1))
    return `[${[...shown, ...(template.length > MOST_PARTS ? ['…'] : [])].join(', ')}]`
  }
  const members = template as Readonly<Record<string, unknown>>
  if (typeof members.$from === 'string') return members.$from
  if (typeof members.$eval === 'string') {
    const code = oneLine(members.$eval)
    const names = Object.entries(isRecord(members.with) ? members.with : {})
    if (names.length === 0) return code
    return `${code} with ${names.map(([name, value]) => `${name} = ${partText(value, depth - 1)}`).join(', ')}`
  }
  if (Object.hasOwn(members, '$value')) return clipped(JSON.stringify(members.$value))
  const entries = Object.entries(members)
  const shown = entries.slice(0, MOST_PARTS).map(([key, value]) => `${key}: ${partText(value, depth - 1)}`)
  return `{ ${[...shown, ...(entries.length > MOST_PARTS ? ['…'] : [])].join(', ')} }`
}

const MOST_PARTS = 12

function oneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

function clipped(text: string): string {
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

function times(count: number): string {
  return `${countText(count)} ${count === 1 ? 'time' : 'times'}`
}

function countText(value: number): string {
  return Number.isInteger(value) ? showCount(value) : String(value)
}
