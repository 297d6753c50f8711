/** A folder that tells somebody before and after each operation, who may make it fail. */
import type { StoreFile, StoreFolder } from '../../host-bindings/store/node/store-folder.ts'

/** One call of an operation on a folder or a file. */
export interface Operation {
  /** From 1, in the order of the calls. */
  readonly number: number
  readonly name: string
  /** The open file that it is about, if any. */
  readonly file?: StoreFile
}

export interface Watcher {
  /** Throws to have the operation not happen; it waits for a promise. */
  before?(operation: Operation): void | Promise<void>
  /** Throws to have it happen and be reported as failed. */
  after?(operation: Operation): void
  /** How many of the bytes are written; default all. Fewer is what a full disk does. */
  shorten?(operation: Operation, bytes: number): number
}

/** Operations that only look, or end something: nothing about the disk changes with them. */
const HARMLESS: ReadonlySet<string> = new Set(['stat', 'openDirectory', 'list', 'read', 'close'])

/** Whether an operation changes the disk, or makes changes durable. */
export function isChange(operation: Operation): boolean {
  return !HARMLESS.has(operation.name)
}

/** Wraps `folder`, and all that is opened in it. */
export function watchFolder(folder: StoreFolder, watcher: Watcher): StoreFolder {
  let count = 0
  const call = async <T>(name: string, act: () => Promise<T>, file?: StoreFile): Promise<T> => {
    count += 1
    const operation: Operation = file === undefined ? { number: count, name } : { number: count, name, file }
    await watcher.before?.(operation)
    const result = await act()
    watcher.after?.(operation)
    return result
  }
  const watchFile = (file: StoreFile): StoreFile => ({
    stat: () => call('stat', () => file.stat(), file),
    read: (...args) => call('read', () => file.read(...args), file),
    write: (buffer, offset, length, position) => {
      const part = watcher.shorten?.({ number: count + 1, name: 'write', file }, length) ?? length
      return call('write', () => file.write(buffer, offset, part, position), file)
    },
    utimes: (...args) => call('utimes', () => file.utimes(...args), file),
    datasync: () => call('datasync', () => file.datasync(), file),
    close: () => call('close', () => file.close(), file),
  })
  const watch = (inner: StoreFolder): StoreFolder => ({
    stat: (name) => call('stat', () => inner.stat(name)),
    openDirectory: (name) => call('openDirectory', async () => watch(await inner.openDirectory(name))),
    openFile: (...args) => call('openFile', async () => watchFile(await inner.openFile(...args))),
    makeDirectory: (name) => call('makeDirectory', () => inner.makeDirectory(name)),
    removeFile: (name) => call('removeFile', () => inner.removeFile(name)),
    removeDirectory: (name) => call('removeDirectory', () => inner.removeDirectory(name)),
    rename: (from, to) => call('rename', () => inner.rename(from, to)),
    link: (from, to) => call('link', () => inner.link(from, to)),
    list: () => call('list', () => inner.list()),
    sync: () => call('sync', () => inner.sync()),
    close: () => call('close', () => inner.close()),
  })
  return watch(folder)
}
