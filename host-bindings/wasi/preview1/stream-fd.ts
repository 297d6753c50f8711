/** Standard input, output and error as descriptors. They say that they are no terminal: nobody sits there. */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiDescriptorState } from '../../../src/ports/wasi-host.ts'
import type { CapturedOutput, GivenInput } from '../standard-streams.ts'
import { attemptFor } from './errno.ts'
import { GuestFd } from './guest-fd.ts'
import { STREAM_IN_RIGHTS, STREAM_OUT_RIGHTS } from './rights.ts'
import { FileStatLayout } from './stat-layout.ts'

abstract class StreamFd extends GuestFd {
  override readonly fileType: number = wasi.FILETYPE_UNKNOWN

  override fd_filestat_get(): { ret: number; filestat: wasi.Filestat | null } {
    const none = { inode: 0n, links: 1n, bytes: 0n, accessedNs: 0n, modifiedNs: 0n, changedNs: 0n }
    return { ret: wasi.ERRNO_SUCCESS, filestat: new FileStatLayout({ kind: 'other', ...none }, 0n) }
  }
}

export class InputFd extends StreamFd {
  readonly #input: GivenInput

  constructor(input: GivenInput) {
    super(STREAM_IN_RIGHTS)
    this.#input = input
  }

  override fd_read(size: number): { ret: number; data: Uint8Array } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_READ)
      return this.#input.read(size)
    }, new Uint8Array(0))
    return { ret, data: value }
  }

  override readiness(): { bytes: number; hangup: boolean } {
    return { bytes: this.#input.remaining, hangup: this.#input.remaining === 0 }
  }

  override handle(): WasiDescriptorState['handle'] {
    return { kind: 'stdin' }
  }
}

export class OutputFd extends StreamFd {
  readonly #output: CapturedOutput
  readonly #kind: 'stdout' | 'stderr'

  constructor(output: CapturedOutput, kind: 'stdout' | 'stderr') {
    super(STREAM_OUT_RIGHTS)
    this.#output = output
    this.#kind = kind
  }

  override fd_write(data: Uint8Array): { ret: number; nwritten: number } {
    const { ret, value } = attemptFor(() => {
      this.require(wasi.RIGHTS_FD_WRITE)
      this.#output.write(data)
      return data.length
    }, 0)
    return { ret, nwritten: value }
  }

  override readiness(): { bytes: number; hangup: boolean } {
    return { bytes: 65_536, hangup: false }
  }

  override handle(): WasiDescriptorState['handle'] {
    return { kind: this.#kind }
  }
}
