/** What a parked program waits for, for people. Arguments are the program's: escaped and bounded. */
import { clipText, escapeText } from '../../base/escape-text.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import { jsonText } from './json-text.ts'
import { showValue } from './show-value.ts'
import type { Style } from './style.ts'
import { timerText } from './timer-text.ts'

const MOST_CALLS = 20
const MOST_LINES = 12
const LONGEST_LINE = 400
const INDENT = '      '

type Suspended = Extract<Outcome, { status: 'suspended' }>

/** @param width in columns */
export function suspendedLines(outcome: Suspended, width: number, style: Style): readonly string[] {
  const { pending, inDoubt, answered, wakeAtMs } = outcome
  const count = pending.length
  const calls = `${count} ${count === 1 ? 'call' : 'calls'}`
  const head =
    inDoubt.length > 0
      ? `waiting for ${calls}, ${inDoubt.length} of them in doubt`
      : count === 0
        ? 'it waits for its timers'
        : `before ${count === 1 ? 'a call was' : `${calls} were`} made`
  const lines = [`${style.yellow('suspended:')} ${head}`]
  const known = new Set(answered.map(({ id }) => id))
  const doubtful = new Set(inDoubt)
  for (const { id, capability, args } of pending.slice(0, MOST_CALLS)) {
    const state = doubtful.has(id) ? '  in doubt' : known.has(id) ? '  answered' : ''
    lines.push(`  call ${id}  ${style.bold(escapeText(clipText(capability, 200)))}${style.yellow(state)}`)
    lines.push(...argumentLines(args, width))
  }
  if (wakeAtMs !== undefined) lines.push(`  ${timerText(wakeAtMs)}`)
  if (count > MOST_CALLS) lines.push(`  ... ${count - MOST_CALLS} more (--json prints everything)`)
  return lines
}

/** The arguments of a call, indented below it. Nothing for a call without any. */
export function argumentLines(args: unknown, width: number): readonly string[] {
  if (args === undefined) return []
  const text =
    typeof args === 'string' ? jsonText(clipText(args, LONGEST_LINE)) : showValue(args, width - INDENT.length)
  const all = text.split('\n')
  const shown = all.slice(0, MOST_LINES).map((line) => INDENT + clipText(line, LONGEST_LINE))
  const rest = all.length - shown.length
  return rest > 0 ? [...shown, `${INDENT}... ${rest} more lines (--json prints everything)`] : shown
}
