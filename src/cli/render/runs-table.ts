/** The runs of a store, for a terminal of any width, or as tab-separated lines for a pipe. */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { ListedRun } from '../../runtime/describe-run.ts'
import type { PlanSummary } from '../../runtime/plan-summary.ts'
import type { CliOutput } from '../cli-io.ts'
import { showSize } from '../units/parse-size.ts'
import { showAge } from '../units/show-age.ts'
import { callText } from './call-text.ts'
import { type Style, styleFor } from './style.ts'
import { timerText } from './timer-text.ts'

/** Below this, what a run waits for stands under it rather than beside it. */
const BESIDE_FROM = 100
const HEADINGS = ['RUN', 'STATUS', 'AGE', 'CHECKPOINTS OR PLAN', 'WAITS FOR'] as const

/** @param nowMs milliseconds since the epoch */
export function runsTable(runs: readonly ListedRun[], nowMs: number, output: CliOutput): string {
  if (!output.isTerminal) return runs.map((run) => `${cells(run, nowMs).join('\t')}\n`).join('')
  const rows = runs.map((run) => cells(run, nowMs))
  return output.columns < BESIDE_FROM
    ? stacked(rows, output.columns, styleFor(output))
    : sideBySide(rows, output.columns, styleFor(output))
}

type Row = readonly [run: string, status: string, age: string, checkpoints: string, waitsFor: string]

function cells(listed: ListedRun, nowMs: number): Row {
  const { run, summary, checkpoints, checkpointBytes, missing, plan } = listed
  if (plan !== undefined) return planCells(run, plan, nowMs)
  if (listed.isShelf === true) return [escapeText(run), 'values', '-', '0', '-']
  const timers = summary?.wakeAtMs === undefined ? [] : [timerText(summary.wakeAtMs)]
  const waits = [...(summary?.pending ?? []).map(callText), ...timers].join(', ')
  const size = checkpoints === 0 ? '0' : `${checkpoints}, ${showSize(checkpointBytes)}`
  return [
    escapeText(run),
    missing > 0 ? 'damaged' : (summary?.status ?? 'unreadable'),
    summary?.atMs ? showAge(nowMs - summary.atMs) : '-',
    missing > 0 ? `${size}, ${missing} missing` : size,
    waits === '' ? '-' : waits,
  ]
}

/** A summary was written by whoever wrote to the store. */
function planCells(
  run: string,
  { status, plan, requests = 0, events = [], wakeAtMs, atMs }: PlanSummary,
  nowMs: number,
): Row {
  const people = requests === 0 ? [] : [requests === 1 ? 'a person' : `people, ${requests} requests`]
  const outside = events.map((event) => `the event "${escapeText(clipText(event, 60))}"`)
  const timers = wakeAtMs === undefined ? [] : [timerText(wakeAtMs)]
  return [
    escapeText(run),
    escapeText(clipText(status, 20)),
    Number.isFinite(atMs) ? showAge(nowMs - atMs) : '-',
    `plan ${escapeText(clipText(plan.name, 64))} ${escapeText(clipText(plan.version, 20))}`,
    [...people, ...outside, ...timers].join(', ') || '-',
  ]
}

function sideBySide(rows: readonly Row[], columns: number, style: Style): string {
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...rows.map((row) => (row[i] ?? '').length)),
  )
  const line = (row: readonly string[], paint?: (text: string, index: number) => string): string => {
    const used = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0)
    return row
      .map((cell, i) => {
        const last = i === row.length - 1
        const text = last ? cut(cell, columns - used - 1) : cell.padEnd((widths[i] ?? 0) + 2)
        return paint?.(text, i) ?? text
      })
      .join('')
      .trimEnd()
  }
  const head = style.bold(line(HEADINGS))
  const body = rows.map((row) =>
    line(row, (text, i) => (i === 1 ? paintOf(row[1], style)(text) : i === 0 ? style.bold(text) : text)),
  )
  return [head, ...body].map((text) => `${text}\n`).join('')
}

/** Two lines for each run; the name may be longer than the terminal is wide. */
function stacked(rows: readonly Row[], columns: number, style: Style): string {
  return rows
    .map(([run, status, age, checkpoints, waitsFor]) => {
      const count = checkpoints.startsWith('plan ')
        ? checkpoints
        : checkpoints === '0'
          ? 'no checkpoint'
          : `checkpoints ${checkpoints}`
      const under = waitsFor === '-' ? '' : `  ${cut(waitsFor, columns - 3)}\n`
      return `${style.bold(run)}\n  ${paintOf(status, style)(status)} · ${age} · ${count}\n${under}`
    })
    .join('')
}

function paintOf(status: string, style: Style): (text: string) => string {
  switch (status) {
    case 'completed':
      return style.green
    case 'running':
    case 'waiting':
    case 'proposed':
    case 'approved':
      return style.yellow
    default:
      return style.red
  }
}

function cut(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, Math.max(1, width - 1))}…`
}
