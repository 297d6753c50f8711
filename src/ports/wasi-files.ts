/**
 * What a granted directory is to the WASI host: single names in directories that are already open.
 *
 * Paths, `..` and links are resolved above this, once, for every kind of directory; an implementation never follows a
 * link and never sees a separator. All of it is synchronous, because a guest's import has to return.
 *
 * Every method may throw an error that carries a `fileError`: that is what the guest gets. Anything else that is
 * thrown reaches the guest as `io`.
 */

/** The error codes of `wasi:filesystem/types`, and two that only preview 1 has. */
export type WasiFileError =
  | 'access'
  | 'already'
  | 'bad-descriptor'
  | 'busy'
  | 'cross-device'
  | 'exist'
  | 'file-too-large'
  | 'illegal-byte-sequence'
  | 'insufficient-space'
  | 'invalid'
  | 'invalid-seek'
  | 'io'
  | 'is-directory'
  | 'loop'
  | 'name-too-long'
  | 'no-entry'
  | 'not-directory'
  | 'not-empty'
  | 'not-permitted'
  | 'overflow'
  | 'quota'
  | 'read-only'
  | 'unsupported'
  | 'would-block'
  /** EMFILE: the guest holds as many descriptors as it may. `quota` in preview 2. */
  | 'too-many-open'
  /** ENOTCAPABLE: the descriptor lacks the right. `access` in preview 2. */
  | 'not-capable'

/** `other` is everything that is never opened: pipes, devices, sockets. */
export type WasiFileKind = 'file' | 'directory' | 'symbolic-link' | 'other'

export interface WasiFileStat {
  readonly kind: WasiFileKind
  /** Tells two files of one directory tree apart. Never a number of the host's own. */
  readonly inode: bigint
  readonly links: bigint
  readonly bytes: bigint
  /** Nanoseconds since the epoch, of the guest's logical time where the tree is in memory. */
  readonly accessedNs: bigint
  readonly modifiedNs: bigint
  readonly changedNs: bigint
}

/** Undefined leaves a time as it is. Nanoseconds since the epoch. */
export interface WasiFileTimes {
  readonly accessedNs?: bigint | undefined
  readonly modifiedNs?: bigint | undefined
}

/** An open plain file. It stays usable when its name is removed. */
export interface WasiFile {
  stat(): WasiFileStat
  /** At most `length` bytes from `offset` on, a copy; fewer, or none, at the end. */
  read(offset: number, length: number): Uint8Array
  /** Writes all of `bytes`, or throws and has written nothing. A gap before `offset` is zeros. */
  write(offset: number, bytes: Uint8Array): void
  resize(bytes: number): void
  setTimes(times: WasiFileTimes): void
  sync(): void
  close(): void
}

export interface WasiOpenHow {
  readonly write: boolean
  readonly create: boolean
  /** With `create`: fail where the name exists. */
  readonly exclusive: boolean
  readonly truncate: boolean
}

export interface WasiDirectoryEntry {
  readonly name: string
  readonly kind: WasiFileKind
  readonly inode: bigint
}

/** An open directory. `close` gives back what it holds of the host; nothing may be called after it. */
export interface WasiDirectory {
  stat(): WasiFileStat
  /** What the name stands for, a link itself and not what it leads to. */
  statOf(name: string): WasiFileStat
  /** Opens a plain file; a link is `loop`, a directory `is-directory`, anything else `not-permitted`. */
  openFile(name: string, how: WasiOpenHow): WasiFile
  /** A link is `loop`, a file `not-directory`. */
  openDirectory(name: string): WasiDirectory
  readLink(name: string): string
  makeDirectory(name: string): void
  makeLink(name: string, target: string): void
  removeFile(name: string): void
  removeDirectory(name: string): void
  /** `target` is of the same tree, else `cross-device`. */
  rename(name: string, target: WasiDirectory, newName: string): void
  hardLink(name: string, target: WasiDirectory, newName: string): void
  setTimesOf(name: string, times: WasiFileTimes): void
  /** Sorted by name (UTF-16 code units). */
  entries(): readonly WasiDirectoryEntry[]
  sync(): void
  close(): void
}

/** A tree that can be granted. */
export interface WasiTree {
  /** Opens its root. The host closes what it opened. */
  open(): WasiDirectory
  /**
   * All of it as plain data, with numbers for the files that are open; undefined where the tree is not the host's to
   * copy (a real directory): then no file of it may be open in a checkpoint.
   */
  readonly memory?: WasiMemoryTree
}

/** A tree that lives in the host's memory and goes into checkpoints. */
export interface WasiMemoryTree {
  /** @param open what the guest holds open; their inodes are kept even where no name leads to them */
  capture(open: readonly bigint[]): WasiTreeState
  /** Replaces everything. The state may be hostile. @throws CaissonError `corrupted` */
  restore(state: unknown): void
  /** A file or directory by its number, as it was held open. @throws CaissonError `corrupted` */
  reopenFile(inode: bigint): WasiFile
  reopenDirectory(inode: bigint): WasiDirectory
}

export interface WasiTreeState {
  /** The number that the next new file gets. */
  readonly nextInode: bigint
  readonly nodes: readonly WasiNodeState[]
}

/** One file, directory or link of a tree. The root has inode 1. */
export type WasiNodeState = {
  readonly inode: bigint
  readonly accessedNs: bigint
  readonly modifiedNs: bigint
  readonly changedNs: bigint
} & (
  | { readonly kind: 'file'; readonly bytes: Uint8Array }
  /** A file of the base that nobody changed: only its digest is kept. */
  | { readonly kind: 'base'; readonly digest: string }
  | { readonly kind: 'symbolic-link'; readonly target: string }
  | { readonly kind: 'directory'; readonly entries: readonly (readonly [name: string, inode: bigint])[] }
)
