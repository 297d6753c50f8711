/**
 * A disk in memory that keeps what was synced and forgets of the rest what it likes, as disks may when the power goes.
 *
 * 1. Contents are durable after `datasync` of the file, names after `sync` of the folder. Of names that changed since,
 *    any part of the changes may have reached the disk; of contents, any block of 512 bytes.
 * 2. A rename or a link is one change. A folder that lost its name is lost with all in it.
 * 3. A `datasync` that failed has dropped what it should have written: the next one succeeds and does not write it.
 */
import { constants } from 'node:fs'
import type { StoreFile, StoreFolder, StoreStat } from '../../host-bindings/store/node/store-folder.ts'

const BLOCK = 512

/** Draws from 0 (included) to 1. */
export type Random = () => number

/** Which of the changes of names in a folder reached the disk, of so many since its last sync. */
export type KeptChanges = 'any' | 'newest'

interface FileNode {
  readonly kind: 'file'
  readonly ino: number
  /** Replaced by every write, and never changed. */
  now: Uint8Array
  durable: Uint8Array
  /** Writes since the last sync were dropped by one that failed. */
  dropped: boolean
  changedMs: number
}

interface FolderNode {
  readonly kind: 'folder'
  readonly ino: number
  now: Map<string, Node>
  durable: Map<string, Node>
  /** Since the last sync, each as the names that it changes. */
  changes: (readonly (readonly [name: string, node: Node | undefined])[])[]
  /** A folder without a name takes nothing any more. */
  removed: boolean
}

type Node = FileNode | FolderNode

export class VolatileDisk {
  #lastIno = 1
  #root: FolderNode = this.#folder()

  /** The root folder, open. */
  open(): StoreFolder {
    return this.#handle(this.#root)
  }

  /** A disk as this one would be if the power went now and came back. This one stays as it is. */
  afterCut(random: Random, kept: KeptChanges = 'any'): VolatileDisk {
    const disk = new VolatileDisk()
    disk.#root = disk.#leftOf(this.#root, random, kept, new Map()) as FolderNode
    disk.#lastIno = this.#lastIno
    return disk
  }

  /** A sync of this file has failed: what was written and not synced is dropped, as Linux does. */
  static dropWrites(file: StoreFile): void {
    if (file instanceof VolatileFile) file.node.dropped = true
  }

