/**
 * A granted directory of the real file system.
 *
 * 1. Every name is looked up in a directory that is already open, links never followed (see the two kinds of
 *    `DirectoryHandle` for what holds where).
 * 2. Only plain files are opened. What a name stands for is asked before opening, so that no device is touched, and
 *    again of what was opened; a pipe is never waited for.
 * 3. A file is written beside its place, made durable, then renamed: readers see the old or the new, and so does
 *    whoever comes after a crash.
 * 4. Changes happen one after the other, so that the quota is exact.
 * 5. A directory for writing never overlaps a protected path.
 */
import { constants, type Stats } from 'node:fs'
import { realpath, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'
import { isFileName, parseFilePath, refusePath, showPath, TEMPORARY_PREFIX } from '../file-path.ts'
import { checkReadSize, FileGrowth, type FileQuota, parseFileQuota } from '../file-quota.ts'
import { type FileEntry, type FileRange, type FileStat, type FileTree, MAX_LISTED } from '../file-tree.ts'
import { canAnchor, openAnchoredDirectory } from './anchored-directory.node.ts'
import { openCheckedDirectory } from './checked-directory.node.ts'
import type { DirectoryHandle } from './directory-handle.ts'
import { fileError } from './file-error.node.ts'
import { refuseOverlap } from './protected-paths.node.ts'
import { createTaskSlots, type TaskSlots } from './task-slots.ts'

export interface DirectoryFileTreeOptions {
  /** The granted directory. It may be named through links; what it is at opening is what is granted. */
  readonly root: string
  /** Whether `write`, `remove` and `mkdir` work. Default false. */
  readonly writable?: boolean
  readonly quota?: Partial<FileQuota>
  /** Paths that must not overlap a writable directory: the store, the tools, the running source. */
  readonly protect?: readonly string[]
  /** How names are kept inside. Default: `anchored` where the system can (Linux), else `checked`. */
  readonly lookup?: 'anchored' | 'checked'
}

/** A tree that holds its directory open until it is disposed. */
export interface DirectoryFileTree extends FileTree, AsyncDisposable {
  /** How names are kept inside (see the option). */
  readonly lookup: 'anchored' | 'checked'
}

/** Magic numbers of file systems that are no storage: proc, sysfs, devpts, debugfs, tracefs, cgroup and cgroup2. */
const PSEUDO_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, 0x62656572, 0x1cd1, 0x64626720, 0x74726163, 0x27e0eb, 0x63677270,
])

/**
 * Grants the directory `root`.
 * @throws CaissonError `invalid_argument` (no directory, a pseudo file system, overlap with `protect`), `invalid_limit`
 */
export async function openDirectoryFileTree(options: DirectoryFileTreeOptions): Promise<DirectoryFileTree> {
  const { writable = false, protect = [] } = options
  const quota = parseFileQuota(options.quota)
  const root = await realRoot(options.root)
  if (writable) await refuseOverlap(root, protect)
  const lookup = options.lookup ?? ((await canAnchor(root)) ? 'anchored' : 'checked')
  const handle = await (lookup === 'anchored' ? openAnchoredDirectory(root) : openCheckedDirectory(root))
  return new RealFileTree(root, handle, lookup, writable, quota)
}

async function realRoot(path: string): Promise<string> {
  try {
    const root = await realpath(path)
    if (!(await stat(root)).isDirectory()) {
      throw new CaissonError('invalid_argument', `The path ${path} is no directory.`)
    }
    const { type } = await statfs(root)
    if (PSEUDO_FILE_SYSTEMS.has(type)) {
      throw new CaissonError(
        'invalid_argument',
        `The directory ${path} is not storage and cannot be granted.`,
      )
    }
    return root
  } catch (cause) {
    if (CaissonError.is(cause)) throw cause
    throw new CaissonError('invalid_argument', `The directory ${path} cannot be opened.`, { cause })
  }
}

