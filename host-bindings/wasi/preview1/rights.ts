/** Rights of descriptors: what each kind can have, so that none promises what it cannot do. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import { FileFailure } from '../files/file-failure.ts'

const union = (...rights: readonly number[]): bigint => rights.reduce((all, right) => all | BigInt(right), 0n)

export const STREAM_IN_RIGHTS: bigint = union(
  wasi.RIGHTS_FD_READ,
  wasi.RIGHTS_FD_FDSTAT_SET_FLAGS,
  wasi.RIGHTS_FD_FILESTAT_GET,
  wasi.RIGHTS_POLL_FD_READWRITE,
)

export const STREAM_OUT_RIGHTS: bigint = union(
  wasi.RIGHTS_FD_WRITE,
  wasi.RIGHTS_FD_FDSTAT_SET_FLAGS,
  wasi.RIGHTS_FD_FILESTAT_GET,
  wasi.RIGHTS_POLL_FD_READWRITE,
)

export const FILE_RIGHTS: bigint = union(
  wasi.RIGHTS_FD_DATASYNC,
  wasi.RIGHTS_FD_READ,
  wasi.RIGHTS_FD_SEEK,
  wasi.RIGHTS_FD_FDSTAT_SET_FLAGS,
  wasi.RIGHTS_FD_SYNC,
  wasi.RIGHTS_FD_TELL,
  wasi.RIGHTS_FD_WRITE,
  wasi.RIGHTS_FD_ADVISE,
  wasi.RIGHTS_FD_ALLOCATE,
  wasi.RIGHTS_FD_FILESTAT_GET,
  wasi.RIGHTS_FD_FILESTAT_SET_SIZE,
  wasi.RIGHTS_FD_FILESTAT_SET_TIMES,
  wasi.RIGHTS_POLL_FD_READWRITE,
)

export const DIRECTORY_RIGHTS: bigint = union(
  wasi.RIGHTS_FD_DATASYNC,
  wasi.RIGHTS_FD_SYNC,
  wasi.RIGHTS_FD_FDSTAT_SET_FLAGS,
  wasi.RIGHTS_FD_READDIR,
  wasi.RIGHTS_FD_FILESTAT_GET,
  wasi.RIGHTS_FD_FILESTAT_SET_TIMES,
  wasi.RIGHTS_PATH_CREATE_DIRECTORY,
  wasi.RIGHTS_PATH_CREATE_FILE,
  wasi.RIGHTS_PATH_LINK_SOURCE,
  wasi.RIGHTS_PATH_LINK_TARGET,
  wasi.RIGHTS_PATH_OPEN,
  wasi.RIGHTS_PATH_READLINK,
  wasi.RIGHTS_PATH_RENAME_SOURCE,
  wasi.RIGHTS_PATH_RENAME_TARGET,
  wasi.RIGHTS_PATH_FILESTAT_GET,
  wasi.RIGHTS_PATH_FILESTAT_SET_SIZE,
  wasi.RIGHTS_PATH_FILESTAT_SET_TIMES,
  wasi.RIGHTS_PATH_SYMLINK,
  wasi.RIGHTS_PATH_REMOVE_DIRECTORY,
  wasi.RIGHTS_PATH_UNLINK_FILE,
)

/** Rights of a descriptor as it stands: they can be given up, never taken. */
export interface DescriptorRights {
  base: bigint
  inheriting: bigint
}

/** @param rights any of these will do. @throws FileFailure `not-capable` */
export function requireRight({ base }: DescriptorRights, rights: number): void {
  if ((base & BigInt(rights)) === 0n) throw new FileFailure('not-capable')
}

/** @throws FileFailure `not-capable` where something is asked for that is not there */
export function reduceRights(rights: DescriptorRights, base: bigint, inheriting: bigint): void {
  if ((base & ~rights.base) !== 0n || (inheriting & ~rights.inheriting) !== 0n) {
    throw new FileFailure('not-capable')
  }
  rights.base = base
  rights.inheriting = inheriting
}
