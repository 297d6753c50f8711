/** An open directory of a preview-1 guest. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiDirectory, WasiDirectoryEntry, WasiFileStat } from '../../../src/ports/wasi-files.ts'
import type { WasiDescriptorState } from '../../../src/ports/wasi-host.ts'
import { FileFailure } from '../files/file-failure.ts'
import {
  makeDirectoryAt,
  openPath,
  readLinkAt,
  removeDirectoryAt,
  removeFileAt,
  setTimesOfPath,
  statPath,
} from '../files/path-operations.ts'
import type { GrantedDirectory } from '../granted-directories.ts'
import { attempt, attemptFor } from './errno.ts'
import { FileFd } from './file-fd.ts'
import { timesOf } from './file-times.ts'
import { GuestFd } from './guest-fd.ts'
import { DIRECTORY_RIGHTS, FILE_RIGHTS } from './rights.ts'
import { FileStatLayout, fileTypeOf } from './stat-layout.ts'

/** `lookupflags`: the only one. */
export const FOLLOW_LINKS = 1

export interface DirectoryFdOptions {
  readonly directory: WasiDirectory
  readonly granted: GrantedDirectory
  /** Whether it is the granted directory itself, as the guest found it. */
  readonly isGranted: boolean
  readonly rights: bigint
  readonly inheriting: bigint
  readonly nowNs: () => bigint
}

export class DirectoryFd extends GuestFd {
  override readonly fileType: number = wasi.FILETYPE_DIRECTORY
  readonly directory: WasiDirectory
  readonly #granted: GrantedDirectory
  readonly #isGranted: boolean
  readonly #nowNs: () => bigint
  /** As it was when the guest began to list it: names that come and go meanwhile move nothing. */
  #listed: readonly WasiDirectoryEntry[] | undefined

  constructor({ directory, granted, isGranted, rights, inheriting, nowNs }: DirectoryFdOptions) {
    super(rights & DIRECTORY_RIGHTS, inheriting & (DIRECTORY_RIGHTS | FILE_RIGHTS))
    this.directory = directory
    this.#granted = granted
    this.#isGranted = isGranted
    this.#nowNs = nowNs
  }

  override handle(): WasiDescriptorState['handle'] {
    const { grant } = this.#granted
    return this.#isGranted
      ? { kind: 'granted', grant }
      : { kind: 'directory', grant, inode: this.directory.stat().inode }
  }

  override readiness(): { bytes: number; hangup: boolean } {
    return { bytes: 0, hangup: false }
  }

  override advise(): number {
    return wasi.ERRNO_BADF
  }

  override fd_close(): number {
    this.#forget()
    // The root stays open for as long as the guest lives: another of its descriptors may be the same.
    return this.#isGranted ? wasi.ERRNO_SUCCESS : attempt(() => this.directory.close())
  }

  override fd_allocate(): number {
    return wasi.ERRNO_BADF
  }

  override fd_read(): { ret: number; data: Uint8Array } {
    return { ret: wasi.ERRNO_BADF, data: new Uint8Array(0) }
  }

  override fd_pread(): { ret: number; data: Uint8Array } {
    return this.fd_read()
  }

  override fd_write(): { ret: number; nwritten: number } {
    return { ret: wasi.ERRNO_BADF, nwritten: 0 }
  }

  override fd_pwrite(): { ret: number; nwritten: number } {
    return this.fd_write()
  }

  override fd_seek(): { ret: number; offset: bigint } {
    return { ret: wasi.ERRNO_BADF, offset: 0n }
  }

  override fd_tell(): { ret: number; offset: bigint } {
    return { ret: wasi.ERRNO_BADF, offset: 0n }
  }

  override fd_filestat_set_size(): number {
    return wasi.ERRNO_BADF
  }