class RealFileTree implements DirectoryFileTree {
  readonly lookup: 'anchored' | 'checked'
  private readonly root: string
  private readonly handle: DirectoryHandle
  private readonly writable: boolean
  private readonly quota: FileQuota
  private readonly growth: FileGrowth
  private readonly operations: TaskSlots
  private readonly changes: TaskSlots = createTaskSlots(1)
  private closed = false

  constructor(
    root: string,
    handle: DirectoryHandle,
    lookup: 'anchored' | 'checked',
    writable: boolean,
    quota: FileQuota,
  ) {
    this.root = root
    this.handle = handle
    this.lookup = lookup
    this.writable = writable
    this.quota = quota
    this.growth = new FileGrowth(quota)
    this.operations = createTaskSlots(quota.operations)
  }

  read(path: string, range?: FileRange): Promise<Uint8Array> {
    return this.inParent(path, async (parent, name) => {
      if (name === undefined) throw refusePath(path, 'is a directory; list it instead')
      requireFile(path, await parent.stat(name))
      const file = await parent.openFile(name, constants.O_RDONLY)
      try {
        const stat = await file.stat()
        requireFile(path, stat)
        const offset = range?.offset ?? 0
        const length = Math.min(range?.length ?? Number.MAX_SAFE_INTEGER, Math.max(0, stat.size - offset))
        checkReadSize(length, this.quota)
        const buffer = new Uint8Array(length)
        let filled = 0
        while (filled < length) {
          const { bytesRead } = await file.read(buffer, filled, length - filled, offset + filled)
          if (bytesRead === 0) break
          filled += bytesRead
        }
        return filled === length ? buffer : buffer.slice(0, filled)
      } finally {
        await file.close()
      }
    })
  }

  stat(path: string): Promise<FileStat> {
    return this.inParent(path, async (parent, name) => {
      const stat = await parent.stat(name ?? '.')
      const kind = kindOf(stat)
      if (kind === undefined) throw refusePath(path, 'is a link or no plain file')
      return { kind, bytes: kind === 'file' ? stat.size : 0, modifiedMs: stat.mtimeMs }
    })
  }

  list(path: string): Promise<readonly FileEntry[]> {
    return this.inDirectory(path, async (directory) => {
      const entries: FileEntry[] = []
      for await (const name of directory.names()) {
        if (!isFileName(name)) continue
        const entry = await this.entryOf(directory, name)
        if (entry !== undefined) entries.push(entry)
        if (entries.length > MAX_LISTED) {
          throw new CaissonError('result_too_large', `The directory has more than ${MAX_LISTED} entries.`)
        }
      }
      return entries.sort((left, right) => (left.name < right.name ? -1 : 1))
    })
  }

  write(path: string, data: Uint8Array): Promise<void> {
    return this.changing(() =>
      this.inParent(path, async (parent, name) => {
        if (name === undefined) throw refusePath(path, 'is the granted directory itself')
        this.growth.checkFile(data.byteLength)
        const old = await statIfThere(parent, name)
        if (old !== undefined) requireFile(path, old)
        const grownBytes = data.byteLength - (old?.size ?? 0)
        const grownEntries = old === undefined ? 1 : 0
        this.growth.check(grownBytes, grownEntries)
        await replaceFile(parent, name, data, old)
        this.growth.add(grownBytes, grownEntries)
      }),
    )
  }

  remove(path: string): Promise<void> {
    return this.changing(() =>
      this.inParent(path, async (parent, name) => {
        if (name === undefined) throw refusePath(path, 'is the granted directory itself')
        const stat = await parent.stat(name)
        if (stat.isDirectory()) {
          await parent.removeDirectory(name)
          this.growth.add(0, -1)
          return
        }
        requireFile(path, stat)
        await parent.removeFile(name)
        this.growth.add(-stat.size, -1)
      }),
    )
  }

  mkdir(path: string): Promise<void> {
    return this.changing(() => this.inNames(path, parseFilePath(path), async () => {}, true))
  }

