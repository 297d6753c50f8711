/**
 * What the database said, as a program may hear it: SQLSTATE, the message for the author of a query, and where in the
 * text. Not its details, hints and context (they show rows and definitions), and nothing about the server's own state.
 */
import { CaissonError } from '../../src/base/errors.ts'

/**
 * Classes of SQLSTATE that are about the query and its data: not supported, cardinality, data, constraints, cursors,
 * transaction state, serialization, syntax and access rules, limits of a program, and what a function raised on purpose.
 * (PostgreSQL, Appendix A.)
 */
const ABOUT_THE_QUERY: ReadonlySet<string> = new Set('0A 21 22 23 24 25 34 40 42 44 54 P0'.split(' '))
/** The number of parameters does not fit: protocol to the server, a mistake of the query to its author. */
const WRONG_PARAMETERS = '08P01'
const QUERY_CANCELED = '57014'
const READ_ONLY = '25006'
const MAX_MESSAGE = 500

/** Thrown by PGlite before it sends a parameter of the wrong kind. */
const WRONG_PARAMETER = /^Invalid input for [\w ]{1,40}$/

/**
 * The typed error for what a query was answered with: `timeout`, `denied` or `query_failed`. Everything else is
 * returned as it is, for the gate to redact.
 * @param prefixLength characters that stood before the program's own text
 */
export function sqlError(error: unknown, prefixLength: number): unknown {
  if (CaissonError.is(error) || typeof error !== 'object' || error === null) return error
  const { code, message, position } = error as { code?: unknown; message?: unknown; position?: unknown }
  const said = (typeof message === 'string' ? message : '').slice(0, MAX_MESSAGE)
  if (typeof code !== 'string') {
    if (!WRONG_PARAMETER.test(said)) return error
    return new CaissonError('query_failed', `A parameter does not fit: ${said}.`, { cause: error })
  }
  if (code === QUERY_CANCELED) {
    return new CaissonError('timeout', 'The query took longer than it may.', { cause: error })
  }
  if (code === READ_ONLY) {
    return new CaissonError('denied', `This is for reading only: ${said}.`, { cause: error })
  }
  if (!ABOUT_THE_QUERY.has(code.slice(0, 2)) && code !== WRONG_PARAMETERS) return error
  const at = Number(position) - prefixLength
  const details = { sqlstate: code, ...(at >= 1 && { position: at }) }
  return new CaissonError('query_failed', `${said} (SQLSTATE ${code}).`, { details, cause: error })
}
