/**
 * One open directory of the real file system, and what can be done with the names directly in it.
 *
 * Node has no `openat`, so each platform has its own way to keep a name inside its directory; both stand behind this
 * interface, and `directory-file-tree.node.ts` is written once on top.
 */
import type { Stats } from 'node:fs'
import type { FileHandle } from 'node:fs/promises'

/** A directory that was found without following a link. Names are single, checked names. */
export interface DirectoryHandle {
  /** What stands under the name, links not followed. */
  stat(name: string): Promise<Stats>
  /** Opens a child directory. Rejects for everything else, links included. */
  openDirectory(name: string): Promise<DirectoryHandle>
  /** Opens a file with these flags of `node:fs`. A link is never followed, a pipe never waited for. */
  openFile(name: string, flags: number, mode?: number): Promise<FileHandle>
  makeDirectory(name: string): Promise<void>
  removeFile(name: string): Promise<void>
  removeDirectory(name: string): Promise<void>
  /** Replaces `to`, atomically. */
  rename(from: string, to: string): Promise<void>
  /** Gives a file a second name, atomically. Rejects with EEXIST where something has the name already. */
  link(from: string, to: string): Promise<void>
  /** Names piece by piece, for directories of any size. */
  names(): AsyncIterable<string>
  /** All names at once, as of one moment or nearly so: for small directories. */
  list(): Promise<readonly string[]>
  /** Makes the directory's own entries durable, where the platform can. */
  sync(): Promise<void>
  close(): Promise<void>
}