  #folder(): FolderNode {
    this.#lastIno += 1
    return {
      kind: 'folder',
      ino: this.#lastIno,
      now: new Map(),
      durable: new Map(),
      changes: [],
      removed: false,
    }
  }

  #leftOf(node: Node, random: Random, kept: KeptChanges, done: Map<Node, Node>): Node {
    const known = done.get(node)
    if (known !== undefined) return known
    if (node.kind === 'file') {
      const bytes = mixBlocks(node, random)
      const file: FileNode = { ...node, now: bytes, durable: bytes, dropped: false }
      done.set(node, file)
      return file
    }
    const names = new Map(node.durable)
    for (const [index, change] of node.changes.entries()) {
      const isKept = kept === 'any' ? random() >= 0.5 : index === node.changes.length - 1
      if (!isKept) continue
      for (const [name, child] of change) {
        if (child === undefined) names.delete(name)
        else names.set(name, child)
      }
    }
    const folder: FolderNode = { ...this.#folder(), ino: node.ino }
    done.set(node, folder)
    for (const [name, child] of names) folder.now.set(name, this.#leftOf(child, random, kept, done))
    folder.durable = new Map(folder.now)
    return folder
  }

  #handle(folder: FolderNode): StoreFolder {
    const there = (name: string): Node => {
      const node = name === '.' ? folder : folder.now.get(name)
      if (node === undefined) throw errno('ENOENT')
      return node
    }
    const change = (...names: (readonly [string, Node | undefined])[]): void => {
      if (folder.removed) throw errno('ENOENT')
      for (const [name, node] of names) {
        if (node === undefined) folder.now.delete(name)
        else folder.now.set(name, node)
      }
      folder.changes.push(names)
    }
    return {
      stat: async (name) => statOf(there(name)),
      openDirectory: async (name) => {
        const node = there(name)
        if (node.kind !== 'folder') throw errno('ENOTDIR')
        return this.#handle(node)
      },
      openFile: async (name, flags) => {
        let node = folder.now.get(name)
        if (node !== undefined && flags & constants.O_EXCL) throw errno('EEXIST')
        if (node === undefined && flags & constants.O_CREAT) {
          this.#lastIno += 1
          const bytes = new Uint8Array(0)
          const changedMs = Date.now()
          node = { kind: 'file', ino: this.#lastIno, now: bytes, durable: bytes, dropped: false, changedMs }
          change([name, node])
        }
        if (node === undefined) throw errno('ENOENT')
        if (node.kind !== 'file') throw errno('EISDIR')
        return new VolatileFile(node)
      },
      makeDirectory: async (name) => {
        if (folder.now.has(name)) throw errno('EEXIST')
        change([name, this.#folder()])
      },
      removeFile: async (name) => {
        if (there(name).kind !== 'file') throw errno('EISDIR')
        change([name, undefined])
      },
      removeDirectory: async (name) => {
        const node = there(name)
        if (node.kind !== 'folder') throw errno('ENOTDIR')
        if (node.now.size > 0) throw errno('ENOTEMPTY')
        node.removed = true
        change([name, undefined])
      },
      rename: async (from, to) => change([from, undefined], [to, there(from)]),
      link: async (from, to) => {
        if (folder.now.has(to)) throw errno('EEXIST')
        change([to, there(from)])
      },
      list: async () => [...folder.now.keys()],
      sync: async () => {
        folder.durable = new Map(folder.now)
        folder.changes = []
      },
      close: async () => {},
    }
  }
}

class VolatileFile implements StoreFile {
  readonly node: FileNode

  constructor(node: FileNode) {
    this.node = node
  }

  async stat(): Promise<StoreStat> {
    return statOf(this.node)
  }

  async read(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesRead: number }> {
    const part = this.node.now.subarray(position, position + length)
    buffer.set(part, offset)
    return { bytesRead: part.length }
  }

  async write(
    buffer: Uint8Array,
    offset: number,
    length: number,
    position: number,
  ): Promise<{ bytesWritten: number }> {
    const grown = new Uint8Array(Math.max(this.node.now.length, position + length))
    grown.set(this.node.now)
    grown.set(buffer.subarray(offset, offset + length), position)
    this.node.now = grown
    return { bytesWritten: length }
  }

  async utimes(_accessed: Date, changed: Date): Promise<void> {
    this.node.changedMs = changed.getTime()
  }

  async datasync(): Promise<void> {
    if (!this.node.dropped) this.node.durable = this.node.now
  }

  async close(): Promise<void> {}
}

/** Invariant 1. */
function mixBlocks(file: FileNode, random: Random): Uint8Array {
  const { now, durable } = file
  // Files only grow here, so what was synced is never cut off.
  const grown = file.dropped ? 0 : Math.max(0, now.length - durable.length)
  const extra = [0, grown, Math.floor(random() * (grown + 1))][Math.floor(random() * 3)] ?? 0
  const bytes = new Uint8Array(durable.length + extra)
  for (let at = 0; at < bytes.length; at += BLOCK) {
    const source = !file.dropped && random() < 0.5 ? now : durable
    bytes.set(source.subarray(at, Math.min(at + BLOCK, bytes.length)), at)
  }
  return bytes
}

function statOf(node: Node): StoreStat {
  const isFile = node.kind === 'file'
  return {
    size: isFile ? node.now.length : 0,
    mtimeMs: isFile ? node.changedMs : 0,
    dev: 1,
    ino: node.ino,
    isFile: () => isFile,
  }
}

function errno(code: string): Error {
  return Object.assign(new Error(`${code}: on a disk in memory`), { code })
}
