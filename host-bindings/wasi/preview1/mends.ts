/**
 * The imports that the shim lacks, gets wrong, or takes from the host: what it throws (`proc_exit`, `proc_raise`,
 * sockets), what it refuses (links), where it spins (`poll_oneoff`) or reads clock and randomness of the process, and
 * where it hands out numbers without a limit (`path_open`).
 */
import { wasi } from '@bjorn3/browser_wasi_shim'
import type { WasiClock, WasiRandom, WasiTurns } from '../../../src/ports/wasi-host.ts'
import { hardLinkAt, makeLinkAt, renameAt } from '../files/path-operations.ts'
import type { GuestEnd } from '../guest-end.ts'
import type { Descriptors } from './descriptors.ts'
import { FOLLOW_LINKS } from './directory-fd.ts'
import { attempt } from './errno.ts'
import type { UncheckedImport } from './guard.ts'
import type { GuestMemory } from './guest-memory.ts'
import { type PollContext, pollOneOff } from './poll.ts'

export interface MendContext extends PollContext {
  readonly memory: GuestMemory
  readonly descriptors: Descriptors
  readonly args: readonly Uint8Array[]
  readonly clock: WasiClock | undefined
  readonly random: WasiRandom | undefined
  readonly turns: WasiTurns
  readonly end: GuestEnd
}

/** What a read of a clock moves it by. */
const RESOLUTION_NS = 1_000n
/** Bytes of randomness drawn at once. */
const RANDOM_CHUNK = 65_536

export function mendedImports(context: MendContext): Readonly<Record<string, UncheckedImport>> {
  const { memory, descriptors, clock, random, end } = context
  const socket = (fd: number): number =>
    descriptors.find(fd) === undefined ? wasi.ERRNO_BADF : wasi.ERRNO_NOTSOCK
  const writeTime = (id: number, at: number, time: (granted: WasiClock) => bigint): number => {
    if (id !== wasi.CLOCKID_REALTIME && id !== wasi.CLOCKID_MONOTONIC) return wasi.ERRNO_INVAL
    if (clock === undefined) return wasi.ERRNO_NOTCAPABLE
    memory.view().setBigUint64(at, BigInt.asUintN(64, time(clock)), true)
    return wasi.ERRNO_SUCCESS
  }
  return {
    args_sizes_get: (count: number, bytes: number) => {
      const view = memory.view()
      view.setUint32(count, context.args.length, true)
      const total = context.args.reduce((sum, arg) => sum + arg.length + 1, 0)
      view.setUint32(bytes, total, true)
    },
    clock_res_get: (id: number, result: number) => writeTime(id, result, () => RESOLUTION_NS),
    clock_time_get: (id: number, _precision: bigint, result: number) =>
      writeTime(id, result, (granted) =>
        id === wasi.CLOCKID_REALTIME ? granted.wallNs() : granted.monotonicNs(),
      ),
    fd_advise: (fd: number, offset: bigint, bytes: bigint, advice: number) =>
      descriptors.get(fd).advise(offset, bytes, advice),
    fd_renumber: (from: number, to: number) => {
      const moved = descriptors.get(from)
      const replaced = descriptors.get(to)
      if (from === to) return wasi.ERRNO_SUCCESS
      descriptors.put(to, moved)
      descriptors.remove(from)
      return replaced.fd_close()
    },
    path_link: (
      from: number,
      lookup: number,
      path: number,
      pathBytes: number,
      to: number,
      newPath: number,
      newPathBytes: number,
    ) =>
      attempt(() => {
        const source = descriptors.directory(from, wasi.RIGHTS_PATH_LINK_SOURCE)
        const target = descriptors.directory(to, wasi.RIGHTS_PATH_LINK_TARGET)
        const follow = (lookup & FOLLOW_LINKS) !== 0
        hardLinkAt(
          source.directory,
          memory.text(path, pathBytes),
          follow,
          target.directory,
          memory.text(newPath, newPathBytes),
        )
      }),
    path_open: (
      fd: number,
      lookup: number,
      path: number,
      pathBytes: number,
      how: number,
      base: bigint,
      inheriting: bigint,
      flags: number,
      result: number,
    ) => {
      descriptors.requireRoom()
      const directory = descriptors.directory(fd, wasi.RIGHTS_PATH_OPEN)
      const text = memory.text(path, pathBytes)
      const { ret, fd_obj } = directory.path_open(lookup, text, how, base, inheriting, flags)
      if (fd_obj === null) return ret
      memory.view().setUint32(result, descriptors.add(fd_obj), true)
      return ret
    },
    path_readlink: (
      fd: number,
      path: number,
      pathBytes: number,
      buffer: number,
      bufferBytes: number,
      result: number,
    ) => {
      const directory = descriptors.directory(fd, wasi.RIGHTS_PATH_READLINK)
      const { ret, data } = directory.path_readlink(memory.text(path, pathBytes))
      if (data === null) return ret
      // Cut off where the buffer ends, as readlink(2) does.
      const target = new TextEncoder().encode(data).subarray(0, bufferBytes)
      memory.bytes(buffer, target.length).set(target)
      memory.view().setUint32(result, target.length, true)
      return ret
    },
    path_rename: (
      from: number,
      path: number,
      pathBytes: number,
      to: number,
      newPath: number,
      newPathBytes: number,
    ) =>
      attempt(() => {
        const source = descriptors.directory(from, wasi.RIGHTS_PATH_RENAME_SOURCE)
        const target = descriptors.directory(to, wasi.RIGHTS_PATH_RENAME_TARGET)
        renameAt(
          source.directory,
          memory.text(path, pathBytes),
          target.directory,
          memory.text(newPath, newPathBytes),
        )
      }),
    path_symlink: (target: number, targetBytes: number, fd: number, path: number, pathBytes: number) =>
      attempt(() => {
        const { directory } = descriptors.directory(fd, wasi.RIGHTS_PATH_SYMLINK)
        makeLinkAt(directory, memory.text(path, pathBytes), memory.text(target, targetBytes))
      }),
    poll_oneoff: (subscriptions: number, events: number, count: number, result: number) =>
      pollOneOff(context, subscriptions, events, count, result),
    proc_exit: (code: number) => end.end({ kind: 'exit', code }),
    proc_raise: (signal: number) => end.end({ kind: 'signal', signal }),
    sched_yield: () => wasi.ERRNO_SUCCESS,
    random_get: (buffer: number, length: number) => {
      if (random === undefined) return wasi.ERRNO_NOTCAPABLE
      for (let at = 0; at < length; at += RANDOM_CHUNK) {
        const bytes = random.bytes(Math.min(RANDOM_CHUNK, length - at))
        memory.bytes(buffer + at, bytes.length).set(bytes)
      }
      return wasi.ERRNO_SUCCESS
    },
    sock_accept: socket,
    sock_recv: socket,
    sock_send: socket,
    sock_shutdown: socket,
  }
}
