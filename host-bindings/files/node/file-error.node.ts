/** What the operating system said, as the library says it: a stable code, the guest's own path, nothing of the host's. */
import { CaissonError, type ErrorCode } from '../../../src/base/errors.ts'
import { showPath } from '../file-path.ts'

const BY_ERRNO: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  ENOENT: ['not_found', 'does not exist'],
  EEXIST: ['already_exists', 'exists already'],
  ENOTEMPTY: ['denied', 'is not empty'],
  ENOTDIR: ['path_denied', 'leads through something that is not a directory'],
  EISDIR: ['path_denied', 'is a directory'],
  ELOOP: ['path_denied', 'leads through a link; links are not followed'],
  ENXIO: ['path_denied', 'is not a plain file'],
  ENAMETOOLONG: ['path_denied', 'has a name too long for the file system'],
  EINVAL: ['path_denied', 'has a name that the file system does not take'],
  EACCES: ['path_denied', 'is not permitted by the operating system'],
  EPERM: ['path_denied', 'is not permitted by the operating system'],
  EROFS: ['path_denied', 'is on a file system that cannot be written'],
  ENOSPC: ['quota_exceeded', 'does not fit: the disk is full'],
  EDQUOT: ['quota_exceeded', 'does not fit: the disk quota is used up'],
  EMFILE: ['quota_exceeded', 'cannot be opened: too many files are open'],
  ENFILE: ['quota_exceeded', 'cannot be opened: too many files are open'],
}

/** The typed error for what happened at `path`. What is not foreseen is returned as it is, for the gate to redact. */
export function fileError(path: string, error: unknown): unknown {
  if (CaissonError.is(error)) return error
  const errno: unknown = (error as { code?: unknown } | null)?.code
  const known = typeof errno === 'string' && Object.hasOwn(BY_ERRNO, errno) ? BY_ERRNO[errno] : undefined
  if (known === undefined) return error
  const [code, problem] = known
  return new CaissonError(code, `The path ${showPath(path)} ${problem}.`, { cause: error })
}
