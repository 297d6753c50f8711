/** An open plain file of a preview-1 guest: a position, flags and rights over a file of some tree. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiFile } from '../../../src/ports/wasi-files.ts'
import type { WasiDescriptorState } from '../../../src/ports/wasi-host.ts'
import { FileFailure } from '../files/file-failure.ts'
import { attempt, attemptFor } from './errno.ts'
import { timesOf } from './file-times.ts'
import { GuestFd } from './guest-fd.ts'
import { FILE_RIGHTS } from './rights.ts'
import { FileStatLayout } from './stat-layout.ts'

/** Sizes and positions beyond what a JavaScript number holds exactly are refused. */
const MAX_OFFSET = BigInt(Number.MAX_SAFE_INTEGER)

export interface FileFdOptions {
  readonly file: WasiFile
  readonly grant: number
  readonly rights: bigint
  readonly flags: number
  readonly offset?: bigint
  readonly nowNs: () => bigint
}

export class FileFd extends GuestFd {
  override readonly fileType: number = wasi.FILETYPE_REGULAR_FILE
  readonly #file: WasiFile
  readonly #grant: number
  readonly #nowNs: () => bigint
  #offset: bigint

  constructor({ file, grant, rights, flags, offset = 0n, nowNs }: FileFdOptions) {
    super(rights & FILE_RIGHTS)
    this.#file = file
    this.#grant = grant
    this.#nowNs = nowNs
    this.#offset = offset
    this.flags = flags
  }

  override handle(): WasiDescriptorState['handle'] {
    return { kind: 'file', grant: this.#grant, inode: this.#file.stat().inode, offset: this.#offset }
  }

  override readiness(direction: 'read' | 'write'): { bytes: number; hangup: boolean } {
    if (direction === 'write') return { bytes: 65_536, hangup: false }
    const left = this.#file.stat().bytes - this.#offset
    return { bytes: left > 0n ? Number(left) : 0, hangup: false }
  }

  override advise(offset: bigint, bytes: bigint, advice: number): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_ADVISE)
      if (advice > wasi.ADVICE_NOREUSE || offset + bytes >= 1n << 63n) throw new FileFailure('invalid')
    })
  }

  override fd_allocate(offset: bigint, bytes: bigint): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_ALLOCATE)
      if (bytes === 0n) throw new FileFailure('invalid')
      const end = toOffset(offset + bytes, 'file-too-large')
      if (BigInt(end) > this.#file.stat().bytes) this.#file.resize(end)
    })
  }

  override fd_close(): number {
    return attempt(() => this.#file.close())
  }

  override fd_filestat_get(): { ret: number; filestat: wasi.Filestat | null } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_FILESTAT_GET)
      return new FileStatLayout(this.#file.stat(), BigInt(this.#grant) + 1n)
    }, null)
    return { ret, filestat: value }
  }

  override fd_filestat_set_size(size: bigint): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_FILESTAT_SET_SIZE)
      this.#file.resize(toOffset(size, 'file-too-large'))
    })
  }

  override fd_filestat_set_times(accessed: bigint, modified: bigint, which: number): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_FILESTAT_SET_TIMES)
      this.#file.setTimes(timesOf(accessed, modified, which, this.#nowNs))
    })
  }

  override fd_read(size: number): { ret: number; data: Uint8Array } {
    const read = this.#read(size, this.#offset, wasi.RIGHTS_FD_READ)
    this.#offset += BigInt(read.data.length)
    return read
  }

  override fd_pread(size: number, offset: bigint): { ret: number; data: Uint8Array } {
    return this.#read(size, offset, wasi.RIGHTS_FD_READ)
  }

  override fd_write(data: Uint8Array): { ret: number; nwritten: number } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_WRITE)
      const appends = (this.flags & wasi.FDFLAGS_APPEND) !== 0
      const at = appends ? this.#file.stat().bytes : this.#offset
      this.#write(at, data)
      this.#offset = at + BigInt(data.length)
      return data.length
    }, 0)
    return { ret, nwritten: value }
  }

  override fd_pwrite(data: Uint8Array, offset: bigint): { ret: number; nwritten: number } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_WRITE)
      // As on Linux: what was opened for appending appends, wherever it is told to write.
      this.#write((this.flags & wasi.FDFLAGS_APPEND) !== 0 ? this.#file.stat().bytes : offset, data)
      return data.length
    }, 0)
    return { ret, nwritten: value }
  }

  override fd_seek(offset: bigint, whence: number): { ret: number; offset: bigint } {
    const { ret, value } = attemptFor(() => {
      const onlyTells = offset === 0n && whence === wasi.WHENCE_CUR
      this.require(onlyTells ? wasi.RIGHTS_FD_TELL : wasi.RIGHTS_FD_SEEK)
      const to = this.#seekBase(whence) + offset
      if (to < 0n) throw new FileFailure('invalid')
      if (to >= 1n << 63n) throw new FileFailure('overflow')
      this.#offset = to
      return to
    }, 0n)
    return { ret, offset: value }
  }

  override fd_tell(): { ret: number; offset: bigint } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_TELL)
      return this.#offset
    }, 0n)
    return { ret, offset: value }
  }

  override fd_sync(): number {
    return attempt(() => {
      this.require(wasi.RIGHTS_FD_SYNC | wasi.RIGHTS_FD_DATASYNC)
      this.#file.sync()
    })
  }

  #seekBase(whence: number): bigint {
    switch (whence) {
      case wasi.WHENCE_SET:
        return 0n
      case wasi.WHENCE_CUR:
        return this.#offset
      case wasi.WHENCE_END:
        return this.#file.stat().bytes
      default:
        throw new FileFailure('invalid')
    }
  }

  #read(size: number, offset: bigint, right: number): { ret: number; data: Uint8Array } {
    const { ret, value } = attemptFor(() => {
      this.require(right)
      if (offset > MAX_OFFSET) return new Uint8Array(0)
      return this.#file.read(Number(offset), size)
    }, new Uint8Array(0))
    return { ret, data: value }
  }

  #write(at: bigint, data: Uint8Array): void {
    const offset = toOffset(at, 'file-too-large')
    toOffset(at + BigInt(data.length), 'file-too-large')
    this.#file.write(offset, data)
  }
}

function toOffset(offset: bigint, otherwise: 'file-too-large'): number {
  if (offset > MAX_OFFSET) throw new FileFailure(otherwise)
  return Number(offset)
}
