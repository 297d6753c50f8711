/** A resource of a checkpoint, made anew under its number. The data may have been written by anybody. */
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiResourceState } from '../../../src/ports/wasi-host.ts'
import { shareFile } from '../files/shared-file.ts'
import { type GrantedDirectory, reopenDirectory, reopenFile } from '../granted-directories.ts'
import type { StandardStreams } from '../standard-streams.ts'
import { Descriptor, type DescriptorFlags, DirectoryEntryStream } from './descriptor.ts'
import { Pollable, type Preview2Context, restoredAwaited } from './pollable.ts'
import {
  fileSink,
  fileSource,
  InputStream,
  inputSource,
  OutputStream,
  outputSink,
  StreamError,
} from './streams.ts'

/** Kinds that a checkpoint can hold. */
export const RESTORABLE: ReadonlySet<string> = new Set([
  'pollable',
  'error',
  'input-stream',
  'output-stream',
  'descriptor',
  'directory-entry-stream',
])

const MAX_LISTED = 1_000_000

interface Held {
  readonly of?: unknown
  readonly grant?: unknown
  readonly inode?: unknown
  readonly offset?: unknown
  readonly flags?: unknown
  readonly code?: unknown
  readonly entries?: unknown
}

/** @throws CaissonError `corrupted` */
export function restoreResource(
  context: Preview2Context,
  granted: readonly GrantedDirectory[],
  streams: StandardStreams,
  { kind, data }: WasiResourceState,
): void {
  const held = Object(data) as Held
  switch (kind) {
    case 'pollable':
      new Pollable(context, restoredAwaited(data))
      return
    case 'error':
      new StreamError(context.resources, String(held.code).slice(0, 64))
      return
    case 'input-stream':
      new InputStream(
        context,
        held.of === 'stdin' ? inputSource(streams.stdin) : fileSource(...fileOf(granted, held)),
      )
      return
    case 'output-stream':
      restoreOutput(context, granted, streams, held)
      return
    case 'directory-entry-stream':
      new DirectoryEntryStream(context, entriesOf(held.entries), granted[0]?.listings)
      return
    case 'descriptor':
      restoreDescriptor(context, granted, held)
      return
    default:
      throw wrong()
  }
}

function restoreOutput(
  context: Preview2Context,
  granted: readonly GrantedDirectory[],
  streams: StandardStreams,
  held: Held,
): void {
  if (held.of === 'stdout' || held.of === 'stderr') {
    new OutputStream(context, outputSink(streams[held.of], held.of))
    return
  }
  const appends = held.offset === null
  const [file, grant, offset] = fileOf(granted, appends ? { ...held, offset: 0n } : held)
  new OutputStream(context, fileSink(file, grant, appends ? undefined : offset))
}

function restoreDescriptor(context: Preview2Context, granted: readonly GrantedDirectory[], held: Held): void {
  const directory = grantOf(granted, held.grant)
  const flags = flagsOf(held.flags, directory.writable)
  if (held.of === 'granted') {
    new Descriptor(context, directory, { kind: 'directory', directory: directory.root, isRoot: true }, flags)
  } else if (held.of === 'directory') {
    const opened = reopenDirectory(directory, inodeOf(held))
    new Descriptor(context, directory, { kind: 'directory', directory: opened, isRoot: false }, flags)
  } else {
    const file = shareFile(reopenFile(directory, inodeOf(held)))
    new Descriptor(context, directory, { kind: 'file', file }, flags)
  }
}

function fileOf(
  granted: readonly GrantedDirectory[],
  held: Held,
): [file: ReturnType<typeof reopenFile>, grant: number, offset: bigint] {
  const directory = grantOf(granted, held.grant)
  if (typeof held.offset !== 'bigint' || held.offset < 0n) throw wrong()
  return [reopenFile(directory, inodeOf(held)), directory.grant, held.offset]
}

function grantOf(granted: readonly GrantedDirectory[], grant: unknown): GrantedDirectory {
  const found = typeof grant === 'number' ? granted[grant] : undefined
  if (found === undefined) throw wrong()
  return found
}

function inodeOf({ inode }: Held): bigint {
  if (typeof inode !== 'bigint') throw wrong()
  return inode
}

function flagsOf(flags: unknown, writable: boolean): DescriptorFlags {
  const given = Object(flags) as Readonly<Record<string, unknown>>
  return {
    read: given.read === true,
    write: given.write === true,
    mutateDirectory: given.mutateDirectory === true && writable,
  }
}

function entriesOf(entries: unknown): readonly { readonly type: string; readonly name: string }[] {
  if (!Array.isArray(entries) || entries.length > MAX_LISTED) throw wrong()
  return entries.map((entry: { type?: unknown; name?: unknown }) => {
    if (typeof entry?.type !== 'string' || typeof entry.name !== 'string') throw wrong()
    return { type: entry.type, name: entry.name }
  })
}

function wrong(): CaissonError {
  return new CaissonError('corrupted', 'The state of a guest holds a resource that cannot be.')
}
