/** `wasi:filesystem/types`: descriptors of granted directories and of what is opened in them. */
import type { WasiDirectory, WasiFileKind, WasiFileStat } from '../../../src/ports/wasi-files.ts'
import type { WasiResourceState } from '../../../src/ports/wasi-host.ts'
import { FileFailure } from '../files/file-failure.ts'
import type { ListingRoom } from '../files/listing-room.ts'
import {
  hardLinkAt,
  makeDirectoryAt,
  makeLinkAt,
  openPath,
  readLinkAt,
  removeDirectoryAt,
  removeFileAt,
  renameAt,
  setTimesOfPath,
  statPath,
} from '../files/path-operations.ts'
import { type SharedFile, shareFile } from '../files/shared-file.ts'
import type { GrantedDirectory } from '../granted-directories.ts'
import { InterfaceError, orErrorCode } from './component-error.ts'
import type { Preview2Context } from './pollable.ts'
import { Resource } from './resource.ts'
import { fileSink, fileSource, InputStream, OutputStream, STREAM_CHUNK } from './streams.ts'

/** `descriptor-flags`. */
export interface DescriptorFlags {
  readonly read?: boolean
  readonly write?: boolean
  readonly fileIntegritySync?: boolean
  readonly dataIntegritySync?: boolean
  readonly requestedWriteSync?: boolean
  readonly mutateDirectory?: boolean
}

interface PathFlags {
  readonly symlinkFollow?: boolean
}

interface OpenFlags {
  readonly create?: boolean
  readonly directory?: boolean
  readonly exclusive?: boolean
  readonly truncate?: boolean
}

type NewTimestamp =
  | { readonly tag: 'no-change' }
  | { readonly tag: 'now' }
  | { readonly tag: 'timestamp'; readonly val: { readonly seconds: bigint; readonly nanoseconds: number } }

interface DateTime {
  readonly seconds: bigint
  readonly nanoseconds: number
}

interface DescriptorStat {
  readonly type: string
  readonly linkCount: bigint
  readonly size: bigint
  readonly dataAccessTimestamp: DateTime
  readonly dataModificationTimestamp: DateTime
  readonly statusChangeTimestamp: DateTime
}

export type OpenNode =
  | { readonly kind: 'file'; readonly file: SharedFile }
  | { readonly kind: 'directory'; readonly directory: WasiDirectory; readonly isRoot: boolean }

const TYPES: Readonly<Record<WasiFileKind, string>> = {
  file: 'regular-file',
  directory: 'directory',
  'symbolic-link': 'symbolic-link',
  other: 'unknown',
}

/** What a guest lists. */
export class DirectoryEntryStream extends Resource {
  readonly #entries: { readonly type: string; readonly name: string }[]
  readonly #room: ListingRoom | undefined
  readonly #taken: number

  /** @param room where it is counted @throws FileFailure `too-many-open` */
  constructor(
    context: Preview2Context,
    entries: readonly { readonly type: string; readonly name: string }[],
    room: ListingRoom | undefined,
  ) {
    room?.take(entries.length)
    super(context.resources)
    this.#entries = [...entries]
    this.#room = room
    this.#taken = entries.length
  }

  readDirectoryEntry(): { readonly type: string; readonly name: string } | undefined {
    return this.#entries.shift()
  }

  override state(): Omit<WasiResourceState, 'id'> {
    return { kind: 'directory-entry-stream', data: { entries: [...this.#entries] } }
  }

  protected override release(): void {
    this.#room?.give(this.#taken)
  }
}

export class Descriptor extends Resource {
  readonly #context: Preview2Context
  readonly #granted: GrantedDirectory
  readonly #node: OpenNode
  readonly #flags: DescriptorFlags

  constructor(context: Preview2Context, granted: GrantedDirectory, node: OpenNode, flags: DescriptorFlags) {
    super(context.resources)
    this.#context = context
    this.#granted = granted
    this.#node = node
    this.#flags = flags
  }

  readViaStream(offset: bigint): InputStream {
    return this.#answer(() => {
      const file = this.#again('read')
      return new InputStream(this.#context, fileSource(file, this.#granted.grant, offset))
    })
  }

  writeViaStream(offset: bigint): OutputStream {
    return this.#answer(() => {
      const file = this.#again('write')
      return new OutputStream(this.#context, fileSink(file, this.#granted.grant, offset))
    })
  }

  appendViaStream(): OutputStream {
    return this.#answer(() => {
      const file = this.#again('write')
      return new OutputStream(this.#context, fileSink(file, this.#granted.grant, undefined))
    })
  }

