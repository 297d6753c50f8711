/**
 * What the nodes of a scope wait for: what they refer to, what they name in `after`, and what decides over them.
 */
import { isEffect, kindOf } from './node-kinds.ts'
import type { PlanNode, Scope } from './plan.ts'
import { SOURCES } from './plan-names.ts'
import { visitTemplate } from './template.ts'

/** What the nodes of a scope wait for. */
export interface ScopeEdges {
  /** Nodes of the same scope that end before, by node. */
  readonly before: ReadonlyMap<string, ReadonlySet<string>>
  /** The choice that decides over a node. */
  readonly chosenBy: ReadonlyMap<string, string>
  /** The node for which a node stands in. */
  readonly standsInFor: ReadonlyMap<string, string>
  /** Names beyond the scope that something in it refers to. */
  readonly outside: ReadonlySet<string>
}

/** The templates of a node that are evaluated before it ends, with their places. */
export function templatesOf(node: PlanNode): readonly { readonly at: string; readonly template: unknown }[] {
  const own = (names: readonly string[]): { at: string; template: unknown }[] =>
    names.flatMap((name) => {
      const template: unknown = (node as unknown as Readonly<Record<string, unknown>>)[name]
      return template === undefined ? [] : [{ at: `/${name}`, template }]
    })
  switch (node.kind) {
    case 'program':
    case 'call':
    case 'plan':
      return own(['when', 'input'])
    case 'approval':
      return own(['when', 'show'])
    case 'each':
      return own(['when', 'over'])
    case 'loop':
      return own(['when', 'state'])
    case 'wait':
      return own(['when', 'until'])
    case 'choice':
      return [
        ...own(['when']),
        ...node.cases.map(({ when }, i) => ({ at: `/cases/${i}/when`, template: when })),
      ]
    default:
      return own(['when', ...kindOf(node).templates])
  }
}

/** What the nodes of a scope wait for, the scopes inside of them included. */
export function edgesOf(scope: Scope): ScopeEdges {
  const before = new Map<string, Set<string>>()
  const chosenBy = new Map<string, string>()
  const standsInFor = new Map<string, string>()
  const outside = new Set<string>()
  const isHere = (id: string): boolean => Object.hasOwn(scope.nodes, id)
  for (const [id, node] of Object.entries(scope.nodes)) {
    const waits = new Set((node.after ?? []).filter(isHere))
    const refer = (source: string): void => {
      if (isHere(source)) waits.add(source)
      else outside.add(source)
    }
    for (const { template } of templatesOf(node)) forEachSource(template, refer)
    for (const source of innerSources(node)) refer(source)
    if (isEffect(node)) {
      for (const { value } of node.fallback ?? []) forEachSource(value, refer)
      forEachSource(node.compensate?.input, (source) => source !== 'output' && refer(source))
    }
    before.set(id, waits)
  }
  for (const [id, node] of Object.entries(scope.nodes)) {
    const follow = (other: string, kind: Map<string, string>): void => {
      if (!isHere(other)) return
      kind.set(other, id)
      before.get(other)?.add(id)
    }
    if (node.kind === 'choice') {
      for (const chosen of node.cases.flatMap(({ take }) => take)) follow(chosen, chosenBy)
      for (const chosen of node.otherwise ?? []) follow(chosen, chosenBy)
    } else if (isEffect(node)) {
      for (const { node: other } of node.fallback ?? []) if (other !== undefined) follow(other, standsInFor)
    }
  }
  forEachSource(scope.output, (source) => {
    if (!isHere(source)) outside.add(source)
  })
  return { before, chosenBy, standsInFor, outside }
}

/** What the nodes inside of a node refer to around them. */
function innerSources(node: PlanNode): readonly string[] {
  if (node.kind !== 'each' && node.kind !== 'loop') return []
  const outside = new Set(edgesOf(node.do).outside)
  if (node.kind === 'loop') forEachSource(node.until, (source) => outside.add(source))
  return [...outside].filter((source) => !(SOURCES as readonly string[]).includes(source))
}

function forEachSource(template: unknown, act: (source: string) => unknown): void {
  if (template === undefined) return
  visitTemplate(template, '', { reference: ({ source }) => act(source) })
}

/**
 * Nodes that wait for each other through what stands in: a node has not ended before what stands in for it has, and
 * whoever comes after it waits for that. What stands in itself waits for its failure alone.
 */
export function findStandInCycle({ before, standsInFor }: ScopeEdges): readonly string[] | undefined {
  if (standsInFor.size === 0) return undefined
  // Each node twice: its own work, and, behind a space, its end with all that stands in for it.
  const waits = new Map<string, Set<string>>()
  for (const [id, others] of before) {
    const own = [...others].map((other) => (standsInFor.get(id) === other ? other : ` ${other}`))
    waits.set(id, new Set(own))
    waits.set(` ${id}`, new Set([id]))
  }
  for (const [standby, original] of standsInFor) waits.get(` ${original}`)?.add(` ${standby}`)
  const cycle = findCycle(waits)?.map((id) => id.trimStart())
  return cycle?.filter((id, at) => id !== cycle[at - 1])
}

/** Nodes that wait for each other in a circle; undefined where none do. Without recursion: a chain may be long. */
export function findCycle(before: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] | undefined {
  const done = new Set<string>()
  for (const start of before.keys()) {
    if (done.has(start)) continue
    const path: { readonly id: string; readonly rest: Iterator<string> }[] = []
    const onPath = new Set<string>()
    const enter = (id: string): void => {
      path.push({ id, rest: (before.get(id) ?? new Set<string>()).values() })
      onPath.add(id)
    }
    enter(start)
    while (path.length > 0) {
      const { id, rest } = path.at(-1) as (typeof path)[number]
      const { value: next, done: ended } = rest.next()
      if (ended === true) {
        path.pop()
        onPath.delete(id)
        done.add(id)
      } else if (onPath.has(next)) {
        const ids = path.map((step) => step.id)
        return ids.slice(ids.indexOf(next))
      } else if (!done.has(next)) enter(next)
    }
  }
  return undefined
}
