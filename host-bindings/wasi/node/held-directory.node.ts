/**
 * A directory of the host, held so that a name in it means the same until it is let go: the synchronous twin of what
 * the `files` binding holds.
 *
 * 1. On Linux it is held by descriptor: `/proc/self/fd/N/name` resolves in the directory that N holds, wherever that
 *    was moved. Nothing can be swapped between check and use.
 * 2. Elsewhere it is held by real path, which is checked before and after every use. A process of the host that swaps
 *    a directory for a link at the right moment can have a name created or removed where the link leads, before the
 *    check that follows refuses; what is read from there is not given to the guest.
 */
import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  realpathSync,
  type Stats,
} from 'node:fs'
import { join } from 'node:path'
import { FileFailure } from '../files/file-failure.ts'

/** Not every platform has every flag; a missing one is undefined there. */
const NO_FOLLOW: number = constants.O_NOFOLLOW ?? 0
const DIRECTORY: number = constants.O_DIRECTORY ?? 0

export type Lookup = 'anchored' | 'checked'

export interface HeldDirectory {
  /** Runs `act` with a path for a name in it. */
  use<T>(name: string, act: (path: string) => T): T
  open(name: string): HeldDirectory
  sync(): void
  close(): void
}

/** Opens the directory at `path`, whose last component must not be a link. */
export function holdDirectory(path: string, lookup: Lookup): HeldDirectory {
  return lookup === 'anchored' ? anchor(path) : check(path)
}

/** Whether this system resolves names under `/proc/self/fd`. */
export function canAnchor(path: string): boolean {
  if (NO_FOLLOW === 0 || DIRECTORY === 0) return false
  const fd = openSync(path, constants.O_RDONLY | DIRECTORY | NO_FOLLOW)
  try {
    return isSame(fstatSync(fd), lstatSync(`/proc/self/fd/${fd}/.`))
  } catch {
    return false
  } finally {
    closeSync(fd)
  }
}

function anchor(path: string): HeldDirectory {
  const fd = openSync(path, constants.O_RDONLY | DIRECTORY | NO_FOLLOW)
  let isOpen = true
  const at = (name: string): string => {
    // A number that was given back may be anybody's by now.
    if (!isOpen) throw new FileFailure('bad-descriptor')
    return `/proc/self/fd/${fd}/${name}`
  }
  return {
    use: (name, act) => act(at(name)),
    open: (name) => anchor(at(name)),
    sync: () => {
      if (isOpen) fsyncSync(fd)
    },
    close: () => {
      if (!isOpen) return
      isOpen = false
      closeSync(fd)
    },
  }
}

function check(path: string): HeldDirectory {
  const found = lstatSync(path)
  if (found.isSymbolicLink()) throw new FileFailure('loop')
  if (!found.isDirectory()) throw new FileFailure('not-directory')
  const real = realpathSync(path)
  const requireSame = (): void => {
    if (realpathSync(real) !== real || !isSame(found, lstatSync(real))) throw new FileFailure('not-permitted')
  }
  const guarded = <T>(act: () => T): T => {
    requireSame()
    const result = act()
    requireSame()
    return result
  }
  requireSame()
  return {
    use: (name, act) => guarded(() => act(join(real, name))),
    open: (name) => guarded(() => check(join(real, name))),
    sync: () => {},
    close: () => {},
  }
}

export function isSame(left: Stats, right: Stats): boolean {
  return left.dev === right.dev && left.ino === right.ino
}
