/** What a guest does with paths, as both previews ask for it, in terms of single names. */
import type {
  WasiDirectory,
  WasiFile,
  WasiFileKind,
  WasiFileStat,
  WasiFileTimes,
} from '../../../src/ports/wasi-files.ts'
import { FileFailure, unlessMissing } from './file-failure.ts'
import { atPath, checkPath, type FilePlace } from './resolve-path.ts'

export interface OpenPathHow {
  readonly follow: boolean
  readonly create: boolean
  readonly exclusive: boolean
  readonly truncate: boolean
  /** Only a directory will do. */
  readonly directory: boolean
  readonly write: boolean
}

export type OpenedPath =
  | { readonly kind: 'file'; readonly file: WasiFile }
  | { readonly kind: 'directory'; readonly directory: WasiDirectory }

/** Opens what `path` names, from `base` on. The caller closes it. @throws FileFailure */
export function openPath(base: WasiDirectory, path: string, how: OpenPathHow): OpenedPath {
  if (how.create && how.directory) throw new FileFailure('invalid')
  // POSIX: a name that must not exist is not followed, whatever it is.
  const follow = how.follow && !(how.create && how.exclusive)
  return atPath(base, path, follow, (place) => {
    const found = statAt(place)
    if (found === undefined) return create(place, how)
    if (how.create && how.exclusive) throw new FileFailure('exist')
    return openFound(place, found.kind, how)
  })
}

function create({ directory, name, mustBeDirectory }: FilePlace, how: OpenPathHow): OpenedPath {
  if (!how.create) throw new FileFailure('no-entry')
  if (mustBeDirectory) throw new FileFailure('is-directory')
  const { write, exclusive, truncate } = how
  return { kind: 'file', file: directory.openFile(name, { write, create: true, exclusive, truncate }) }
}

function openFound(place: FilePlace, kind: WasiFileKind, how: OpenPathHow): OpenedPath {
  const { directory, name, mustBeDirectory } = place
  const { write, truncate } = how
  switch (kind) {
    case 'symbolic-link':
      throw new FileFailure('loop')
    case 'other':
      throw new FileFailure('not-permitted')
    case 'directory':
      if (truncate || how.create || write) throw new FileFailure('is-directory')
      return { kind, directory: directory.openDirectory(name) }
    case 'file':
      if (how.directory || mustBeDirectory) throw new FileFailure('not-directory')
      return { kind, file: directory.openFile(name, { write, create: false, exclusive: false, truncate }) }
  }
}

export function statPath(base: WasiDirectory, path: string, follow: boolean): WasiFileStat {
  return atPath(base, path, follow, (place) => {
    const found = statAt(place)
    if (found === undefined) throw new FileFailure('no-entry')
    if (place.mustBeDirectory && found.kind !== 'directory') throw new FileFailure('not-directory')
    return found
  })
}

export function setTimesOfPath(
  base: WasiDirectory,
  path: string,
  follow: boolean,
  times: WasiFileTimes,
): void {
  atPath(base, path, follow, ({ directory, name }) => directory.setTimesOf(name, times))
}

export function makeDirectoryAt(base: WasiDirectory, path: string): void {
  atPath(base, path, false, (place) => {
    if (place.name === '.') throw new FileFailure('exist')
    place.directory.makeDirectory(place.name)
  })
}

export function removeDirectoryAt(base: WasiDirectory, path: string): void {
  atPath(base, path, false, ({ directory, name }) => {
    if (name === '.') throw new FileFailure('invalid')
    directory.removeDirectory(name)
  })
}

export function removeFileAt(base: WasiDirectory, path: string): void {
  atPath(base, path, false, (place) => {
    const { directory, name, mustBeDirectory } = place
    if (name === '.') throw new FileFailure('is-directory')
    if (mustBeDirectory) {
      throw new FileFailure(statAt(place)?.kind === 'directory' ? 'is-directory' : 'not-directory')
    }
    directory.removeFile(name)
  })
}

export function readLinkAt(base: WasiDirectory, path: string): string {
  return atPath(base, path, false, (place) => {
    if (statAt(place)?.kind === 'symbolic-link') return place.directory.readLink(place.name)
    throw new FileFailure(statAt(place) === undefined ? 'no-entry' : 'invalid')
  })
}

/** @param target what the link says; an absolute one is refused: nothing absolute means anything to a guest */
export function makeLinkAt(base: WasiDirectory, path: string, target: string): void {
  checkPath(target)
  atPath(base, path, false, (place) => {
    const found = statAt(place)
    if (found !== undefined) {
      throw new FileFailure(place.mustBeDirectory && found.kind !== 'directory' ? 'not-directory' : 'exist')
    }
    if (place.mustBeDirectory) throw new FileFailure('no-entry')
    place.directory.makeLink(place.name, target)
  })
}

export function hardLinkAt(
  base: WasiDirectory,
  path: string,
  follow: boolean,
  target: WasiDirectory,
  newPath: string,
): void {
  atPath(base, path, follow, (from) => {
    const found = statAt(from)
    if (found === undefined) throw new FileFailure('no-entry')
    if (found.kind === 'directory') throw new FileFailure('not-permitted')
    if (from.mustBeDirectory) throw new FileFailure('not-directory')
    atPath(target, newPath, false, (to) => {
      if (statAt(to) !== undefined) throw new FileFailure('exist')
      if (to.mustBeDirectory) throw new FileFailure('no-entry')
      from.directory.hardLink(from.name, to.directory, to.name)
    })
  })
}

export function renameAt(base: WasiDirectory, path: string, target: WasiDirectory, newPath: string): void {
  atPath(base, path, false, (from) => {
    const found = statAt(from)
    if (found === undefined) throw new FileFailure('no-entry')
    if (from.name === '.') throw new FileFailure('busy')
    const isDirectory = found.kind === 'directory'
    if (from.mustBeDirectory && !isDirectory) throw new FileFailure('not-directory')
    atPath(target, newPath, false, (to) => {
      if (to.name === '.') throw new FileFailure('busy')
      if (to.mustBeDirectory && !isDirectory) throw new FileFailure('not-directory')
      from.directory.rename(from.name, to.directory, to.name)
    })
  })
}

function statAt({ directory, name }: FilePlace): WasiFileStat | undefined {
  return unlessMissing(() => directory.statOf(name))
}
