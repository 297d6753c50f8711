/** What Node says of the file system, as what the guest is told: a code, and nothing of the host's paths. */
import type { WasiFileError } from '../../../src/ports/wasi-files.ts'
import { FileFailure } from '../files/file-failure.ts'

const CODES: Readonly<Record<string, WasiFileError>> = {
  EACCES: 'access',
  EBADF: 'bad-descriptor',
  EBUSY: 'busy',
  EDQUOT: 'quota',
  EEXIST: 'exist',
  EFBIG: 'file-too-large',
  EILSEQ: 'illegal-byte-sequence',
  EINVAL: 'invalid',
  EISDIR: 'is-directory',
  ELOOP: 'loop',
  EMFILE: 'too-many-open',
  ENFILE: 'too-many-open',
  ENAMETOOLONG: 'name-too-long',
  ENOENT: 'no-entry',
  ENOSPC: 'insufficient-space',
  ENOTDIR: 'not-directory',
  ENOTEMPTY: 'not-empty',
  EPERM: 'not-permitted',
  EROFS: 'read-only',
  EXDEV: 'cross-device',
}

/** @throws FileFailure for anything that `act` throws */
export function orFileFailure<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    if (error instanceof FileFailure) throw error
    const { code } = Object(error) as { code?: unknown }
    throw new FileFailure((typeof code === 'string' ? CODES[code] : undefined) ?? 'io')
  }
}
