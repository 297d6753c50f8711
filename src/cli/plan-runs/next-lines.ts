/** What can be done next, as lines for people. */
import { escapeText } from '../../base/escape-text.ts'
import { hangText } from '../render/wrap-text.ts'
import type { NextCommand } from './next-commands.ts'

/** `  next: approve it:` and below it the command, whole, so that it can be copied. */
export function nextLines(next: readonly NextCommand[], width: number): readonly string[] {
  return next.flatMap(({ text, command }, i) => [
    ...hangText(i === 0 ? '  next: ' : '        ', `${text}:`, width),
    `    ${escapeText(command)}`,
  ])
}
