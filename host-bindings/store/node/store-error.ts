/** What the operating system said, as stores say it: a stable code, and the cause for whoever runs the host. */
import { CaissonError } from '../../../src/base/errors.ts'

/** Errors that mean "full". */
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

/** The `code` of an error of `node:fs`; undefined for anything else. */
export function errnoOf(error: unknown): string | undefined {
  const code: unknown = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** The typed error for what happened while the store was `doing` something. Typed errors stay as they are. */
export function storeError(doing: string, cause: unknown): CaissonError {
  if (CaissonError.is(cause)) return cause
  const errno = errnoOf(cause)
  if (errno !== undefined && FULL.has(errno)) {
    return new CaissonError('quota_exceeded', `The disk is full (${errno}): ${doing} failed.`, {
      details: { errno },
      cause,
    })
  }
  return new CaissonError(
    'store_failed',
    `The store could not do it (${errno ?? 'unknown'}): ${doing} failed.`,
    {
      details: errno === undefined ? {} : { errno },
      cause,
    },
  )
}

/** Runs `act`, and says what it was doing when it fails. */
export async function storing<T>(doing: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act()
  } catch (error) {
    throw storeError(doing, error)
  }
}

/** Runs `act`; undefined where what it needs is not there. */
export async function ifThere<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined
    throw error
  }
}

/** The refusal for bytes on the disk that are not what the store wrote. */
export function damaged(what: string, details: Readonly<Record<string, unknown>> = {}): CaissonError {
  return new CaissonError('corrupted', `The store is damaged: ${what}.`, { details })
}
