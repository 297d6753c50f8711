/** A node of a run in a line: how it stands, for how long, what it waits for. Texts of plans are escaped and bounded. */
import { escapeText } from '../../base/escape-text.ts'
import { showCount } from '../../base/show-count.ts'
import type { NodeView } from '../../runtime/plans/run-view.ts'
import { type LinePiece, paintedLine } from '../render/painted-line.ts'
import { shownText } from '../render/shown-text.ts'
import type { Style } from '../render/style.ts'
import { showDuration } from '../units/parse-duration.ts'
import { budgetTexts } from './budget-text.ts'
import type { NodeStatusShown, TreeRow } from './tree-rows.ts'

const LONGEST_MESSAGE = 300
/** Below this many columns, how a node stands matters more than of what kind it is. */
const KIND_FROM = 56
/** Of what is under way: tenths of a second are enough, and finer ones flicker. */
const STEP_MS = 100

/** One column each. */
const MARKS: Readonly<Record<NodeStatusShown, string>> = {
  pending: '·',
  running: '●',
  waiting: '○',
  retrying: '↻',
  frozen: '!',
  completed: '✓',
  failed: '✗',
  skipped: '-',
  cancelled: '-',
  compensating: '↩',
  compensated: '↩',
  uncompensated: '✗',
}

const WORDS: Readonly<Record<NodeStatusShown, string>> = {
  pending: 'pending',
  running: 'running',
  waiting: 'waiting',
  retrying: 'waiting to try again',
  frozen: 'in doubt',
  completed: 'completed',
  failed: 'failed',
  skipped: 'skipped',
  cancelled: 'called off',
  compensating: 'being undone',
  compensated: 'undone',
  uncompensated: 'not undone',
}

const STANDS_STILL = 'stands still'

const SKIPPED: Readonly<Record<NonNullable<NodeView['skipped']>, string>> = {
  condition: 'its condition is not met',
  not_chosen: 'not chosen',
  not_needed: 'not needed',
  skipped_before: 'what it waits for was skipped',
  decided: 'somebody decided so',
}

export interface NodeTextSetting {
  /** In columns. */
  readonly width: number
  readonly style: Style
  /** Milliseconds since the epoch. */
  readonly nowMs: number
  /** Whether nobody drives the run: what is under way in it stands still. */
  readonly isStill?: boolean
}

/** A row of the tree. */
export function rowText(row: TreeRow, setting: NodeTextSetting): string {
  const { width, style } = setting
  const indent = '  '.repeat(Math.min(row.depth, 8))
  if ('counts' in row) {
    const counts = [...row.counts].map(([status, count]) => `${showCount(count)} ${WORDS[status]}`)
    return paintedLine([{ text: `${indent}… ${counts.join(', ')}`, paint: style.dim }], width)
  }
  const { node, name } = row
  // What is taken up again waits until then.
  const shown = setting.isStill && node.status === 'running' ? 'waiting' : node.status
  const paint = paintOf(shown, style)
  const facts = nodeFacts(node, setting)
  return paintedLine(
    [
      { text: `${indent}${MARKS[shown]} `, paint },
      { text: escapeText(name), paint: node.status === 'pending' ? style.dim : style.bold },
      ...(width < KIND_FROM ? [] : [{ text: `  ${node.kind}`, paint: style.dim }]),
      ...facts.flatMap((text, i): LinePiece[] => [{ text: i === 0 ? '  ' : ', ' }, { text }]),
    ],
    width,
  )
}

function paintOf(status: NodeStatusShown, style: Style): (text: string) => string {
  switch (status) {
    case 'completed':
      return style.green
    case 'failed':
    case 'uncompensated':
      return style.red
    case 'waiting':
    case 'retrying':
    case 'frozen':
    case 'compensating':
      return style.yellow
    case 'running':
      return style.cyan
    default:
      return style.dim
  }
}

/** What there is to say of a node, the most important first. */
function nodeFacts(
  node: NodeView,
  { nowMs, isStill = false }: Pick<NodeTextSetting, 'nowMs' | 'isStill'>,
): readonly string[] {
  const { status, attempt, error, skipped, startedAtMs, endedAtMs } = node
  if (status === 'pending') return []
  const stands = isStill && status === 'running'
  const facts = [stands ? STANDS_STILL : (waitText(node, nowMs) ?? WORDS[status])]
  if (isStill && node.unanswered === true) facts.push('its call has no answer, and may have happened')
  if (skipped !== undefined) facts.push(SKIPPED[skipped])
  facts.push(...progressOf(node))
  if (startedAtMs !== undefined && status !== 'skipped' && !stands) {
    const ms = Math.max(0, (endedAtMs ?? nowMs) - startedAtMs)
    facts.push(endedAtMs === undefined ? runningText(ms) : showDuration(ms))
  }
  if (attempt > 1) facts.push(`attempt ${attempt}`)
  if (error !== undefined)
    facts.push(`${shownText(error.code, 100)}: ${shownText(error.message, LONGEST_MESSAGE)}`)
  facts.push(...budgetTexts(node.budget, node.used).map((text) => `${text} left`))
  return facts
}

/** What a node waits for; undefined where it does not. */
export function waitText(
  { waits, untilMs, event }: Pick<NodeView, 'waits' | 'untilMs' | 'event'>,
  nowMs: number,
): string | undefined {
  const left = untilMs === undefined ? undefined : leftText(untilMs - nowMs)
  switch (waits) {
    case 'person':
      return 'waits for a person'
    case 'event': {
      const name = shownText(event ?? '', 100)
      return `waits for the event "${name}"${left === undefined ? '' : `, ${left} at most`}`
    }
    case 'time':
      return `waits ${left ?? ''} more`
    case 'retry':
      return `tries again in ${left ?? 'a moment'}`
    default:
      return undefined
  }
}

/** In whole seconds: a line that changes more often than it says something new only flickers. */
function leftText(ms: number): string {
  return showDuration(Math.max(0, Math.ceil(ms / 1_000) * 1_000))
}

function progressOf({ kind, items, ended }: NodeView): readonly string[] {
  if (kind === 'each' && items !== undefined) return [`${showCount(ended ?? 0)} of ${showCount(items)} items`]
  if (kind === 'loop' && ended !== undefined && ended > 0)
    return [`${showCount(ended)} ${ended === 1 ? 'round' : 'rounds'}`]
  return []
}

/** How long something has been under way. @param ms milliseconds */
export function runningText(ms: number): string {
  return showDuration(Math.floor(ms / STEP_MS) * STEP_MS)
}
