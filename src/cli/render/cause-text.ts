/**
 * Why something of the person at the keyboard failed: message, frames of their own code, and what caused it.
 *
 * Invariants
 * 1. Whatever was thrown, the text is at most `MOST_LINES` lines of `LONGEST_LINE` characters, and escaped.
 * 2. No frame of Node or of this package is shown: they say nothing about the mistake.
 */
import { clipText, escapeText } from '../../base/escape-text.ts'

const MOST_LINES = 24
const LONGEST_LINE = 400
const MOST_FRAMES = 6
const MOST_CAUSES = 3
/** Looked at of one stack. */
const LONGEST_STACK = 64 * 1024

/** @param ownFolders how paths and URLs begin whose frames are left out */
export function causeText(cause: unknown, ownFolders: readonly string[]): readonly string[] {
  const lines: string[] = []
  let current = cause
  for (let depth = 0; depth <= MOST_CAUSES; depth++) {
    const { text, next } = describe(current, ownFolders)
    lines.push(...(depth === 0 ? text : text.map((line, i) => (i === 0 ? `caused by: ${line}` : line))))
    if (next === undefined) break
    current = next
  }
  const shown = lines.slice(0, MOST_LINES).map((line) => escapeText(clipText(line, LONGEST_LINE), 'lines'))
  return lines.length > shown.length ? [...shown, `... ${lines.length - shown.length} more lines`] : shown
}

interface Described {
  readonly text: readonly string[]
  readonly next: unknown
}

/** Reads a value that may be anything: getters and proxies of it may throw. */
function describe(value: unknown, ownFolders: readonly string[]): Described {
  try {
    if (!(value instanceof Error)) return { text: String(value).split('\n'), next: undefined }
    const { stack, message, name, cause } = value
    const [head, frames] = splitStack(stack, `${name}: ${message}`)
    const own = (frame: string): boolean =>
      frame.includes('node:internal') || ownFolders.some((folder) => frame.includes(folder))
    const foreign = frames.filter((frame) => !own(frame)).slice(0, MOST_FRAMES)
    return { text: [...head, ...foreign], next: cause }
  } catch {
    return { text: ['(something that cannot be shown)'], next: undefined }
  }
}

/** A stack of V8 or JavaScriptCore: the message may have lines, the frames follow. */
function splitStack(stack: unknown, message: string): readonly [readonly string[], readonly string[]] {
  const lines = message.slice(0, LONGEST_STACK).split('\n')
  if (typeof stack !== 'string') return [lines, []]
  return [
    lines,
    stack
      .slice(0, LONGEST_STACK)
      .split('\n')
      .filter((line) => /^\s+at /.test(line)),
  ]
}