  override fd_sync(): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_SYNC | wasi.RIGHTS_FD_DATASYNC)
      this.directory.sync()
    })
  }

  override fd_filestat_get(): { ret: number; filestat: wasi.Filestat | null } {
    return this.#stat(wasi.RIGHTS_FD_FILESTAT_GET, () => this.directory.stat())
  }

  override fd_filestat_set_times(accessed: bigint, modified: bigint, which: number): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_FILESTAT_SET_TIMES)
      this.directory.setTimesOf('.', timesOf(accessed, modified, which, this.#nowNs))
    })
  }

  override fd_prestat_get(): { ret: number; prestat: wasi.Prestat | null } {
    if (!this.#isGranted) return { ret: wasi.ERRNO_BADF, prestat: null }
    return { ret: wasi.ERRNO_SUCCESS, prestat: wasi.Prestat.dir(this.#granted.guestPath) }
  }

  override fd_readdir_single(cookie: bigint): { ret: number; dirent: wasi.Dirent | null } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_READDIR)
      if (cookie === 0n) this.#forget()
      this.#listed ??= this.#list()
      const entry = cookie < BigInt(this.#listed.length) ? this.#listed[Number(cookie)] : undefined
      if (entry === undefined) return null
      return new wasi.Dirent(cookie + 1n, entry.inode, entry.name, fileTypeOf(entry.kind))
    }, null)
    return { ret, dirent: value }
  }

  override path_create_directory(path: string): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_PATH_CREATE_DIRECTORY)
      makeDirectoryAt(this.directory, path)
    })
  }

  override path_filestat_get(flags: number, path: string): { ret: number; filestat: wasi.Filestat | null } {
    return this.#stat(wasi.RIGHTS_PATH_FILESTAT_GET, () =>
      statPath(this.directory, path, (flags & FOLLOW_LINKS) !== 0),
    )
  }

  override path_filestat_set_times(
    flags: number,
    path: string,
    accessed: bigint,
    modified: bigint,
    which: number,
  ): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_PATH_FILESTAT_SET_TIMES)
      const times = timesOf(accessed, modified, which, this.#nowNs)
      setTimesOfPath(this.directory, path, (flags & FOLLOW_LINKS) !== 0, times)
    })
  }

  override path_open(
    lookup: number,
    path: string,
    how: number,
    base: bigint,
    inheriting: bigint,
    flags: number,
  ): { ret: number; fd_obj: GuestFd | null } {
    const { ret, value } = attemptFor(() => this.#open(lookup, path, how, base, inheriting, flags), null)
    return { ret, fd_obj: value }
  }

  override path_readlink(path: string): { ret: number; data: string | null } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_PATH_READLINK)
      return readLinkAt(this.directory, path)
    }, null)
    return { ret, data: value }
  }

  override path_remove_directory(path: string): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_PATH_REMOVE_DIRECTORY)
      removeDirectoryAt(this.directory, path)
    })
  }

  override path_unlink_file(path: string): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_PATH_UNLINK_FILE)
      removeFileAt(this.directory, path)
    })
  }

  #open(lookup: number, path: string, how: number, base: bigint, inheriting: bigint, flags: number): GuestFd {
    const create = (how & wasi.OFLAGS_CREAT) !== 0
    const truncate = (how & wasi.OFLAGS_TRUNC) !== 0
    this.require(wasi.RIGHTS_PATH_OPEN)
    if (create) this.require(wasi.RIGHTS_PATH_CREATE_FILE)
    if (truncate) this.require(wasi.RIGHTS_PATH_FILESTAT_SET_SIZE)
    const writing = wasi.RIGHTS_FD_WRITE | wasi.RIGHTS_FD_ALLOCATE | wasi.RIGHTS_FD_FILESTAT_SET_SIZE
    const granted = base & this.rights.inheriting
    const opened = openPath(this.directory, path, {
      follow: (lookup & FOLLOW_LINKS) !== 0,
      create,
      truncate,
      exclusive: (how & wasi.OFLAGS_EXCL) !== 0,
      directory: (how & wasi.OFLAGS_DIRECTORY) !== 0,
      write: (granted & BigInt(writing)) !== 0n,
    })
    const nowNs = this.#nowNs
    const { grant } = this.#granted
    switch (opened.kind) {
      case 'file':
        return new FileFd({ file: opened.file, grant, rights: granted, flags, nowNs })
      case 'directory':
        return new DirectoryFd({
          directory: opened.directory,
          granted: this.#granted,
          isGranted: false,
          rights: granted,
          inheriting: inheriting & this.rights.inheriting,
          nowNs,
        })
    }
  }

  #stat(right: number, act: () => WasiFileStat): { ret: number; filestat: wasi.Filestat | null } {
    const { ret, value } = attemptFor(() => {
      this.require(right)
      return new FileStatLayout(act(), BigInt(this.#granted.grant) + 1n)
    }, null)
    return { ret, filestat: value }
  }

  #forget(): void {
    if (this.#listed !== undefined) this.#granted.listings.give(this.#listed.length)
    this.#listed = undefined
  }

  #list(): readonly WasiDirectoryEntry[] {
    const { inode } = this.directory.stat()
    const entries = this.directory.entries()
    if (entries.length > MAX_ENTRIES) throw new FileFailure('overflow')
    const listed: readonly WasiDirectoryEntry[] = [
      { name: '.', kind: 'directory', inode },
      // What is above is nobody's business: the same number.
      { name: '..', kind: 'directory', inode },
      ...entries,
    ]
    this.#granted.listings.take(listed.length)
    return listed
  }
}

/** Directories with more entries are not listed. */
const MAX_ENTRIES = 1_000_000
