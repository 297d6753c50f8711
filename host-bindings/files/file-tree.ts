/** The port behind `files.*`: one granted directory, in memory or real, that nothing leads out of. */

/** What can stand in a tree. Links, pipes, devices and sockets are refused, and left out of lists. */
export type FileKind = 'file' | 'directory'

export interface FileStat {
  readonly kind: FileKind
  /** Size of a file in bytes; 0 for a directory. */
  readonly bytes: number
  /** Last change, in milliseconds since the epoch. */
  readonly modifiedMs: number
}

export interface FileEntry {
  /** A single name, without the directory. */
  readonly name: string
  readonly kind: FileKind
  readonly bytes: number
}

/** Part of a file, in bytes. What lies behind the file's end is not returned. */
export interface FileRange {
  readonly offset: number
  readonly length: number
}

/**
 * A directory and everything in it.
 *
 * Paths are as `parseFilePath` takes them: relative, with `/`, and `.` for the directory itself. All methods reject
 * with `path_denied` for a path that leads out or to something that is no plain file or directory, and with
 * `not_found` where nothing is there. Changes happen one after the other; each wholly or not at all.
 */
export interface FileTree {
  /**
   * A whole file, or a part of it.
   * @throws CaissonError `result_too_large` above the quota's `fileBytes`
   */
  read(path: string, range?: FileRange): Promise<Uint8Array>
  stat(path: string): Promise<FileStat>
  /**
   * The entries of a directory, ordered by name (UTF-16 code units).
   * @throws CaissonError `result_too_large` above 10,000 entries
   */
  list(path: string): Promise<readonly FileEntry[]>
  /**
   * Creates or replaces a file. Readers see the old content or the new, never a part.
   * @throws CaissonError `denied` (not writable), `quota_exceeded`
   */
  write(path: string, data: Uint8Array): Promise<void>
  /**
   * Removes a file or an empty directory.
   * @throws CaissonError `denied` (not writable, or not empty)
   */
  remove(path: string): Promise<void>
  /**
   * Creates a directory and those above it; fine where it exists already.
   * @throws CaissonError `denied` (not writable), `already_exists` (a file has the name), `quota_exceeded`
   */
  mkdir(path: string): Promise<void>
  /** Where the host finds `path`, for people; undefined in memory. Never shown to a guest. */
  locate(path: string): string | undefined
}

/** Lists above this many entries are refused. */
export const MAX_LISTED = 10_000
