/**
 * A descriptor of a preview-1 guest, as the shim calls it. Everything that a kind does not override is refused by the
 * shim's base class (ENOTSUP), and paths from what is no directory are ENOTDIR.
 */
import { Fd, type Inode, wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiDescriptorState } from '../../../src/ports/wasi-host.ts'
import { attempt } from './errno.ts'
import { type DescriptorRights, reduceRights, requireRight } from './rights.ts'
import { fdStatOf } from './stat-layout.ts'

/** The flags that mean something here: writes to the end, and those that a host without delays keeps anyway. */
const KNOWN_FLAGS =
  wasi.FDFLAGS_APPEND | wasi.FDFLAGS_DSYNC | wasi.FDFLAGS_NONBLOCK | wasi.FDFLAGS_RSYNC | wasi.FDFLAGS_SYNC

export abstract class GuestFd extends Fd {
  readonly rights: DescriptorRights
  flags = 0

  constructor(base: bigint, inheriting = 0n) {
    super()
    this.rights = { base, inheriting }
  }

  abstract readonly fileType: number
  /** What a checkpoint says of it. */
  abstract handle(): WasiDescriptorState['handle']

  /** Whether a read, or a write, would give something at once, and how many bytes. */
  abstract readiness(direction: 'read' | 'write'): { readonly bytes: number; readonly hangup: boolean }

  require(right: number): void {
    requireRight(this.rights, right)
  }

  advise(_offset: bigint, _bytes: bigint, _advice: number): number {
    return wasi.ERRNO_SPIPE
  }

  override fd_close(): number {
    return wasi.ERRNO_SUCCESS
  }

  override fd_fdstat_get(): { ret: number; fdstat: wasi.Fdstat } {
    return { ret: wasi.ERRNO_SUCCESS, fdstat: fdStatOf(this.fileType, this.flags, this.rights) }
  }

  override fd_fdstat_set_flags(flags: number): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_FDSTAT_SET_FLAGS)
      this.flags = flags & KNOWN_FLAGS
    })
  }

  override fd_fdstat_set_rights(base: bigint, inheriting: bigint): number {
    return attempt(() => reduceRights(this.rights, base, inheriting))
  }

  override fd_seek(_offset: bigint, _whence: number): { ret: number; offset: bigint } {
    return { ret: wasi.ERRNO_SPIPE, offset: 0n }
  }

  override fd_tell(): { ret: number; offset: bigint } {
    return { ret: wasi.ERRNO_SPIPE, offset: 0n }
  }

  override fd_prestat_get(): { ret: number; prestat: wasi.Prestat | null } {
    return { ret: wasi.ERRNO_BADF, prestat: null }
  }

  override fd_readdir_single(_cookie: bigint): { ret: number; dirent: wasi.Dirent | null } {
    return { ret: wasi.ERRNO_NOTDIR, dirent: null }
  }

  override path_create_directory(_path: string): number {
    return wasi.ERRNO_NOTDIR
  }

  override path_filestat_get(_flags: number, _path: string): { ret: number; filestat: wasi.Filestat | null } {
    return { ret: wasi.ERRNO_NOTDIR, filestat: null }
  }

  override path_filestat_set_times(
    _flags: number,
    _path: string,
    _accessed: bigint,
    _modified: bigint,
    _which: number,
  ): number {
    return wasi.ERRNO_NOTDIR
  }

  override path_lookup(_path: string, _flags: number): { ret: number; inode_obj: Inode | null } {
    return { ret: wasi.ERRNO_NOTDIR, inode_obj: null }
  }

  override path_remove_directory(_path: string): number {
    return wasi.ERRNO_NOTDIR
  }

  override path_unlink_file(_path: string): number {
    return wasi.ERRNO_NOTDIR
  }
}
