/**
 * The modules of a program that is a file: what it imports by path is read from the folder that it stands in, what it
 * imports by name is bundled.
 *
 * Invariants
 * 1. Nothing outside of that folder is read, through no link and no `..`, and nothing in it that is hidden.
 * 2. Only what its name says is a module is read: `.js`, `.mjs`, `.ts`, `.mts` and `.json`.
 * 3. No path of this machine is in what a program gets or is told.
 */
import { basename, dirname } from 'node:path'
import type { FileTree } from '../../../host-bindings/files/file-tree.ts'
import { openDirectoryFileTree } from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { ASYNC_DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import type { LoadModule } from '../../runtime/module-options.ts'
import { bundlePackage } from './bundle-package.ts'

const MODULE_FILE = /\.(?:m?[jt]s|json)$/
/** What an author may have meant by a name that nothing has. */
const ENDINGS = ['.js', '.mjs', '.ts', '.mts', '/index.js', '/index.ts']

/** Of one module, in bytes. */
const MOST_BYTES = 8 * 1024 * 1024

/** @param path where the program stands */
export function loadBeside(path: string, source: string): LoadModule {
  const folder = dirname(path)
  const sources = [source]
  return async (module) => {
    if (!module.startsWith('./')) return bundlePackage(module, folder, sources)
    const tree = await openDirectoryFileTree({ root: folder })
    try {
      const text = await readModule(tree, module.slice(2))
      sources.push(text)
      return text
    } finally {
      await tree[ASYNC_DISPOSE]()
    }
  }
}

async function readModule(tree: FileTree, path: string): Promise<string> {
  if (path.split('/').some((part) => part.startsWith('.') || part === 'node_modules')) {
    throw new CaissonError('denied', `"${path}" is hidden, or in node_modules: nothing there is a module.`)
  }
  if (!MODULE_FILE.test(path)) {
    const meant = await firstOf(
      tree,
      ENDINGS.map((ending) => path + ending),
    )
    throw meant === undefined
      ? new CaissonError('not_found', `"${basename(path)}" does not end in .js, .mjs, .ts, .mts or .json.`)
      : new CaissonError('not_found', `there is no "${path}"; write "./${meant}".`)
  }
  let bytes: Uint8Array
  try {
    const { bytes: size } = await tree.stat(path)
    if (size > MOST_BYTES) throw new CaissonError('denied', `"${path}" is larger than ${MOST_BYTES} bytes.`)
    bytes = await tree.read(path)
  } catch (error) {
    if (!CaissonError.is(error, 'not_found')) throw error
    const meant = await firstOf(tree, [path.replace(/js$/, 'ts'), path.replace(/ts$/, 'js')])
    throw new CaissonError(
      'not_found',
      meant === undefined
        ? `there is no "${path}" beside the program.`
        : `there is no "${path}"; write "./${meant}".`,
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CaissonError('denied', `"${path}" is not UTF-8 text.`)
  }
}

async function firstOf(tree: FileTree, paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const found = await tree.stat(path).catch(() => undefined)
    if (found?.kind === 'file') return path
  }
  return undefined
}