  advise(_offset: bigint, _length: bigint, _advice: string): void {
    this.#answer(() => this.#file())
  }

  syncData(): void {
    this.sync()
  }

  sync(): void {
    this.#answer(() => (this.#node.kind === 'file' ? this.#node.file.sync() : this.#node.directory.sync()))
  }

  getFlags(): DescriptorFlags {
    return this.#flags
  }

  getType(): string {
    return TYPES[this.#node.kind]
  }

  setSize(size: bigint): void {
    this.#answer(() => {
      this.#require('write')
      this.#file().resize(toNumber(size))
    })
  }

  setTimes(accessed: NewTimestamp, modified: NewTimestamp): void {
    this.#answer(() => {
      const times = this.#times(accessed, modified)
      if (this.#node.kind === 'file') this.#node.file.setTimes(times)
      else this.#node.directory.setTimesOf('.', times)
    })
  }

  read(length: bigint, offset: bigint): readonly [Uint8Array, boolean] {
    return this.#answer(() => {
      this.#require('read')
      const file = this.#file()
      const wanted = length < STREAM_CHUNK ? Number(length) : STREAM_CHUNK
      const bytes = offset > Number.MAX_SAFE_INTEGER ? new Uint8Array(0) : file.read(Number(offset), wanted)
      return [bytes, offset + BigInt(bytes.length) >= file.stat().bytes] as const
    })
  }

  write(bytes: Uint8Array, offset: bigint): bigint {
    return this.#answer(() => {
      this.#require('write')
      toNumber(offset + BigInt(bytes.length))
      this.#file().write(Number(offset), bytes)
      return BigInt(bytes.length)
    })
  }

  readDirectory(): DirectoryEntryStream {
    return this.#answer(() => {
      const entries = this.#directory().entries()
      return new DirectoryEntryStream(
        this.#context,
        entries.map(({ name, kind }) => ({ type: TYPES[kind], name })),
        this.#granted.listings,
      )
    })
  }

  createDirectoryAt(path: string): void {
    this.#answer(() => makeDirectoryAt(this.#directory(), path))
  }

  stat(): DescriptorStat {
    return this.#answer(() =>
      toStat(this.#node.kind === 'file' ? this.#node.file.stat() : this.#node.directory.stat()),
    )
  }

  statAt(flags: PathFlags, path: string): DescriptorStat {
    return this.#answer(() => toStat(statPath(this.#directory(), path, flags.symlinkFollow === true)))
  }

  setTimesAt(flags: PathFlags, path: string, accessed: NewTimestamp, modified: NewTimestamp): void {
    this.#answer(() => {
      const times = this.#times(accessed, modified)
      setTimesOfPath(this.#directory(), path, flags.symlinkFollow === true, times)
    })
  }

  linkAt(flags: PathFlags, path: string, target: Descriptor, newPath: string): void {
    this.#answer(() =>
      hardLinkAt(this.#directory(), path, flags.symlinkFollow === true, target.#directory(), newPath),
    )
  }

  openAt(flags: PathFlags, path: string, how: OpenFlags, wanted: DescriptorFlags): Descriptor {
    return this.#answer(() => {
      const opened = openPath(this.#directory(), path, {
        follow: flags.symlinkFollow === true,
        create: how.create === true,
        exclusive: how.exclusive === true,
        truncate: how.truncate === true,
        directory: how.directory === true,
        write: wanted.write === true,
      })
      const node: OpenNode =
        opened.kind === 'file' ? { kind: 'file', file: shareFile(opened.file) } : { ...opened, isRoot: false }
      return new Descriptor(this.#context, this.#granted, node, this.#allowed(wanted))
    })
  }

  readlinkAt(path: string): string {
    return this.#answer(() => readLinkAt(this.#directory(), path))
  }

  removeDirectoryAt(path: string): void {
    this.#answer(() => removeDirectoryAt(this.#directory(), path))
  }

  renameAt(path: string, target: Descriptor, newPath: string): void {
    this.#answer(() => renameAt(this.#directory(), path, target.#directory(), newPath))
  }

  symlinkAt(target: string, path: string): void {
    this.#answer(() => makeLinkAt(this.#directory(), path, target))
  }

  unlinkFileAt(path: string): void {
    this.#answer(() => removeFileAt(this.#directory(), path))
  }

  isSameObject(other: Descriptor): boolean {
    return this.#granted === other.#granted && this.#inode() === other.#inode()
  }

  metadataHash(): { readonly upper: bigint; readonly lower: bigint } {
    return this.#answer(() => this.#hash(this.#inode()))
  }

  metadataHashAt(flags: PathFlags, path: string): { readonly upper: bigint; readonly lower: bigint } {
    return this.#answer(() =>
      this.#hash(statPath(this.#directory(), path, flags.symlinkFollow === true).inode),
    )
  }

  override state(): Omit<WasiResourceState, 'id'> {
    const { grant } = this.#granted
    const isRoot = this.#node.kind === 'directory' && this.#node.isRoot
    const { read, write, mutateDirectory } = this.#flags
    const flags = { read: read === true, write: write === true, mutateDirectory: mutateDirectory === true }
    const data = { grant, of: this.#node.kind, flags }
    return {
      kind: 'descriptor',
      data: isRoot ? { ...data, of: 'granted' } : { ...data, inode: this.#inode() },
    }
  }

  protected override release(): void {
    if (this.#node.kind === 'file') this.#node.file.close()
    else if (!this.#node.isRoot) this.#node.directory.close()
  }

  /** The same file for a stream, which may outlive this descriptor. */
  #again(right: 'read' | 'write'): SharedFile {
    this.#require(right)
    return this.#file().retain()
  }

  /** An answer, or an `error-code`. What has ended does nothing more. */
  #answer<T>(act: () => T): T {
    if (this.#context.end.reason !== undefined) throw new InterfaceError('not-permitted')
    return orErrorCode(act)
  }

  #require(right: 'read' | 'write'): void {
    if (this.#flags[right] !== true) throw new FileFailure('bad-descriptor')
  }

  #file(): SharedFile {
    if (this.#node.kind !== 'file') throw new FileFailure('is-directory')
    return this.#node.file
  }

  #directory(): WasiDirectory {
    if (this.#node.kind !== 'directory') throw new FileFailure('not-directory')
    return this.#node.directory
  }

  #inode(): bigint {
    return this.#node.kind === 'file' ? this.#node.file.stat().inode : this.#node.directory.stat().inode
  }

  #hash(inode: bigint): { readonly upper: bigint; readonly lower: bigint } {
    return { upper: BigInt(this.#granted.grant) + 1n, lower: inode }
  }

  /** What is said to be allowed is what would work. */
  #allowed(wanted: DescriptorFlags): DescriptorFlags {
    return { ...wanted, mutateDirectory: wanted.mutateDirectory === true && this.#granted.writable }
  }

  #times(accessed: NewTimestamp, modified: NewTimestamp): { accessedNs?: bigint; modifiedNs?: bigint } {
    const nsOf = (given: NewTimestamp): bigint | undefined => {
      if (given.tag === 'no-change') return undefined
      if (given.tag === 'now') return this.#context.world.clock?.wallNs() ?? 0n
      const ns = given.val.seconds * 1_000_000_000n + BigInt(given.val.nanoseconds)
      if (ns >= 1n << 64n) throw new FileFailure('overflow')
      return ns
    }
    const [accessedNs, modifiedNs] = [nsOf(accessed), nsOf(modified)]
    return {
      ...(accessedNs === undefined ? {} : { accessedNs }),
      ...(modifiedNs === undefined ? {} : { modifiedNs }),
    }
  }
}

function toStat(stat: WasiFileStat): DescriptorStat {
  return {
    type: TYPES[stat.kind],
    linkCount: stat.links,
    size: stat.bytes,
    dataAccessTimestamp: toDateTime(stat.accessedNs),
    dataModificationTimestamp: toDateTime(stat.modifiedNs),
    statusChangeTimestamp: toDateTime(stat.changedNs),
  }
}

export function toDateTime(ns: bigint): DateTime {
  return { seconds: ns / 1_000_000_000n, nanoseconds: Number(ns % 1_000_000_000n) }
}

function toNumber(size: bigint): number {
  if (size > Number.MAX_SAFE_INTEGER) throw new InterfaceError('file-too-large')
  return Number(size)
}