  locate(path: string): string {
    return join(this.root, ...parseFilePath(path))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return
    this.closed = true
    // Only when nothing uses the descriptor any more: its number may be another directory's a moment later.
    await Promise.all([this.changes.drained(), this.operations.drained()])
    await this.handle.close()
  }

  private changing<T>(act: () => Promise<T>): Promise<T> {
    if (this.writable) return this.changes.run(act)
    return Promise.reject(new CaissonError('denied', 'The directory was granted for reading only.'))
  }

  /** Runs `act` with the directory that holds `path` and the name in it; undefined for the granted directory. */
  private async inParent<T>(
    path: string,
    act: (parent: DirectoryHandle, name: string | undefined) => Promise<T>,
  ): Promise<T> {
    const names = parseFilePath(path)
    return this.inNames(path, names.slice(0, -1), (parent) => act(parent, names.at(-1)))
  }

  private async inDirectory<T>(path: string, act: (directory: DirectoryHandle) => Promise<T>): Promise<T> {
    return this.inNames(path, parseFilePath(path), act)
  }

  /** Walks inwards, with one directory open at a time beside the root, and runs `act` in the last. */
  private async inNames<T>(
    path: string,
    names: readonly string[],
    act: (directory: DirectoryHandle) => Promise<T>,
    make = false,
  ): Promise<T> {
    if (this.closed) throw new CaissonError('disposed', 'The directory was closed.')
    return this.operations.run(async () => {
      let directory = this.handle
      try {
        for (const name of names) {
          if (make) await this.makeIfMissing(path, directory, name)
          const next = await directory.openDirectory(name)
          if (directory !== this.handle) await directory.close()
          directory = next
        }
        return await act(directory)
      } catch (error) {
        throw fileError(path, error)
      } finally {
        if (directory !== this.handle) await directory.close()
      }
    })
  }

  private async makeIfMissing(path: string, directory: DirectoryHandle, name: string): Promise<void> {
    const stat = await statIfThere(directory, name)
    if (stat?.isDirectory()) return
    if (stat !== undefined) {
      throw new CaissonError('already_exists', `A file stands where ${showPath(path)} needs a directory.`)
    }
    this.growth.check(0, 1)
    await directory.makeDirectory(name)
    this.growth.add(0, 1)
  }

  private async entryOf(directory: DirectoryHandle, name: string): Promise<FileEntry | undefined> {
    // It may have gone since its name was read.
    const stat = await statIfThere(directory, name)
    const kind = stat && kindOf(stat)
    return kind && { name, kind, bytes: kind === 'file' ? stat.size : 0 }
  }
}

/** Invariant 3. The temporary file is gone in every case. */
async function replaceFile(
  parent: DirectoryHandle,
  name: string,
  data: Uint8Array,
  old: Stats | undefined,
): Promise<void> {
  const temporary = `${TEMPORARY_PREFIX}${crypto.randomUUID()}`
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL
  const file = await parent.openFile(temporary, flags, 0o666)
  try {
    try {
      await file.writeFile(data)
      if (old !== undefined) await file.chmod(old.mode & 0o777)
      await file.sync()
    } finally {
      await file.close()
    }
    await parent.rename(temporary, name)
  } catch (error) {
    await parent.removeFile(temporary).catch(() => {}) // the first error is the one that matters
    throw error
  }
  await parent.sync()
}

async function statIfThere(directory: DirectoryHandle, name: string): Promise<Stats | undefined> {
  try {
    return await directory.stat(name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function requireFile(path: string, stat: Stats): void {
  if (stat.isFile()) return
  throw refusePath(path, stat.isDirectory() ? 'is a directory' : 'is a link or no plain file')
}

function kindOf(stat: Stats): FileStat['kind'] | undefined {
  if (stat.isFile()) return 'file'
  return stat.isDirectory() ? 'directory' : undefined
}
