/** A plan as text: its nodes in order, those inside of others beside a bar, readable from 60 columns on. */
import type { Digest } from '../../base/digest.ts'
import { escapeText } from '../../base/escape-text.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import {
  authorityOf,
  type Fact,
  type NodeOutline,
  outlineOf,
  type ScopeOutline,
} from '../../graph/render/plan-outline.ts'
import type { PlanGuest } from '../../runtime/plans/plan-guests.ts'
import type { CliOutput } from '../cli-io.ts'
import { type Style, styleFor } from '../render/style.ts'
import { hangText, wrapText } from '../render/wrap-text.ts'
import { guestFacts } from './guest-facts.ts'

const WIDEST = 110
const LABEL = 11

/** Name, digest, nodes, authority and budget. @param nodes counts by kind */
export function planSummary(
  plan: Plan,
  digest: Digest,
  nodes: Readonly<Record<string, number>>,
  output: CliOutput,
): string {
  const style = styleFor(output)
  const kinds = Object.entries(nodes).map(([kind, count]) => `${count} ${kind}`)
  const total = Object.values(nodes).reduce((sum, count) => sum + count, 0)
  return linesText([
    ...headLines(plan, digest, style, widthOf(output)),
    ...factLines(
      [['nodes', `${total}: ${kinds.join(', ')}`], ...wholeAuthority(plan)],
      style,
      widthOf(output),
    ),
    style.green('The plan is right.'),
  ])
}

/** All of a plan, but for the texts of its programs. @param guests its WebAssembly */
export function planTree(
  plan: Plan,
  digest: Digest,
  guests: readonly PlanGuest[],
  output: CliOutput,
): string {
  const style = styleFor(output)
  const width = widthOf(output)
  return linesText([
    ...headLines(plan, digest, style, width),
    ...factLines(wholeAuthority(plan), style, width),
    '',
    ...scopeLines(outlineOf(plan, guestFacts(guests)), style, width),
  ])
}

/** That it may call nothing is said, too. */
function wholeAuthority(plan: Plan): readonly Fact[] {
  const nothing: readonly Fact[] = (plan.grants ?? []).length === 0 ? [['may call', 'nothing']] : []
  return [...nothing, ...authorityOf(plan)]
}

function headLines(
  { name, version, description }: Plan,
  digest: Digest,
  style: Style,
  width: number,
): readonly string[] {
  const words = description === undefined ? [] : wrapText(escapeText(description), width)
  return [style.bold(`${name} ${version}`), ...words, style.dim(digest)]
}

function scopeLines({ nodes, output }: ScopeOutline, style: Style, width: number): readonly string[] {
  const gives: readonly Fact[] = output === undefined ? [] : [['gives', output]]
  return [...nodes.flatMap((node) => nodeLines(node, style, width)), ...factLines(gives, style, width)]
}

function nodeLines(
  { id, kind, title, does, facts, inner }: NodeOutline,
  style: Style,
  width: number,
): readonly string[] {
  const first = `${id}  ${kind}  `
  const [head = '', ...more] = hangText(first, escapeText(does), width)
  const words = title === undefined ? [] : wrapText(escapeText(title), width - 2).map((line) => `  ${line}`)
  const within = inner === undefined ? [] : scopeLines(inner, style, width - 4)
  return [
    `${style.bold(id)}  ${style.cyan(kind)}  ${head.slice(first.length)}`,
    ...more,
    ...words,
    ...factLines(facts, style, width - 2).map((line) => `  ${line}`),
    ...within.map((line) => `  ${style.dim('│')} ${line}`),
  ]
}

function factLines(facts: readonly Fact[], style: Style, width: number): readonly string[] {
  let told = ''
  return facts.flatMap(([label, text]) => {
    const first = (label === told ? '' : label).padEnd(LABEL)
    told = label
    return hangText(first, escapeText(text), width).map((line, i) =>
      i === 0 ? style.dim(first) + line.slice(first.length) : line,
    )
  })
}

function widthOf({ columns }: CliOutput): number {
  return Math.max(40, Math.min(columns - 1, WIDEST))
}

function linesText(lines: readonly string[]): string {
  return lines.map((line) => `${line.trimEnd()}\n`).join('')
}
