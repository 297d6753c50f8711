/** A directory that was granted for reading: every change is EROFS, here and in everything that is opened from it. */
import type { WasiDirectory, WasiFile } from '../../../src/ports/wasi-files.ts'
import { FileFailure, unlessMissing } from './file-failure.ts'

export function readOnlyDirectory(directory: WasiDirectory): WasiDirectory {
  return {
    stat: () => directory.stat(),
    statOf: (name) => directory.statOf(name),
    openFile: (name, how) => {
      const { write, truncate, create, exclusive } = how
      if (write || truncate) refuse()
      if (create) {
        // As on a disk that is mounted for reading: creating what is there already is no change.
        const found = unlessMissing(() => directory.statOf(name))
        if (found === undefined) refuse()
        if (exclusive) throw new FileFailure('exist')
      }
      return readOnlyFile(directory.openFile(name, { ...how, create: false }))
    },
    openDirectory: (name) => readOnlyDirectory(directory.openDirectory(name)),
    readLink: (name) => directory.readLink(name),
    makeDirectory: refuse,
    makeLink: refuse,
    removeFile: refuse,
    removeDirectory: refuse,
    rename: refuse,
    hardLink: refuse,
    setTimesOf: refuse,
    entries: () => directory.entries(),
    sync: () => {},
    close: () => directory.close(),
  }
}

export function readOnlyFile(file: WasiFile): WasiFile {
  return {
    stat: () => file.stat(),
    read: (offset, length) => file.read(offset, length),
    write: refuse,
    resize: refuse,
    setTimes: refuse,
    sync: () => {},
    close: () => file.close(),
  }
}

function refuse(): never {
  throw new FileFailure('read-only')
}
