/** Capabilities of `--allow-read` and `--allow-write`. */
import { basename } from 'node:path'
import { createFileCapabilities } from '../../../host-bindings/files/file-capabilities.ts'
import { isFileName } from '../../../host-bindings/files/file-path.ts'
import type { FileTree } from '../../../host-bindings/files/file-tree.ts'
import {
  type DirectoryFileTree,
  openDirectoryFileTree,
} from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Capability } from '../../capability/capability.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import type { GrantedDirectory } from './granted-directories.ts'
import { mountDirectories } from './mounted-directories.ts'

export interface OpenFiles {
  readonly capabilities: readonly Capability[]
  close(): Promise<void>
}

/**
 * @param directories by real path, at least one
 * @param protect paths that no program may write to
 * @param sideBySide also where it is only one
 * @throws CliError usage
 */
export async function openFiles(
  directories: ReadonlyMap<string, GrantedDirectory>,
  protect: readonly string[],
  sideBySide: boolean,
): Promise<OpenFiles> {
  const trees: DirectoryFileTree[] = []
  const close = async (): Promise<void> => {
    for (const tree of trees) await tree[Symbol.asyncDispose]()
  }
  const named = new Map<string, FileTree>()
  try {
    for (const [path, { given, writable }] of directories) {
      const tree = await openDirectory(path, given, writable, protect)
      trees.push(tree)
      named.set(mountName(path, given, named, sideBySide || directories.size > 1), tree)
    }
  } catch (error) {
    await close()
    throw error
  }
  const [only] = trees
  const tree = trees.length === 1 && only && !sideBySide ? only : mountDirectories(named)
  const write = [...directories.values()].some(({ writable }) => writable)
  return { capabilities: createFileCapabilities({ tree, write }), close }
}

async function openDirectory(
  path: string,
  given: string,
  writable: boolean,
  protect: readonly string[],
): Promise<DirectoryFileTree> {
  try {
    return await openDirectoryFileTree({ root: path, writable, protect })
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    const overlaps = error.details.protected !== undefined
    throw new CliError({
      exit: EXIT.usage,
      code: 'usage',
      message: `--allow-${writable ? 'write' : 'read'} ${clipText(given, 200)}: ${error.message}`,
      hint: overlaps
        ? 'A program must not be able to change what runs. Grant a directory of its own, for example ./out.'
        : 'Name a directory that exists.',
      cause: error,
    })
  }
}

function mountName(
  path: string,
  given: string,
  taken: ReadonlyMap<string, unknown>,
  beside: boolean,
): string {
  const name = basename(path)
  if (!beside || (isFileName(name) && !taken.has(name))) return name
  throw new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: taken.has(name)
      ? `Two granted directories have the name "${clipText(name, 80)}"; the program could not tell them apart.`
      : `The directory "${clipText(given, 200)}" has no name under which a program could find it beside others.`,
    hint: 'Several granted directories stand side by side under their names. Rename one, or grant the one above.',
  })
}
