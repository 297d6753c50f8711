/**
 * A directory tree in the host's memory: what a guest gets where no directory of the host is granted, and, with a
 * base, an overlay over files that others share.
 *
 * 1. It is within its quota at every moment; what does not fit changes nothing.
 * 2. Files of the base are never changed in place: they are copied when the guest first writes to them.
 * 3. All of it is plain data at any moment, open files without a name too; of the base only digests are kept.
 * 4. Times are those that the caller's clock gives, never the host's.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiMemoryTree, WasiTree } from '../../../src/ports/wasi-files.ts'
import { openMemoryDirectory, openMemoryFile } from './memory-directory.ts'
import type { WasiTreeQuota } from './memory-node.ts'
import { MemoryState } from './memory-state.ts'
import { captureTree, restoreTree } from './memory-tree-state.ts'

/** A file that is shared, read-only and named by what is in it. */
export interface WasiBaseFile {
  /** Whatever names the content for the caller. A checkpoint holds it in place of the bytes. */
  readonly digest: string
  readonly bytes: Uint8Array
}

export interface WasiMemoryTreeOptions {
  /** Files to begin with, by relative path; text is stored as UTF-8. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>
  /** The base of an overlay, by relative path. Its bytes must not change while the tree lives. */
  readonly base?: Readonly<Record<string, WasiBaseFile>>
  readonly quota?: Partial<WasiTreeQuota>
  /** Time of changes, in nanoseconds since the epoch. Default: always 0. */
  readonly nowNs?: () => bigint
}

/** A tree in memory, and a look at it for the host. */
export interface OpenedMemoryTree extends WasiTree {
  readonly memory: WasiMemoryTree
  /** Plain files by relative path, sorted; copies of their bytes. With `changed`, only those not of the base. */
  files(options?: { readonly changed?: boolean }): ReadonlyMap<string, Uint8Array>
}

const DEFAULT_QUOTA: WasiTreeQuota = { fileBytes: 67_108_864, totalBytes: 67_108_864, entries: 10_000 }

/** @throws CaissonError `invalid_argument` for an impossible path, `quota_exceeded`, `invalid_limit` */
export function createWasiMemoryTree(options: WasiMemoryTreeOptions = {}): OpenedMemoryTree {
  const quota = { ...DEFAULT_QUOTA, ...options.quota }
  for (const [name, value] of Object.entries(quota)) {
    if (Number.isSafeInteger(value) && value >= 0) continue
    throw new CaissonError('invalid_limit', `The quota "${name}" takes a whole number from 0.`)
  }
  const state = new MemoryState(quota, options.nowNs ?? (() => 0n))
  const base = new Map(Object.values(options.base ?? {}).map(({ digest, bytes }) => [digest, bytes] as const))
  for (const [path, { digest, bytes }] of Object.entries(options.base ?? {})) state.plant(path, bytes, digest)
  for (const [path, content] of Object.entries(options.files ?? {})) {
    state.plant(
      path,
      typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content),
    )
  }
  return {
    open: () => openMemoryDirectory(state, state.root),
    files: ({ changed = false } = {}) => state.files(changed),
    memory: {
      capture: (open) => captureTree(state, open),
      restore: (given) => restoreTree(state, given, base),
      reopenFile: (inode) => openMemoryFile(state, state.nodeOf(inode, 'file')),
      reopenDirectory: (inode) => openMemoryDirectory(state, state.nodeOf(inode, 'directory')),
    },
  }
}
