/** What a server said, or that it cannot be reached, as stores say it: a stable code, and the cause for the host. */
import { CaissonError } from '../../../src/base/errors.ts'

const SQLSTATE = /^[0-9A-Z]{5}$/
/** The schema, a table or a column is not there any more. */
const VANISHED: ReadonlySet<string> = new Set(['3F000', '42P01', '42703'])
/** The transaction was undone, and the same may go well now. */
const UNDONE: ReadonlySet<string> = new Set(['40001', '40P01', '23503'])
/** The server ended the connection with these words. */
const ENDED: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05', '25P03'])

/** The SQLSTATE of an error that the server sent; undefined for anything else. */
function sqlStateOf(error: unknown): string | undefined {
  const { code, severity } = (error ?? {}) as { code?: unknown; severity?: unknown }
  return typeof code === 'string' && typeof severity === 'string' && SQLSTATE.test(code) ? code : undefined
}

/** Whether a transaction was undone by the server because of another one. */
export function wasUndone(error: unknown): boolean {
  return UNDONE.has(sqlStateOf(error) ?? '')
}

/** Whether a connection is of no more use after this error. */
export function isConnectionLost(error: unknown): boolean {
  if (CaissonError.is(error)) return false
  const state = sqlStateOf(error)
  return state === undefined || ENDED.has(state) || state.startsWith('08')
}

/** The typed error for what happened while the store was `doing` something. Typed errors stay as they are. */
export function postgresError(doing: string, cause: unknown): CaissonError {
  if (CaissonError.is(cause)) return cause
  const sqlstate = sqlStateOf(cause)
  if (sqlstate === undefined) {
    const { code } = (cause ?? {}) as { code?: unknown }
    const errno = typeof code === 'string' ? code : undefined
    return new CaissonError(
      'store_failed',
      `The database of the store does not answer (${errno ?? 'connection lost'}): ${doing} failed.`,
      { details: errno === undefined ? {} : { errno }, cause },
    )
  }
  const details = { sqlstate }
  if (sqlstate === '53100') {
    const message = `The disk of the database is full (${sqlstate}): ${doing} failed.`
    return new CaissonError('quota_exceeded', message, { details, cause })
  }
  if (sqlstate.startsWith('XX') && sqlstate !== 'XX000') {
    const message = `The database of the store is damaged (${sqlstate}): ${doing} failed.`
    return new CaissonError('corrupted', message, { details, cause })
  }
  if (VANISHED.has(sqlstate)) {
    return new CaissonError('store_failed', `The tables of the store have vanished (${sqlstate}).`, {
      details: { ...details, vanished: true },
      cause,
    })
  }
  return new CaissonError(
    'store_failed',
    `The database could not do it (${sqlstate}${whatIs(sqlstate)}): ${doing} failed.`,
    { details, cause },
  )
}

/** For the most likely ones, what to look at. */
function whatIs(sqlstate: string): string {
  if (sqlstate === '55P03' || sqlstate === '57014') return ', it took too long'
  if (sqlstate.startsWith('28')) return ', it does not let us in'
  if (sqlstate === '42501') return ', not allowed'
  if (sqlstate === '3D000') return ', there is no such database'
  if (sqlstate === '53300') return ', too many connections'
  return ENDED.has(sqlstate) ? ', it is not up' : ''
}
