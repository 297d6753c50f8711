/**
 * What the engine says of a source that it cannot parse, in terms of what the author wrote.
 *
 * The engine sees text of ours around the body of a function. A program that ends too early, as the truncated
 * answer of a model does, fails behind its own end; one that closes a bracket too many closes ours. Neither may show.
 *
 * Invariants
 * 1. The position lies within the source, or directly behind its last character that is not blank.
 * 2. The message names no token that the author did not write.
 */
import type { GuestError } from '../machine/turn.ts'
import { openBody, type ProgramAttempt } from './forms.ts'
import { indexOfPlace, placeOfIndex, type SourcePlace } from './source-place.ts'

/** Complaints of the engine that something is missing. All others are about what stands there. */
const WANTS_MORE =
  /^(?:unexpected |expecting |expected |missing (?:formal|binding)|invalid (?:property name|switch statement|export syntax)$)| expected$/

/** The stack of a parse error is one place: there is no function around it. */
const ONE_PLACE = /^ *at [^()\n]{1,2000}:\d{1,9}:\d{1,9}\n?$/

/**
 * @param error what an attempt to evaluate `source` failed with, in positions of the source; what is no error of the
 *   parser comes back as it is
 * @param parses whether the engine can parse a text; nothing of it may run
 */
export function explainSyntaxError(
  error: GuestError,
  source: string,
  form: ProgramAttempt['form'],
  parses: (code: string) => boolean,
): GuestError {
  const { name, message, position } = error
  if (name !== 'SyntaxError' || position === undefined || !ONE_PLACE.test(error.stack ?? '')) return error
  const end = placeOfIndex(source, source.trimEnd().length)
  const behind = position.line > end.line || (position.line === end.line && position.column >= end.column)
  if (form === 'body') {
    const before = source.slice(0, indexOfPlace(source, position))
    if (closesOurs(before, message, behind, parses)) {
      const bracket = placeOfIndex(source, Math.max(0, before.lastIndexOf('}')))
      return at(error, bracket, "unexpected token in expression: '}'")
    }
  }
  if (!behind) return error
  return at(error, end, WANTS_MORE.test(message) ? 'unexpected end of the program' : message)
}

/** Whether a bracket in `before` closed the function that stands around a body, or that and the parenthesis. */
function closesOurs(
  before: string,
  message: string,
  behind: boolean,
  parses: (code: string) => boolean,
): boolean {
  if (message === "expecting ')'") return parses(`${openBody(before)}\n)`)
  return behind && parses(openBody(before))
}

function at(error: GuestError, { line, column }: SourcePlace, message: string): GuestError {
  const file = error.position?.file ?? ''
  return {
    ...error,
    message,
    stack: `    at ${file}:${line}:${column}`,
    position: { file, line, column },
  }
}
