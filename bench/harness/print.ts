/** The report as text: a table per case, reasons of those who are missing, and the geometric means. */

import type { Dropout } from './measure.ts'
import { formatQuantity, threeDigits } from './quantity.ts'
import type { CaseReport, Report, Result, SuiteReport } from './report.ts'
import type { Ratio } from './statistics.ts'
import { type Column, tableLines, wrap } from './table.ts'

const COLUMNS: readonly Column[] = [
  { title: 'subject', align: 'left' },
  { title: 'median', align: 'right' },
  { title: '± MAD', align: 'right' },
  { title: 'CPU', align: 'right' },
  { title: 'ratio', align: 'right' },
  { title: '95 % interval', align: 'left' },
]

/** `1.25x`, or `0.04x` for what is far below the base. */
export function formatRatio(ratio: number): string {
  return `${threeDigits(ratio)}x`
}

function formatInterval({ low, high }: Ratio): string {
  return `${threeDigits(low)} .. ${threeDigits(high)}`
}

function row({ subject, wall, cpu, ratio }: Result, { unit, base }: CaseReport): string[] {
  return [
    subject,
    formatQuantity(wall.median, unit),
    `${Math.round((100 * wall.mad) / Math.max(wall.median, Number.MIN_VALUE))} %`,
    cpu ? formatQuantity(cpu.median, 'ns') : '-',
    ratio ? formatRatio(ratio.median) : subject === base ? 'base' : '-',
    ratio ? formatInterval(ratio) : '',
  ]
}

function caseLines(report: CaseReport, width: number): string[] {
  const byCost = [...report.results].sort((a, b) => a.wall.median - b.wall.median)
  return [
    ...wrap(`${report.name}: ${report.description}`, width),
    ...tableLines(
      COLUMNS,
      byCost.map((result) => row(result, report)),
      width,
    ),
    ...[...reasonsOf(report.absent)].flatMap(([reason, subjects]) =>
      wrap(`${subjects.join(', ')}: ${reason}`, width, '  '),
    ),
    '',
  ]
}

/** Each reason with all subjects that have it. */
function reasonsOf(absent: readonly Dropout[]): Map<string, string[]> {
  const reasons = new Map<string, string[]>()
  for (const { subject, reason } of absent) reasons.set(reason, [...(reasons.get(reason) ?? []), subject])
  return reasons
}

/** One suite, ending in an empty line. `width` in characters. */
export function suiteLines(suite: SuiteReport, width: number): string[] {
  const title = `== ${suite.name}`
  const lines = [
    title,
    ...wrap(suite.description, width),
    '',
    ...suite.cases.flatMap((each) => caseLines(each, width)),
  ]
  if (!suite.summary || suite.summary.length === 0) return lines
  const base = suite.cases.find((each) => each.base)?.base ?? ''
  return [
    ...lines,
    ...wrap(`geometric mean of the ratios to ${base}`, width),
    ...tableLines(
      [
        { title: 'subject', align: 'left' },
        { title: 'ratio', align: 'right' },
        { title: 'cases', align: 'right' },
      ],
      suite.summary.map(({ subject, ratio, cases }) => [subject, formatRatio(ratio), String(cases)]),
      width,
    ),
    '',
  ]
}

/** What stands above the tables: machine, plan, and who takes part. */
export function headLines({ environment, plan, subjects, absent }: Report, width: number): string[] {
  const { runtime, platform, cpu, cores, loadPerCore, date } = environment
  return [
    ...wrap(`${runtime}, ${platform}, ${cpu}, ${cores} cores, load ${loadPerCore} per core, ${date}`, width),
    ...wrap(
      `${plan.rounds} interleaved rounds of ${plan.sliceMs} ms per subject after ${plan.warmUpMs} ms of warm-up; figures are medians over the rounds, ratios are per round`,
      width,
    ),
    ...subjects.flatMap(({ id, version, note }) => wrap(`${id} ${version}: ${note}`, width, '  ')),
    ...absent.flatMap(({ subject, reason }) => wrap(`${subject} is missing: ${reason}`, width, '  ')),
    '',
  ]
}
