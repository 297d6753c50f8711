/**
 * A run of a plan as it stands, in so many lines of such a width: its head, the tree of its nodes, what is left of its
 * budget, and who is waited for. What the live view shows again and again.
 */
import { escapeText } from '../../base/escape-text.ts'
import type { NodeView, RunView } from '../../runtime/plans/run-view.ts'
import { displayWidth } from '../render/display-width.ts'
import { type LinePiece, paintedLine } from '../render/painted-line.ts'
import { shownText } from '../render/shown-text.ts'
import type { Style } from '../render/style.ts'
import { budgetTexts, usedTexts } from './budget-text.ts'
import { type NodeTextSetting, rowText, runningText, waitText } from './node-text.ts'
import { someOf } from './some-of.ts'
import { treeRows } from './tree-rows.ts'
import { visitNodeViews } from './visit-node-views.ts'

export interface FrameSize {
  /** In columns. */
  readonly width: number
  /** In lines, at least 4. */
  readonly height: number
}

/** What a run is of, as far as a frame shows it. */
export type FramedRun = Pick<
  RunView,
  | 'run'
  | 'plan'
  | 'status'
  | 'startedAtMs'
  | 'changedAtMs'
  | 'nodes'
  | 'used'
  | 'budget'
  | 'more'
  | 'requests'
>

/** @returns at most `height` lines, none of them wider than `width` */
export function runFrame(
  view: FramedRun,
  { width, height }: FrameSize,
  nowMs: number,
  style: Style,
): readonly string[] {
  const foot = [...budgetLines(view, width, nowMs), ...waitLines(view, nowMs)]
  // The tree is what is looked at: where there is little room, what stands below it goes first.
  const below = foot.slice(0, Math.max(0, Math.min(foot.length, height - 4)))
  const rows = treeRows(view.nodes, Math.max(1, height - 1 - below.length))
  return [
    headLine(view, width, nowMs, style),
    ...rows.map((row) => rowText(row, { width, style, nowMs, isStill: standsStill(view) })),
    ...below.map((pieces) => paintedLine(paintDim(pieces, style), width)),
  ]
}

/** The tree alone, whole: for what does not move. */
export function treeText(
  nodes: readonly NodeView[],
  most: number,
  setting: NodeTextSetting,
): readonly string[] {
  return treeRows(nodes, most).map((row) => rowText(row, setting))
}

/** Whether nothing goes on in it before somebody says so, whatever is under way. */
export function standsStill({ status }: Pick<RunView, 'status'>): boolean {
  return status === 'frozen' || status === 'interrupted'
}

function headLine(view: FramedRun, width: number, nowMs: number, style: Style): string {
  const { run, plan, status, startedAtMs } = view
  const ms = startedAtMs === undefined ? undefined : Math.max(0, nowMs - startedAtMs)
  const age = ms === undefined ? [] : [runningText(ms)]
  const pieces: LinePiece[] = [
    { text: escapeText(run), paint: style.bold },
    { text: `  ${status}`, paint: style.cyan },
    {
      text: ['', ...age, `${plan.name} ${shownText(plan.version, 60)}`].join(' · '),
      paint: style.dim,
    },
  ]
  return paintedLine(pieces, width)
}

function budgetLines(
  { budget, used, more, startedAtMs }: FramedRun,
  width: number,
  nowMs: number,
): readonly string[] {
  const wallMs = startedAtMs === undefined ? 0 : Math.max(0, nowMs - startedAtMs)
  const left = budgetTexts(budget, { ...used, wallMs: Math.floor(wallMs / 1_000) * 1_000 }, more)
  return left.length > 0 ? packed('left: ', left, width) : packed('used: ', usedTexts(used), width)
}

/** As many texts in a line as fit, with dots between them. */
function packed(label: string, texts: readonly string[], width: number): readonly string[] {
  const lines: string[] = []
  for (const text of texts) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(label + text)
    else if (displayWidth(last) + displayWidth(text) + 3 <= width)
      lines[lines.length - 1] = `${last} · ${text}`
    else lines.push(' '.repeat(label.length) + text)
  }
  return lines
}

const MOST_WAITING = 5

function waitLines({ nodes }: FramedRun, nowMs: number): readonly string[] {
  const people: string[] = []
  const others: string[] = []
  visitNodeViews(nodes, (node) => {
    const text = waitText(node, nowMs)
    if (text === undefined || node.waits === 'retry') return
    if (node.waits === 'person') people.push(escapeText(node.path))
    else others.push(`${escapeText(node.path)} ${text}`)
  })
  return [
    ...(people.length === 0 ? [] : [`a person is asked: ${someOf(people, MOST_WAITING)}`]),
    ...(others.length === 0 ? [] : [someOf(others, MOST_WAITING)]),
  ]
}

function paintDim(text: string, style: Style): readonly LinePiece[] {
  return [{ text, paint: style.dim }]
}
