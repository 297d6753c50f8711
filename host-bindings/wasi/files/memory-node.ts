/** Files, directories and links of a tree in memory, and what they take of its quota. */
import type { WasiFileKind, WasiFileStat } from '../../../src/ports/wasi-files.ts'
import { FileFailure } from './file-failure.ts'

/** What a tree in memory may hold. */
export interface WasiTreeQuota {
  /** Bytes of one file. Default 64 MiB. */
  readonly fileBytes: number
  /** Bytes of all files. Default 64 MiB. */
  readonly totalBytes: number
  /** Files, directories and links. Default 10,000. */
  readonly entries: number
}

interface NodeTimes {
  accessedNs: bigint
  modifiedNs: bigint
  changedNs: bigint
}

interface AnyNode {
  readonly inode: bigint
  readonly times: NodeTimes
  /** Names that lead to it. */
  links: number
  /** How often it is open. It is freed when neither a name nor a descriptor leads to it. */
  opens: number
}

export interface FileNode extends AnyNode {
  readonly kind: 'file'
  /** The content, and room behind it where `size` is smaller. Never changed while `digest` is set. */
  data: Uint8Array
  size: number
  /** Set while the content is that of the base, which others may hold too: it is copied before the first change. */
  digest: string | undefined
}

export interface DirectoryNode extends AnyNode {
  readonly kind: 'directory'
  readonly entries: Map<string, MemoryNode>
  /** Undefined for the root, and for a directory that was removed. */
  parent: DirectoryNode | undefined
}

export interface LinkNode extends AnyNode {
  readonly kind: 'symbolic-link'
  readonly target: string
}

export type MemoryNode = FileNode | DirectoryNode | LinkNode

/** Counts what the nodes of one tree take. */
export class TreeUsage {
  readonly #quota: WasiTreeQuota
  #bytes = 0
  #entries = 0

  constructor(quota: WasiTreeQuota) {
    this.#quota = quota
  }

  /** @throws FileFailure `insufficient-space`, `file-too-large`; nothing is counted then */
  resizeFile(from: number, to: number): void {
    if (to > this.#quota.fileBytes) throw new FileFailure('file-too-large')
    if (to > from && this.#bytes + to - from > this.#quota.totalBytes) {
      throw new FileFailure('insufficient-space')
    }
    this.#bytes += to - from
  }

  /** @throws FileFailure `insufficient-space` */
  addEntry(): void {
    if (this.#entries >= this.#quota.entries) throw new FileFailure('insufficient-space')
    this.#entries += 1
  }

  removeEntry(bytes: number): void {
    this.#entries -= 1
    this.#bytes -= bytes
  }

  reset(): void {
    this.#bytes = 0
    this.#entries = 0
  }
}

export function statOfNode(node: MemoryNode): WasiFileStat {
  const kind: WasiFileKind = node.kind
  return {
    kind,
    inode: node.inode,
    links: BigInt(node.links),
    bytes: BigInt(bytesOf(node)),
    ...node.times,
  }
}

export function bytesOf(node: MemoryNode): number {
  switch (node.kind) {
    case 'file':
      return node.size
    case 'symbolic-link':
      return new TextEncoder().encode(node.target).length
    case 'directory':
      return 0
  }
}

/**
 * Makes the file's own content at least `size` bytes long: room doubles, so that many small writes stay cheap. Bytes
 * between the old end and the new one are zeros.
 */
export function growFile(file: FileNode, size: number): void {
  if (file.digest !== undefined || size > file.data.length) {
    const grown = new Uint8Array(
      Math.max(size, size > file.size ? Math.min(size * 2, size + 16_777_216) : size),
    )
    grown.set(file.data.subarray(0, Math.min(file.size, grown.length)))
    file.data = grown
    file.digest = undefined
  } else if (size > file.size) {
    file.data.fill(0, file.size, size)
  }
  file.size = Math.max(file.size, size)
}
