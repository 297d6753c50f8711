/** What SQLite said, as stores say it: a stable code, and the cause for whoever runs the host. */
import { CaissonError } from '../../../src/base/errors.ts'

/** The `code` of an error of SQLite, such as `SQLITE_FULL`; undefined for anything else. */
function sqliteCodeOf(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined
}

/** Whether another process or connection is in the way, and the same may go well later. */
export function isLocked(error: unknown): boolean {
  return /^SQLITE_(?:BUSY|LOCKED|PROTOCOL)(?:_|$)/.test(sqliteCodeOf(error) ?? '')
}

/** The typed error for what SQLite said while the store was `doing` something. Typed errors stay as they are. */
export function sqliteError(doing: string, cause: unknown): CaissonError {
  if (CaissonError.is(cause)) return cause
  const sqlite = sqliteCodeOf(cause)
  const errno: unknown = (cause as { code?: unknown } | null)?.code
  if (sqlite === 'SQLITE_FULL' || errno === 'ENOSPC' || errno === 'EDQUOT') {
    return new CaissonError('quota_exceeded', `The disk, or the store, is full: ${doing} failed.`, {
      details: sqlite === undefined ? { errno } : { sqlite },
      cause,
    })
  }
  if (/^SQLITE_(?:CORRUPT|NOTADB)(?:_|$)/.test(sqlite ?? '')) {
    return new CaissonError('corrupted', `The database of the store is damaged: ${doing} failed.`, {
      details: { sqlite },
      cause,
    })
  }
  if (isLocked(cause)) {
    return new CaissonError(
      'store_failed',
      `Another process has locked the database of the store: ${doing} failed.`,
      { details: { sqlite, locked: true }, cause },
    )
  }
  const what = sqlite ?? (typeof errno === 'string' ? errno : 'unknown')
  return new CaissonError('store_failed', `The store could not do it (${what}): ${doing} failed.`, {
    details: sqlite === undefined ? (typeof errno === 'string' ? { errno } : {}) : { sqlite },
    cause,
  })
}
