/** Errors as the numbers of `wasi_snapshot_preview1`. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiFileError } from '../../../src/ports/wasi-files.ts'
import { fileErrorOf } from '../files/file-failure.ts'

const ERRNO: Readonly<Record<WasiFileError, number>> = {
  access: wasi.ERRNO_ACCES,
  already: wasi.ERRNO_ALREADY,
  'bad-descriptor': wasi.ERRNO_BADF,
  busy: wasi.ERRNO_BUSY,
  'cross-device': wasi.ERRNO_XDEV,
  exist: wasi.ERRNO_EXIST,
  'file-too-large': wasi.ERRNO_FBIG,
  'illegal-byte-sequence': wasi.ERRNO_ILSEQ,
  'insufficient-space': wasi.ERRNO_NOSPC,
  invalid: wasi.ERRNO_INVAL,
  'invalid-seek': wasi.ERRNO_SPIPE,
  io: wasi.ERRNO_IO,
  'is-directory': wasi.ERRNO_ISDIR,
  loop: wasi.ERRNO_LOOP,
  'name-too-long': wasi.ERRNO_NAMETOOLONG,
  'no-entry': wasi.ERRNO_NOENT,
  'not-directory': wasi.ERRNO_NOTDIR,
  'not-empty': wasi.ERRNO_NOTEMPTY,
  'not-permitted': wasi.ERRNO_PERM,
  overflow: wasi.ERRNO_OVERFLOW,
  quota: wasi.ERRNO_DQUOT,
  'read-only': wasi.ERRNO_ROFS,
  unsupported: wasi.ERRNO_NOTSUP,
  'would-block': wasi.ERRNO_AGAIN,
  'too-many-open': wasi.ERRNO_MFILE,
  'not-capable': wasi.ERRNO_NOTCAPABLE,
}

/** The errno of anything that was thrown. */
export function errnoOf(thrown: unknown): number {
  return ERRNO[fileErrorOf(thrown)] ?? wasi.ERRNO_IO
}

/** 0 where `act` returns, else the errno of what it threw. */
export function attempt(act: () => void): number {
  try {
    act()
    return wasi.ERRNO_SUCCESS
  } catch (error) {
    return errnoOf(error)
  }
}

/** The shape in which the shim wants errno and result: the result of `act`, or `otherwise` with the errno. */
export function attemptFor<T, N>(act: () => T, otherwise: N): { ret: number; value: T | N } {
  try {
    return { ret: wasi.ERRNO_SUCCESS, value: act() }
  } catch (error) {
    return { ret: errnoOf(error), value: otherwise }
  }
}
