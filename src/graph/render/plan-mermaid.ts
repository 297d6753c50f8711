/**
 * A plan as a flowchart of Mermaid, for pages that draw them: Markdown on code hosts, wikis.
 *
 * Invariants
 * 1. Nothing of a plan is markup: ids are made here, labels hold letters, digits and a few marks as they are, and
 *    everything else as numeric entities.
 * 2. Labels are short: what a plan says in full is in its text.
 */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { type NodeOutline, outlineOf, type ScopeOutline } from './plan-outline.ts'

const MOST_LABEL = 60

const BOX = ['["', '"]'] as const
/** The shape of a node by its kind, where it is no box. */
const SHAPES: Readonly<Partial<Record<PlanNode['kind'], readonly [open: string, close: string]>>> = {
  call: ['[["', '"]]'],
  approval: ['[/"', '"/]'],
  choice: ['{"', '"}'],
  wait: ['(["', '"])'],
}

/** @param plan checked. @returns lines, each with its end */
export function planMermaid(plan: Plan): string {
  const lines = ['flowchart TD']
  writeScope(outlineOf(plan), 'n', '  ', lines)
  return `${lines.join('\n')}\n`
}

function writeScope(scope: ScopeOutline, prefix: string, indent: string, lines: string[]): void {
  const names = new Map(scope.nodes.map(({ id }, i) => [id, `${prefix}${i}`]))
  const nameOf = (id: string): string => names.get(id) ?? ''
  for (const node of scope.nodes) writeNode(node, nameOf(node.id), indent, lines)
  for (const node of scope.nodes) {
    for (const { from, kind } of node.before) {
      const arrow = kind === 'order' ? '-->' : kind === 'choice' ? '-. chosen .->' : '-. failed .->'
      lines.push(`${indent}${nameOf(from)} ${arrow} ${nameOf(node.id)}`)
    }
  }
}

function writeNode(node: NodeOutline, name: string, indent: string, lines: string[]): void {
  const { id, kind, does, inner } = node
  const label = `${mermaidText(id)}<br/>${mermaidText(`${kind}: ${does}`)}`
  if (inner === undefined) {
    const [open, close] = SHAPES[kind] ?? BOX
    lines.push(`${indent}${name}${open}${label}${close}`)
    return
  }
  lines.push(`${indent}subgraph ${name}["${label}"]`)
  writeScope(inner, `${name}_`, `${indent}  `, lines)
  lines.push(`${indent}end`)
}

/** Text in a quoted label. A space between words stays, so that long ones can be broken. */
function mermaidText(text: string): string {
  return escapeText(clipText(text, MOST_LABEL)).replace(
    /[^\p{L}\p{N} .,:_-]/gu,
    (mark) => `#${mark.codePointAt(0) ?? 0};`,
  )
}
