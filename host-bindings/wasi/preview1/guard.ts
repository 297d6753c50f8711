/**
 * What stands before every preview-1 import: the shim reads guest memory without looking whether it may.
 *
 * 1. Whatever the arguments are, an errno is returned; nothing is thrown, also by a bug of ours or of the shim.
 * 2. All memory that the call will read or write is checked before it has any effect.
 * 3. After the end of the guest nothing has an effect.
 */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { GuestEnd } from '../guest-end.ts'
import { errnoOf } from './errno.ts'
import { type GuestMemory, MemoryFault } from './guest-memory.ts'

/** One thing to check: the place among the arguments of a pointer, which its length or count follows where it has one. */
type Check =
  /** A result of so many bytes. */
  | readonly ['result', at: number, bytes: number]
  | readonly ['text', at: number]
  | readonly ['buffer', at: number]
  | readonly ['vectors', at: number]

const CHECKS: Readonly<Record<string, readonly Check[]>> = {
  args_get: [],
  args_sizes_get: [
    ['result', 0, 4],
    ['result', 1, 4],
  ],
  environ_get: [],
  environ_sizes_get: [
    ['result', 0, 4],
    ['result', 1, 4],
  ],
  clock_res_get: [['result', 1, 8]],
  clock_time_get: [['result', 2, 8]],
  fd_advise: [],
  fd_allocate: [],
  fd_close: [],
  fd_datasync: [],
  fd_fdstat_get: [['result', 1, 24]],
  fd_fdstat_set_flags: [],
  fd_fdstat_set_rights: [],
  fd_filestat_get: [['result', 1, 64]],
  fd_filestat_set_size: [],
  fd_filestat_set_times: [],
  fd_pread: [
    ['vectors', 1],
    ['result', 4, 4],
  ],
  fd_prestat_get: [['result', 1, 8]],
  fd_prestat_dir_name: [['buffer', 1]],
  fd_pwrite: [
    ['vectors', 1],
    ['result', 4, 4],
  ],
  fd_read: [
    ['vectors', 1],
    ['result', 3, 4],
  ],
  fd_readdir: [
    ['buffer', 1],
    ['result', 4, 4],
  ],
  fd_renumber: [],
  fd_seek: [['result', 3, 8]],
  fd_sync: [],
  fd_tell: [['result', 1, 8]],
  fd_write: [
    ['vectors', 1],
    ['result', 3, 4],
  ],
  path_create_directory: [['text', 1]],
  path_filestat_get: [
    ['text', 2],
    ['result', 4, 64],
  ],
  path_filestat_set_times: [['text', 2]],
  path_link: [
    ['text', 2],
    ['text', 5],
  ],
  path_open: [
    ['text', 2],
    ['result', 8, 4],
  ],
  path_readlink: [
    ['text', 1],
    ['buffer', 3],
    ['result', 5, 4],
  ],
  path_remove_directory: [['text', 1]],
  path_rename: [
    ['text', 1],
    ['text', 4],
  ],
  path_symlink: [
    ['text', 0],
    ['text', 3],
  ],
  path_unlink_file: [['text', 1]],
  poll_oneoff: [['result', 3, 4]],
  proc_exit: [],
  proc_raise: [],
  sched_yield: [],
  random_get: [['buffer', 0]],
  sock_accept: [['result', 2, 4]],
  sock_recv: [],
  sock_send: [],
  sock_shutdown: [],
}

/** Every import that preview 1 has. */
export const PREVIEW1_NAMES: readonly string[] = Object.keys(CHECKS)

/** An import before it is guarded: what it is called with is unsigned, and has been checked. */
export type UncheckedImport = (...args: never[]) => unknown

type Argument = number | bigint

export function guardImport(
  name: string,
  act: UncheckedImport,
  memory: GuestMemory,
  end: GuestEnd,
): (...args: readonly never[]) => number {
  const checks = CHECKS[name] ?? []
  const isSigned = name === 'fd_seek'
  return (...given: readonly Argument[]) => {
    if (end.reason !== undefined) return wasi.ERRNO_CANCELED
    try {
      const args = given.map((value) => {
        if (typeof value === 'bigint') return isSigned ? BigInt.asIntN(64, value) : BigInt.asUintN(64, value)
        return value >>> 0
      })
      for (const check of checks) runCheck(memory, check, args)
      const errno = act(...(args as never[]))
      return typeof errno === 'number' ? errno : wasi.ERRNO_SUCCESS
    } catch (error) {
      if (error instanceof MemoryFault) return error.errno
      return error instanceof RangeError ? wasi.ERRNO_FAULT : errnoOf(error)
    }
  }
}

function runCheck(memory: GuestMemory, check: Check, args: readonly Argument[]): void {
  const at = Number(args[check[1]] ?? 0)
  const length = Number(args[check[1] + 1] ?? 0)
  switch (check[0]) {
    case 'result':
      memory.requireRange(at, check[2])
      return
    case 'text':
      memory.text(at, length)
      return
    case 'buffer':
      memory.requireRange(at, length)
      return
    case 'vectors':
      memory.requireVectors(at, length)
      return
  }
}
