/** Open files and directories of a tree in memory. */
import type { WasiDirectory, WasiFile, WasiFileTimes } from '../../../src/ports/wasi-files.ts'
import { FileFailure } from './file-failure.ts'
import { type DirectoryNode, type FileNode, growFile, type MemoryNode, statOfNode } from './memory-node.ts'
import type { MemoryState } from './memory-state.ts'

const nodesOfDirectories = new WeakMap<
  WasiDirectory,
  { readonly state: MemoryState; readonly node: DirectoryNode }
>()

export function openMemoryDirectory(state: MemoryState, node: DirectoryNode): WasiDirectory {
  const find = (name: string): MemoryNode => {
    if (name === '.') return node
    const found = node.entries.get(name)
    if (found === undefined) throw new FileFailure('no-entry')
    return found
  }
  /** Something new can be named in it: it exists, and has nothing of the name. */
  const requireFree = (name: string): void => {
    if (node !== state.root && node.parent === undefined) throw new FileFailure('no-entry')
    if (name === '.' || node.entries.has(name)) throw new FileFailure('exist')
  }
  const directory: WasiDirectory = {
    stat: () => statOfNode(node),
    statOf: (name) => statOfNode(find(name)),
    openFile: (name, { create, exclusive, truncate }) => {
      const found = node.entries.get(name)
      if (found === undefined) {
        if (!create) throw new FileFailure('no-entry')
        requireFree(name)
        const made = state.makeFile(new Uint8Array(0))
        state.name(node, name, made)
        return openMemoryFile(state, made)
      }
      if (exclusive) throw new FileFailure('exist')
      const file = requireFile(found)
      if (truncate) resize(state, file, 0)
      return openMemoryFile(state, file)
    },
    openDirectory: (name) => openMemoryDirectory(state, requireDirectory(find(name))),
    readLink: (name) => {
      const found = find(name)
      if (found.kind !== 'symbolic-link') throw new FileFailure('invalid')
      return found.target
    },
    makeDirectory: (name) => {
      requireFree(name)
      state.name(node, name, state.makeDirectory())
    },
    makeLink: (name, target) => {
      requireFree(name)
      state.name(node, name, state.makeLink(target))
    },
    removeFile: (name) => {
      const found = find(name)
      if (found.kind === 'directory') throw new FileFailure('is-directory')
      state.unname(node, name, found)
    },
    removeDirectory: (name) => {
      const found = find(name)
      if (found.kind !== 'directory') throw new FileFailure('not-directory')
      if (found.entries.size > 0) throw new FileFailure('not-empty')
      state.unname(node, name, found)
    },
    rename: (name, target, newName) => move(state, node, name, nodeOf(state, target), newName),
    hardLink: (name, target, newName) => {
      const found = find(name)
      const to = nodeOf(state, target)
      if (found.kind === 'directory') throw new FileFailure('not-permitted')
      if (to.entries.has(newName)) throw new FileFailure('exist')
      state.name(to, newName, found)
    },
    setTimesOf: (name, times) => setTimes(state, find(name), times),
    entries: () =>
      [...node.entries]
        .map(([name, { kind, inode }]) => ({ name, kind, inode }))
        .sort((left, right) => (left.name < right.name ? -1 : 1)),
    sync: () => {},
    close: closer(state, node),
  }
  nodesOfDirectories.set(directory, { state, node })
  return directory
}

export function openMemoryFile(state: MemoryState, file: FileNode): WasiFile {
  return {
    stat: () => statOfNode(file),
    read: (offset, length) =>
      file.data.slice(Math.min(offset, file.size), Math.min(offset + length, file.size)),
    write: (offset, bytes) => {
      if (bytes.length > 0) {
        const end = Math.max(file.size, offset + bytes.length)
        state.usage.resizeFile(file.size, end)
        growFile(file, end)
        file.data.set(bytes, offset)
      }
      state.touch(file)
    },
    resize: (bytes) => resize(state, file, bytes),
    setTimes: (times) => setTimes(state, file, times),
    sync: () => {},
    close: closer(state, file),
  }
}

/** Counts one opening; what it gives counts its end, once. */
function closer(state: MemoryState, node: MemoryNode): () => void {
  node.opens += 1
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    node.opens -= 1
    state.free(node)
  }
}

function resize(state: MemoryState, file: FileNode, bytes: number): void {
  state.usage.resizeFile(file.size, bytes)
  if (bytes >= file.size) growFile(file, bytes)
  else {
    // The room is given back too: a file that was large once does not stay so.
    file.data = file.data.slice(0, bytes)
    file.size = bytes
    file.digest = undefined
  }
  state.touch(file)
}

function move(
  state: MemoryState,
  from: DirectoryNode,
  name: string,
  to: DirectoryNode,
  newName: string,
): void {
  const node = from.entries.get(name)
  if (node === undefined) throw new FileFailure('no-entry')
  if (to !== state.root && to.parent === undefined) throw new FileFailure('no-entry')
  if (node.kind === 'directory' && isWithin(to, node)) throw new FileFailure('invalid')
  const old = to.entries.get(newName)
  // Two names of one file: POSIX leaves both.
  if (old === node) return
  if (old !== undefined) {
    if (node.kind === 'directory' && old.kind !== 'directory') throw new FileFailure('not-directory')
    if (node.kind !== 'directory' && old.kind === 'directory') throw new FileFailure('is-directory')
    if (old.kind === 'directory' && old.entries.size > 0) throw new FileFailure('not-empty')
    state.unname(to, newName, old)
  }
  // Named anew before the old name goes: in between nothing may free it.
  state.name(to, newName, node)
  from.entries.delete(name)
  node.links -= 1
  state.touch(from)
}

function isWithin(directory: DirectoryNode, above: DirectoryNode): boolean {
  for (let at: DirectoryNode | undefined = directory; at !== undefined; at = at.parent) {
    if (at === above) return true
  }
  return false
}

function setTimes(state: MemoryState, { times }: MemoryNode, given: WasiFileTimes): void {
  times.accessedNs = given.accessedNs ?? times.accessedNs
  times.modifiedNs = given.modifiedNs ?? times.modifiedNs
  times.changedNs = state.nowNs()
}

function requireFile(node: MemoryNode): FileNode {
  if (node.kind === 'file') return node
  throw new FileFailure(node.kind === 'directory' ? 'is-directory' : 'loop')
}

function requireDirectory(node: MemoryNode): DirectoryNode {
  if (node.kind === 'directory') return node
  throw new FileFailure(node.kind === 'symbolic-link' ? 'loop' : 'not-directory')
}

function nodeOf(state: MemoryState, directory: WasiDirectory): DirectoryNode {
  const held = nodesOfDirectories.get(directory)
  if (held?.state !== state) throw new FileFailure('cross-device')
  return held.node
}
