/**
 * Directories where names cannot be resolved by descriptor (macOS, Windows, a Linux without /proc): held by real path.
 *
 * 1. A file that was opened is the one that was checked: same device and inode before and after, inside the root.
 * 2. Before every change and after every opening the directory's real path is still the one that was checked.
 *
 * What this cannot give: another process of the host that swaps a directory for a link at the right moment can have a
 * temporary file created, or a name removed, in the place that the link leads to, before the check that follows
 * refuses. A guest cannot make links, so it needs such an accomplice. On Linux there is no such window.
 */
import { constants, type Stats } from 'node:fs'
import { link, lstat, mkdir, open, opendir, readdir, realpath, rename, rmdir, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { CaissonError } from '../../../src/base/errors.ts'
import type { DirectoryHandle } from './directory-handle.ts'

/** Not every platform has every flag; a missing one is undefined there. */
const NO_FOLLOW: number = constants.O_NOFOLLOW ?? 0
const NO_WAIT: number = constants.O_NONBLOCK ?? 0

/** Opens the directory at `path`, which must not be a link. */
export async function openCheckedDirectory(path: string): Promise<DirectoryHandle> {
  const found = await lstat(path)
  if (!found.isDirectory()) throw swapped()
  const real = await realpath(path)
  if (!isSame(found, await lstat(real))) throw swapped()

  const stillHere = async (): Promise<void> => {
    if ((await realpath(real)) !== real || !isSame(found, await lstat(real))) throw swapped()
  }
  const guarded = async <T>(act: () => Promise<T>): Promise<T> => {
    await stillHere()
    const result = await act()
    await stillHere()
    return result
  }
  return {
    stat: (name) => guarded(() => lstat(join(real, name))),
    openDirectory: (name) => guarded(() => openCheckedDirectory(join(real, name))),
    openFile: (name, flags, mode) =>
      guarded(async () => {
        const at = join(real, name)
        const before = flags & constants.O_CREAT ? undefined : await lstat(at)
        if (before?.isFile() === false) throw swapped()
        const handle = await open(at, flags | NO_FOLLOW | NO_WAIT, mode)
        try {
          if (!isSame(before ?? (await lstat(at)), await handle.stat())) throw swapped()
          await stillHere()
        } catch (error) {
          await handle.close()
          throw error
        }
        return handle
      }),
    makeDirectory: (name) => guarded(() => mkdir(join(real, name))),
    removeFile: (name) => guarded(() => unlink(join(real, name))),
    removeDirectory: (name) => guarded(() => rmdir(join(real, name))),
    rename: (from, to) => guarded(() => rename(join(real, from), join(real, to))),
    link: (from, to) => guarded(() => link(join(real, from), join(real, to))),
    list: () => guarded(() => readdir(real)),
    async *names() {
      await stillHere()
      for await (const entry of await opendir(real)) yield entry.name
      await stillHere()
    },
    sync: () => guarded(() => syncDirectory(real)),
    close: async () => {},
  }
}

/** Windows opens no directory for this, and keeps its entries by itself. */
async function syncDirectory(path: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(path, constants.O_RDONLY | NO_FOLLOW)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function isSame(left: Stats, right: Stats): boolean {
  return left.dev === right.dev && left.ino === right.ino
}

function swapped(): CaissonError {
  return new CaissonError('path_denied', 'The path leads through a link or was changed while it was used.')
}
