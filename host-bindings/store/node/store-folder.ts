/**
 * The few operations on files that a store of runs needs, in folders that are held open.
 *
 * `DirectoryHandle` is the real thing: names are looked up in a directory that is already open, and links are never
 * followed. Tests put a folder in between that fails, stops the process, or forgets what was not synced, at any
 * operation that they name.
 */

/** What a name stands for. */
export interface StoreStat {
  readonly size: number
  readonly mtimeMs: number
  readonly dev: number
  readonly ino: number
  isFile(): boolean
}

/** An open file. Offsets and lengths in bytes. */
export interface StoreFile {
  stat(): Promise<StoreStat>
  read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesRead: number }>
  write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ readonly bytesWritten: number }>
  /** Sets the time of the last change, which says how old a checkpoint is. */
  utimes(accessed: Date, changed: Date): Promise<void>
  /** Makes contents durable, and the size with them. */
  datasync(): Promise<void>
  close(): Promise<void>
}

/** An open folder. Names are single, plain names. Errors are those of `node:fs`, with their `code`. */
export interface StoreFolder {
  stat(name: string): Promise<StoreStat>
  openDirectory(name: string): Promise<StoreFolder>
  /** `flags` of `node:fs`. A link is never followed, a pipe never waited for. */
  openFile(name: string, flags: number, mode?: number): Promise<StoreFile>
  makeDirectory(name: string): Promise<void>
  removeFile(name: string): Promise<void>
  removeDirectory(name: string): Promise<void>
  /** Replaces `to`, atomically. */
  rename(from: string, to: string): Promise<void>
  /** Gives a file a second name, atomically; rejects with EEXIST where something has it. */
  link(from: string, to: string): Promise<void>
  list(): Promise<readonly string[]>
  /** Makes the folder's entries durable. */
  sync(): Promise<void>
  close(): Promise<void>
}
