/** How a run ended, for stderr: the error with its place and the next step, and the summary. */

import { clipText, escapeText } from '../../base/escape-text.ts'
import { showCount } from '../../base/show-count.ts'
import type { GuestError, LeftBehind } from '../../machine/turn.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'
import { nextStep, type RunFacts, sourceAt } from './next-step.ts'
import { sourceExcerpt } from './source-excerpt.ts'
import type { Style } from './style.ts'
import { suspendedLines } from './suspended-lines.ts'
import { hangText } from './wrap-text.ts'

const LONGEST_MESSAGE = 4_000
const MOST_FRAMES = 10
const MOST_CAUSES = 3

/** Everything that is to be said of an end but its value; empty for a completed run without loose ends. */
export function runEnding(outcome: Outcome, facts: RunFacts, columns: number, style: Style): string {
  const width = Math.max(30, columns - 1)
  const lines: string[] = []
  if (outcome.status === 'failed') lines.push(...errorLines(outcome.error, facts, width, style))
  if (outcome.status === 'exhausted') {
    const [first = '', ...others] = hangText('stopped: ', escapeText(outcome.message), width)
    lines.push(style.red('stopped:') + first.slice('stopped:'.length), ...others)
  }
  if (outcome.status === 'suspended') lines.push(...suspendedLines(outcome, width, style))
  if (outcome.status === 'completed' && outcome.left !== undefined) {
    lines.push(`${style.yellow('note:')} the program left ${leftText(outcome.left)} pending`)
  }
  lines.push(...stepLines(outcome, facts, width))
  if (outcome.unwritten !== undefined) lines.push(...unwrittenLines(outcome.unwritten, width, style))
  for (const { name, message } of outcome.unhandledRejections.slice(0, MOST_CAUSES)) {
    const text = `${escapeText(name)}: ${escapeText(clipText(message, 200))}`
    lines.push(`${style.yellow('warning:')} nobody handled an error: ${text}`)
  }
  return lines.map((line) => `${line}\n`).join('')
}

function leftText({ calls, timers }: LeftBehind): string {
  const texts: string[] = []
  if (calls.length > 0) texts.push(`${showCount(calls.length)} ${calls.length === 1 ? 'call' : 'calls'}`)
  if (timers > 0) texts.push(`${showCount(timers)} ${timers === 1 ? 'timer' : 'timers'}`)
  return texts.join(' and ')
}

function stepLines(outcome: Outcome, facts: RunFacts, width: number): readonly string[] {
  const { goOn } = facts
  if (goOn !== undefined) {
    return [...hangText('  next: ', `${escapeText(goOn.text)}:`, width), `    ${escapeText(goOn.command)}`]
  }
  const step = nextStep(outcome, facts)
  return step === undefined ? [] : hangText('  next: ', escapeText(step), width)
}

function unwrittenLines(
  { count, code, message }: NonNullable<Outcome['unwritten']>,
  width: number,
  style: Style,
): readonly string[] {
  const what = count === 1 ? 'a checkpoint' : `${count} checkpoints`
  const text = `${what} could not be written (${escapeText(code)}: ${escapeText(clipText(message, 200))}). Nothing is lost: the log has what was answered.`
  const [first = '', ...others] = hangText('warning: ', text, width)
  return [style.yellow('warning:') + first.slice('warning:'.length), ...others]
}

/** `completed · 124,735 fuel · 0 calls · 768 KiB · 4 ms` */
export function runSummary(outcome: Outcome, columns: number, style: Style): string {
  const { fuel, calls, memoryBytes, wallMs } = outcome.usage
  const parts = [
    outcome.status === 'exhausted' ? `exhausted (${outcome.limit})` : outcome.status,
    `${showCount(fuel)} fuel`,
    `${showCount(calls)} ${calls === 1 ? 'call' : 'calls'}`,
    showSize(memoryBytes),
    showDuration(wallMs),
  ]
  const lines: string[] = []
  for (const part of parts) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + part.length + 4 <= columns)
      lines[lines.length - 1] = `${last} · ${part}`
    else lines.push(part)
  }
  return `${lines.map(style.dim).join('\n')}\n`
}

function errorLines(error: GuestError, facts: RunFacts, width: number, style: Style): readonly string[] {
  const head = `${style.red('failed:')} ${style.bold(heading(error))}`
  const lines = [head]
  const { position } = error
  if (position !== undefined) {
    lines.push(style.dim(`  --> ${escapeText(position.file)}:${position.line}:${position.column}`))
    const [line, caret] = sourceExcerpt(sourceAt(facts, error), position.line, position.column, width - 2)
    if (line !== undefined && caret !== undefined) lines.push(`  ${line}`, `  ${style.red(caret)}`)
  }
  lines.push(...frameLines(error).map(style.dim))
  let cause = error.cause
  for (let i = 0; i < MOST_CAUSES && cause !== undefined; i++, cause = cause.cause) {
    lines.push(`  caused by: ${heading(cause)}`)
  }
  return lines
}

/** Name, message and code. Further lines of the message are indented, as those of the console. */
function heading({ name, message, code }: GuestError): string {
  const text = escapeText(clipText(message, LONGEST_MESSAGE), 'lines').replaceAll('\n', '\n    ')
  const ending = code === undefined ? '' : ` (${escapeText(code)})`
  return `${escapeText(clipText(name, 100))}: ${text}${ending}`
}

/** The frames below the first, which the excerpt shows. */
function frameLines({ stack, position }: GuestError): readonly string[] {
  const frames = (stack ?? '').split('\n').filter((line) => line.trim() !== '')
  const further = position === undefined ? frames : frames.slice(1)
  const shown = further.slice(0, MOST_FRAMES).map((line) => `    ${escapeText(clipText(line.trim(), 200))}`)
  const rest = further.length - shown.length
  return rest > 0 ? [...shown, `    ... ${rest} more`] : shown
}
