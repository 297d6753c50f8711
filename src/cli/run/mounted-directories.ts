/**
 * Several granted directories as one tree: each stands under its own name.
 *
 * Invariants
 * 1. Every path with a first name is handed to the directory of that name, without the name, and to no other.
 * 2. The root itself only lists the directories; nothing can be made or removed there.
 */

import { parseFilePath, refusePath, showPath } from '../../../host-bindings/files/file-path.ts'
import type { FileTree } from '../../../host-bindings/files/file-tree.ts'
import { CaissonError } from '../../base/errors.ts'

/** @param directories by name; names are single names as `parseFilePath` takes them */
export function mountDirectories(directories: ReadonlyMap<string, FileTree>): FileTree {
  /** The directory that `path` leads into and the rest of the way; undefined for the root. */
  const find = (path: string): readonly [tree: FileTree, rest: string] | undefined => {
    const [name, ...rest] = parseFilePath(path)
    if (name === undefined) return undefined
    const tree = directories.get(name)
    if (tree === undefined) {
      throw new CaissonError('not_found', `There is no ${showPath(path)}; "." lists what was granted.`)
    }
    return [tree, rest.join('/') || '.']
  }
  const within = (path: string): readonly [tree: FileTree, rest: string] => {
    const found = find(path)
    if (found === undefined) throw refusePath(path, 'only lists the granted directories')
    return found
  }
  /** What is to be made under a name that was not granted is no missing directory: it cannot be made. */
  const changing = (path: string): readonly [tree: FileTree, rest: string] => {
    const [name] = parseFilePath(path)
    if (name === undefined || directories.has(name)) return within(path)
    throw refusePath(path, 'is in none of the granted directories; "." lists them')
  }
  return {
    async read(path, range) {
      const [tree, rest] = within(path)
      return tree.read(rest, range)
    },
    async stat(path) {
      const found = find(path)
      return found ? found[0].stat(found[1]) : { kind: 'directory', bytes: 0, modifiedMs: 0 }
    },
    async list(path) {
      const found = find(path)
      if (found) return found[0].list(found[1])
      return [...directories.keys()].sort().map((name) => ({ name, kind: 'directory' as const, bytes: 0 }))
    },
    async write(path, data) {
      const [tree, rest] = changing(path)
      await tree.write(rest, data)
    },
    async remove(path) {
      const [tree, rest] = within(path)
      await tree.remove(rest)
    },
    async mkdir(path) {
      const [tree, rest] = changing(path)
      await tree.mkdir(rest)
    },
    locate(path) {
      const found = find(path)
      return found?.[0].locate(found[1])
    },
  }
}
