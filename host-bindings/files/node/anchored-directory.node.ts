/**
 * Directories on Linux, held by descriptor. `/proc/self/fd/N/name` resolves `name` in the directory that descriptor N
 * holds, wherever that has been moved: what `openat(N, name)` does, with what Node has.
 *
 * 1. Only the last name of a path is ever resolved, and with `O_NOFOLLOW`: a component that is swapped for a link
 *    between check and use is refused by the kernel, not by us. There is no window.
 * 2. Nothing is looked up by the path that the directory had when it was opened.
 */
import { constants, type Stats } from 'node:fs'
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readdir,
  rename,
  rmdir,
  unlink,
} from 'node:fs/promises'
import type { DirectoryHandle } from './directory-handle.ts'

const DIRECTORY_FLAGS = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW

/** Whether this system resolves names under `/proc/self/fd`. */
export async function canAnchor(path: string): Promise<boolean> {
  if (constants.O_DIRECTORY === undefined || constants.O_NOFOLLOW === undefined) return false
  const handle = await open(path, DIRECTORY_FLAGS)
  try {
    const [held, seen] = await Promise.all([handle.stat(), lstat(`/proc/self/fd/${handle.fd}/.`)])
    return held.dev === seen.dev && held.ino === seen.ino
  } catch {
    return false
  } finally {
    await handle.close()
  }
}

/** Opens the directory at `path`, whose last component must not be a link. */
export async function openAnchoredDirectory(path: string): Promise<DirectoryHandle> {
  return anchor(await open(path, DIRECTORY_FLAGS))
}

function anchor(handle: FileHandle): DirectoryHandle {
  const at = (name: string): string => `/proc/self/fd/${handle.fd}/${name}`
  return {
    stat: (name): Promise<Stats> => lstat(at(name)),
    openDirectory: async (name) => anchor(await open(at(name), DIRECTORY_FLAGS)),
    openFile: (name, flags, mode) =>
      open(at(name), flags | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY, mode),
    makeDirectory: (name) => mkdir(at(name)),
    removeFile: (name) => unlink(at(name)),
    removeDirectory: (name) => rmdir(at(name)),
    rename: (from, to) => rename(at(from), at(to)),
    link: (from, to) => link(at(from), at(to)),
    list: () => readdir(at('.')),
    async *names() {
      for await (const entry of await opendir(at('.'))) yield entry.name
    },
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}
