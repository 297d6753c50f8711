/** An open plain file of a real directory. */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  futimesSync,
  readSync,
  type Stats,
  writeSync,
} from 'node:fs'
import type {
  WasiFile,
  WasiFileKind,
  WasiFileStat,
  WasiFileTimes,
  WasiOpenHow,
} from '../../../src/ports/wasi-files.ts'
import { FileFailure } from '../files/file-failure.ts'
import { isSame } from './held-directory.node.ts'
import type { HostTreeUsage } from './host-tree-usage.node.ts'
import { orFileFailure } from './node-error.node.ts'

interface HostContext {
  readonly usage: HostTreeUsage
  readonly nowNs: () => bigint
}

/**
 * @param found what stood at its name before; undefined for one that was made
 * @param open opens it with these flags
 */
export function openHostFile(
  context: HostContext,
  found: Stats | undefined,
  how: WasiOpenHow,
  open: (flags: number) => number,
): WasiFile {
  if (found !== undefined && how.create && how.exclusive) throw new FileFailure('exist')
  const fd = open(how.write || how.truncate ? constants.O_RDWR : constants.O_RDONLY)
  try {
    const opened = fstatSync(fd)
    const isFound = found === undefined || isSame(found, opened)
    if (!opened.isFile() || !isFound) throw new FileFailure('not-permitted')
    context.usage.opened(opened)
  } catch (error) {
    closeSync(fd)
    throw error
  }
  const file = hostFile(context, fd)
  try {
    if (how.truncate) file.resize(0)
    else if (found === undefined) file.setTimes({ modifiedNs: context.nowNs() })
  } catch (error) {
    file.close()
    throw error
  }
  return file
}

function hostFile({ usage, nowNs }: HostContext, fd: number): WasiFile {
  let isOpen = true
  const guarded = <T>(act: () => T): T => {
    // A number that was given back may be anybody's by now.
    if (!isOpen) throw new FileFailure('bad-descriptor')
    return orFileFailure(act)
  }
  const setTimes = ({ accessedNs, modifiedNs }: WasiFileTimes): void => {
    const stat = fstatSync(fd)
    const accessed = accessedNs === undefined ? stat.atimeMs / 1_000 : toSeconds(accessedNs)
    futimesSync(fd, accessed, modifiedNs === undefined ? stat.mtimeMs / 1_000 : toSeconds(modifiedNs))
  }
  const changed = (): void => setTimes({ accessedNs: nowNs(), modifiedNs: nowNs() })
  /** Counts the growth to `size` while `act` happens. */
  const growing = (size: number, act: () => void): void => {
    const before = fstatSync(fd).size
    usage.usage.resizeFile(before, size)
    try {
      act()
    } catch (error) {
      usage.usage.resizeFile(size, before)
      throw error
    }
  }
  return {
    stat: () => guarded(() => statOfHost(usage, fstatSync(fd))),
    read: (offset, length) =>
      guarded(() => {
        const wanted = Math.min(length, Math.max(0, fstatSync(fd).size - offset))
        const bytes = new Uint8Array(wanted)
        let filled = 0
        while (filled < wanted) {
          const read = readSync(fd, bytes, filled, wanted - filled, offset + filled)
          if (read === 0) break
          filled += read
        }
        return filled === wanted ? bytes : bytes.slice(0, filled)
      }),
    write: (offset, bytes) =>
      guarded(() => {
        growing(Math.max(fstatSync(fd).size, offset + bytes.length), () => {
          let written = 0
          while (written < bytes.length) {
            written += writeSync(fd, bytes, written, bytes.length - written, offset + written)
          }
        })
        changed()
      }),
    resize: (size) =>
      guarded(() => {
        growing(size, () => ftruncateSync(fd, size))
        changed()
      }),
    setTimes: (times) => guarded(() => setTimes(times)),
    sync: () => guarded(() => fsyncSync(fd)),
    close: () => {
      if (!isOpen) return
      isOpen = false
      usage.closed(fstatSync(fd))
      closeSync(fd)
    },
  }
}

export function statOfHost(usage: HostTreeUsage, stat: Stats): WasiFileStat {
  const kind = kindOf(stat)
  const modifiedNs = kind === 'directory' ? 0n : BigInt(Math.max(0, Math.round(stat.mtimeMs * 1_000_000)))
  return {
    kind,
    inode: usage.inodeOf(stat),
    links: kind === 'file' ? BigInt(stat.nlink) : 1n,
    bytes: kind === 'file' ? BigInt(stat.size) : 0n,
    accessedNs: modifiedNs,
    modifiedNs,
    changedNs: modifiedNs,
  }
}

function kindOf(stat: Stats): WasiFileKind {
  if (stat.isFile()) return 'file'
  if (stat.isDirectory()) return 'directory'
  return stat.isSymbolicLink() ? 'symbolic-link' : 'other'
}

function toSeconds(ns: bigint): number {
  return Number(ns / 1_000n) / 1_000_000
}
