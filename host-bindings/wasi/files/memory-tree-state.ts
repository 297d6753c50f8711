/** A tree in memory as plain data, and back. What comes back may have been written by anybody: it is checked whole. */
import { CaissonError } from '../../../src/base/errors.ts'
import type { WasiNodeState, WasiTreeState } from '../../../src/ports/wasi-files.ts'
import { FileFailure } from './file-failure.ts'
import type { MemoryNode } from './memory-node.ts'
import { type MemoryState, ROOT_INODE } from './memory-state.ts'
import { MAX_PATH_BYTES } from './resolve-path.ts'

export function captureTree(state: MemoryState, open: readonly bigint[]): WasiTreeState {
  const held = new Set(open)
  const kept = [...state.nodes.values()].filter(({ links, inode }) => links > 0 || held.has(inode))
  return { nextInode: state.nextInode, nodes: kept.map(nodeState) }
}

function nodeState(node: MemoryNode): WasiNodeState {
  const head = { inode: node.inode, ...node.times }
  switch (node.kind) {
    case 'file':
      return node.digest === undefined
        ? { ...head, kind: 'file', bytes: node.data.slice(0, node.size) }
        : { ...head, kind: 'base', digest: node.digest }
    case 'symbolic-link':
      return { ...head, kind: 'symbolic-link', target: node.target }
    case 'directory':
      return {
        ...head,
        kind: 'directory',
        entries: [...node.entries].map(([name, { inode }]) => [name, inode] as const),
      }
  }
}

/**
 * @param base the files that may be named by digest
 * @throws CaissonError `corrupted`; the tree is empty then
 */
export function restoreTree(state: MemoryState, given: unknown, base: ReadonlyMap<string, Uint8Array>): void {
  state.adoptRoot()
  state.nodes.clear()
  try {
    fill(state, given as WasiTreeState, base)
  } catch (cause) {
    state.adoptRoot()
    if (CaissonError.is(cause)) throw cause
    throw new CaissonError('corrupted', 'The state of a directory tree contradicts itself.', { cause })
  }
}

function fill(state: MemoryState, given: WasiTreeState, base: ReadonlyMap<string, Uint8Array>): void {
  // The root is among the nodes and, being no entry of anything, is not counted.
  state.usage.removeEntry(0)
  const nodes = given.nodes.map((entry) => [entry, makeNode(state, entry, base)] as const)
  const root = state.nodes.get(ROOT_INODE)
  if (root?.kind !== 'directory') throw new FileFailure('not-directory')
  state.root = root
  root.links = 1
  for (const [entry, node] of nodes) {
    if (entry.kind !== 'directory' || node.kind !== 'directory') continue
    for (const [name, inode] of entry.entries) {
      const child = state.nodes.get(inode)
      const isName = typeof name === 'string' && name.length <= 255 && !/^\.{0,2}$|[/\0]/.test(name)
      if (child === undefined || !isName || node.entries.has(name)) throw new FileFailure('invalid')
      // A directory has one name, and the root none: what stands below the root is a tree.
      if (child.kind === 'directory' && (child === root || child.links > 0)) throw new FileFailure('loop')
      node.entries.set(name, child)
      child.links += 1
      if (child.kind === 'directory') child.parent = node
    }
  }
  for (const node of state.nodes.values()) refuseCycle(node)
  const { nextInode } = given
  for (const inode of state.nodes.keys()) if (!(inode < nextInode)) throw new FileFailure('invalid')
  state.nextInode = nextInode
}

/** Directories that hold each other, with no way to the root. */
function refuseCycle(node: MemoryNode): void {
  if (node.kind !== 'directory') return
  let ahead = node.parent
  let at = node.parent
  while (ahead !== undefined) {
    ahead = ahead.parent?.parent
    at = at?.parent
    if (ahead !== undefined && ahead === at) throw new FileFailure('loop')
  }
}

function makeNode(
  state: MemoryState,
  entry: WasiNodeState,
  base: ReadonlyMap<string, Uint8Array>,
): MemoryNode {
  const { inode, accessedNs, modifiedNs, changedNs } = entry
  for (const number of [inode, accessedNs, modifiedNs, changedNs]) {
    if (typeof number !== 'bigint' || number < 0n || number >= 1n << 64n) throw new FileFailure('overflow')
  }
  if (state.nodes.has(inode)) throw new FileFailure('exist')
  // Made with its own number, and counted against the quota like any other.
  state.nextInode = inode
  const node = contentOf(state, entry, base)
  Object.assign(node.times, { accessedNs, modifiedNs, changedNs })
  return node
}

function contentOf(
  state: MemoryState,
  entry: WasiNodeState,
  base: ReadonlyMap<string, Uint8Array>,
): MemoryNode {
  switch (entry.kind) {
    case 'file':
      if (!(entry.bytes instanceof Uint8Array)) throw new FileFailure('invalid')
      return state.makeFile(entry.bytes.slice())
    case 'base': {
      const bytes = base.get(entry.digest)
      if (bytes === undefined) {
        throw new CaissonError('corrupted', 'A file of the base that the state names is not in the base.')
      }
      return state.makeFile(bytes, entry.digest)
    }
    case 'symbolic-link':
      if (typeof entry.target !== 'string' || entry.target.length > MAX_PATH_BYTES) {
        throw new FileFailure('invalid')
      }
      return state.makeLink(entry.target)
    case 'directory':
      return state.makeDirectory()
    default:
      throw new FileFailure('invalid')
  }
}
