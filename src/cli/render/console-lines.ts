/** What the program logged, for stderr. */
import { escapeText } from '../../base/escape-text.ts'
import type { LogEntry } from '../../machine/turn.ts'
import type { Style } from './style.ts'

/**
 * Each line with its level, further lines of the same entry indented: nothing that a program writes can stand at
 * the beginning of a line and pass for a message of this command.
 */
export function consoleLines(logs: readonly LogEntry[], dropped: number, style: Style): string {
  const shown = logs.map(({ level, text }) => {
    const lines = escapeText(text, 'lines').replaceAll('\n', '\n      ')
    return `${paintLevel(level, `[${level}]`, style)} ${lines}\n`
  })
  const rest = dropped > 0 ? style.dim(`[console] ${dropped} more did not fit and were dropped`) : ''
  return shown.join('') + (rest === '' ? '' : `${rest}\n`)
}

function paintLevel(level: LogEntry['level'], label: string, style: Style): string {
  switch (level) {
    case 'error':
      return style.red(label)
    case 'warn':
      return style.yellow(label)
    default:
      return style.dim(label)
  }
}
