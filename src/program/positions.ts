/**
 * Positions in the author's source, from the stacks of the engine.
 *
 * A frame line of the engine reads `    at name (file:line:column)`, that of a syntax error
 * `    at file:line:column`. The text is a guest's: bounded, and
 * taken apart without backtracking.
 */
import type { GuestError } from '../machine/turn.ts'

/** How the names of files begin that are ours: nothing in them is a place of an author's. */
const OURS = 'caisson:'

/** The first line of a program was shifted right by this many columns before the engine saw it. */
export interface SourceShift {
  readonly fileName: string
  readonly columns: number
}

/** A line of a stack: what stands before the file, file, line, column, what stands behind. */
export const FRAME: RegExp = /^( *at (?:[^\n(]*\()?)([^\n()]*):(\d{1,9}):(\d{1,9})(\)?)$/

/** Moves the positions of the first line back to where the author wrote it, and names where it was thrown. */
export function locateError(error: GuestError, shift: SourceShift): GuestError {
  if (error.stack === undefined) return error
  let position: GuestError['position']
  const lines: string[] = []
  for (const line of error.stack.split('\n')) {
    const frame = line.length < 1_000 ? FRAME.exec(line) : null
    if (frame === null) {
      if (line !== '') lines.push(line)
      continue
    }
    const [, before = '', file = '', lineText = '', columnText = '', after = ''] = frame
    if (file.startsWith(OURS)) continue
    const lineNumber = Number(lineText)
    const shifted = file === shift.fileName && lineNumber === 1
    const column = shifted ? Math.max(1, Number(columnText) - shift.columns) : Number(columnText)
    if (!file.startsWith('<')) position ??= { file, line: lineNumber, column }
    lines.push(`${before}${file}:${lineNumber}:${column}${after}`)
  }
  const { cause, position: thrownAt, ...rest } = error
  if (thrownAt?.file.startsWith(OURS) === false) position ??= thrownAt
  return {
    ...rest,
    stack: lines.join('\n'),
    ...(position === undefined ? {} : { position }),
    ...(cause === undefined ? {} : { cause: locateError(cause, shift) }),
  }
}
