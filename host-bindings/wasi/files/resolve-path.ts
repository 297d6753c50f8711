/**
 * From a guest's path to a single name in an open directory: the only place where paths are read.
 *
 * 1. Every component is looked up in a directory that is open; `..` steps back along what was opened and never above
 *    the directory that the path starts from.
 * 2. Links are read and followed here, at most 40 of them, by the same rules: an absolute one, and one that leads
 *    above the start, is `not-permitted`.
 * 3. What was opened on the way is closed, whatever happens.
 * 4. The work is bounded by `MAX_NAMES`, however often links repeat.
 */
import type { WasiDirectory } from '../../../src/ports/wasi-files.ts'
import { FileFailure, fileErrorOf, unlessMissing } from './file-failure.ts'

/** Bytes of a path in UTF-8, and of a link's target. */
export const MAX_PATH_BYTES = 4_096
const MAX_NAME_BYTES = 255
const MAX_LINKS = 40
/** Components along one path, those of followed links among them. */
const MAX_NAMES = 4_096

/** Where a path leads: a name, which need not exist, in a directory that is open while the place is used. */
export interface FilePlace {
  readonly directory: WasiDirectory
  /** `.` is the directory itself. */
  readonly name: string
  /** The path ends in a slash: whatever the name stands for has to be a directory. */
  readonly mustBeDirectory: boolean
}

/**
 * Runs `act` at the place that `path` names.
 * @param followLast whether a link in last place is followed; with a trailing slash it always is
 * @throws FileFailure
 */
export function atPath<T>(
  base: WasiDirectory,
  path: string,
  followLast: boolean,
  act: (place: FilePlace) => T,
): T {
  checkPath(path)
  const opened: WasiDirectory[] = []
  try {
    return act(walk(base, path, followLast, opened))
  } finally {
    for (const directory of opened) directory.close()
  }
}

/** @throws FileFailure for what is no relative path of a bounded length */
export function checkPath(path: string): void {
  if (path === '') throw new FileFailure('no-entry')
  if (path.length > MAX_PATH_BYTES || byteLength(path) > MAX_PATH_BYTES) {
    throw new FileFailure('name-too-long')
  }
  if (path.includes('\0')) throw new FileFailure('invalid')
  if (path.startsWith('/')) throw new FileFailure('not-permitted')
}

function walk(base: WasiDirectory, path: string, followLast: boolean, opened: WasiDirectory[]): FilePlace {
  let names = split(path)
  let mustBeDirectory = endsAsDirectory(path)
  let links = 0
  let seen = 0
  let top = base
  const follow = (name: string): void => {
    const target = top.readLink(name)
    links += 1
    if (links > MAX_LINKS) throw new FileFailure('loop')
    checkPath(target)
    if (names.length === 0) mustBeDirectory ||= endsAsDirectory(target)
    names = [...split(target), ...names]
  }

  for (;;) {
    const name = names.shift()
    if (name === undefined) return { directory: top, name: '.', mustBeDirectory }
    seen += 1
    if (seen > MAX_NAMES) throw new FileFailure('name-too-long')
    if (name === '..') {
      if (opened.pop() === undefined) throw new FileFailure('not-permitted')
      top.close()
      top = opened.at(-1) ?? base
      continue
    }
    if (byteLength(name) > MAX_NAME_BYTES) throw new FileFailure('name-too-long')
    if (names.length === 0) {
      const isLink = (): boolean => unlessMissing(() => top.statOf(name))?.kind === 'symbolic-link'
      if (!(followLast || mustBeDirectory) || !isLink()) return { directory: top, name, mustBeDirectory }
      follow(name)
      continue
    }
    const next = enter(top, name)
    if (next === undefined) follow(name)
    else {
      opened.push(next)
      top = next
    }
  }
}

/** Undefined for a link. */
function enter(directory: WasiDirectory, name: string): WasiDirectory | undefined {
  try {
    return directory.openDirectory(name)
  } catch (error) {
    if (fileErrorOf(error) === 'loop') return undefined
    throw error
  }
}

function split(path: string): string[] {
  return path.split('/').filter((name) => name !== '' && name !== '.')
}

/** `a/`, `a/.`, `a/..`: nothing but a directory can be meant. */
function endsAsDirectory(path: string): boolean {
  return /(^|\/)\.{0,2}$/.test(path)
}

function byteLength(text: string): number {
  return text.length * 3 <= MAX_NAME_BYTES ? text.length : new TextEncoder().encode(text).length
}
