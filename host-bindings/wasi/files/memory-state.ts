/** The nodes of a tree in memory: made, named, unnamed and freed, within the quota. */
import { CaissonError } from '../../../src/base/errors.ts'
import { FileFailure } from './file-failure.ts'
import {
  bytesOf,
  type DirectoryNode,
  type FileNode,
  type LinkNode,
  type MemoryNode,
  TreeUsage,
  type WasiTreeQuota,
} from './memory-node.ts'

export const ROOT_INODE = 1n

type NodeOf<K extends MemoryNode['kind']> = Extract<MemoryNode, { kind: K }>

export class MemoryState {
  readonly usage: TreeUsage
  readonly nowNs: () => bigint
  /** Every node that a name or a descriptor leads to. */
  readonly nodes: Map<bigint, MemoryNode> = new Map()
  root: DirectoryNode
  nextInode: bigint = ROOT_INODE

  constructor(quota: WasiTreeQuota, nowNs: () => bigint) {
    this.usage = new TreeUsage(quota)
    this.nowNs = nowNs
    this.root = this.adoptRoot()
  }

  /** An empty tree: everything before is forgotten. */
  adoptRoot(): DirectoryNode {
    this.nodes.clear()
    this.usage.reset()
    this.nextInode = ROOT_INODE
    this.root = { ...this.#blank(), kind: 'directory', entries: new Map(), parent: undefined, links: 1 }
    this.nodes.set(this.root.inode, this.root)
    return this.root
  }

  makeFile(data: Uint8Array, digest?: string): FileNode {
    return this.#made({ ...this.#blank(), kind: 'file', data, size: data.length, digest })
  }

  makeDirectory(): DirectoryNode {
    return this.#made({ ...this.#blank(), kind: 'directory', entries: new Map(), parent: undefined })
  }

  makeLink(target: string): LinkNode {
    return this.#made({ ...this.#blank(), kind: 'symbolic-link', target })
  }

  name(directory: DirectoryNode, name: string, node: MemoryNode): void {
    directory.entries.set(name, node)
    node.links += 1
    if (node.kind === 'directory') node.parent = directory
    this.touch(directory)
  }

  unname(directory: DirectoryNode, name: string, node: MemoryNode): void {
    directory.entries.delete(name)
    node.links -= 1
    if (node.kind === 'directory') node.parent = undefined
    this.touch(directory)
    this.free(node)
  }

  /** Gives back what nothing leads to any more. */
  free(node: MemoryNode): void {
    const isHeld = node.links > 0 || node.opens > 0
    // Not of a tree that was replaced since: its numbers are given anew.
    if (isHeld || this.nodes.get(node.inode) !== node) return
    this.nodes.delete(node.inode)
    this.usage.removeEntry(bytesOf(node))
  }

  touch(node: MemoryNode): void {
    const now = this.nowNs()
    node.times.modifiedNs = now
    node.times.changedNs = now
  }

  /** @throws CaissonError `corrupted` */
  nodeOf<K extends MemoryNode['kind']>(inode: bigint, kind: K): NodeOf<K> {
    const node = this.nodes.get(inode)
    if (node?.kind !== kind) {
      throw new CaissonError(
        'corrupted',
        'The state of a guest holds a file open that its tree does not have.',
      )
    }
    return node as NodeOf<K>
  }

  /** A file of the embedder's, with the directories above it. */
  plant(path: string, bytes: Uint8Array, digest?: string): void {
    const names = path.split('/')
    const last = names.pop()
    if (last === undefined || [...names, last].some((name) => /^\.{0,2}$|\0/.test(name))) {
      throw new CaissonError('invalid_argument', `"${path}" is no relative path of plain names.`)
    }
    let directory = this.root
    for (const name of names) {
      const found = directory.entries.get(name)
      if (found !== undefined && found.kind !== 'directory') throw this.#doubled(path)
      const next: DirectoryNode = found ?? this.#planted(path, () => this.makeDirectory())
      if (found === undefined) this.name(directory, name, next)
      directory = next
    }
    if (directory.entries.has(last)) throw this.#doubled(path)
    this.name(
      directory,
      last,
      this.#planted(path, () => this.makeFile(bytes, digest)),
    )
  }

  files(changed: boolean): ReadonlyMap<string, Uint8Array> {
    const found: [string, Uint8Array][] = []
    const visit = (directory: DirectoryNode, above: string): void => {
      for (const [name, node] of directory.entries) {
        if (node.kind === 'directory') visit(node, `${above}${name}/`)
        else if (node.kind === 'file' && !(changed && node.digest !== undefined)) {
          found.push([above + name, node.data.slice(0, node.size)])
        }
      }
    }
    visit(this.root, '')
    return new Map(found.sort(([left], [right]) => (left < right ? -1 : 1)))
  }

  #planted<T>(path: string, make: () => T): T {
    try {
      return make()
    } catch (cause) {
      if (!(cause instanceof FileFailure)) throw cause
      throw new CaissonError('quota_exceeded', `The file "${path}" does not fit into the quota.`, { cause })
    }
  }

  #doubled(path: string): CaissonError {
    return new CaissonError('invalid_argument', `The path "${path}" is given twice, or leads through a file.`)
  }

  #blank(): Pick<MemoryNode, 'inode' | 'times' | 'links' | 'opens'> {
    const now = this.nowNs()
    const inode = this.nextInode
    this.nextInode += 1n
    return { inode, times: { accessedNs: now, modifiedNs: now, changedNs: now }, links: 0, opens: 0 }
  }

  #made<N extends MemoryNode>(node: N): N {
    this.usage.addEntry()
    try {
      this.usage.resizeFile(0, bytesOf(node))
    } catch (error) {
      this.usage.removeEntry(0)
      throw error
    }
    this.nodes.set(node.inode, node)
    return node
  }
}
