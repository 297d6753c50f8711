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
import { meantModules } from '../../program/meant-module.ts'
import { packageName, resolvePath } from '../../program/specifier.ts'
import type { LoadModule } from '../../runtime/module-options.ts'
import { bundlePackage } from './bundle-package.ts'

const MODULE_FILE = /\.(?:m?[jt]s|json)$/
/** Of one module, in bytes. */
const MOST_BYTES = 8 * 1024 * 1024

/** @param path where the program stands; @param read is given the sources, by the names of the modules */
export function loadBeside(path: string, source: string, read: Map<string, string>): LoadModule {
  const folder = dirname(path)
  return async (module, { specifier, referrer }) => {
    const tree = await openDirectoryFileTree({ root: folder })
    const bundle = (): Promise<string> => bundlePackage(module, folder, [source, ...read.values()])
    try {
      const isPath = module.startsWith('./')
      const name = isPath ? module.slice(2) : packageName(module)
      const text = isPath
        ? await readModule(tree, name, specifier)
        : await bundled(tree, module, referrer, bundle)
      read.set(name, text)
      return text
    } finally {
      await tree[ASYNC_DISPOSE]()
    }
  }
}

/** A package, or what to write where a file beside the program was meant. */
async function bundled(
  tree: FileTree,
  name: string,
  referrer: string,
  bundle: () => Promise<string>,
): Promise<string> {
  try {
    return await bundle()
  } catch (error) {
    const isThere = !CaissonError.is(error, 'not_found') || error.details.missing !== name
    const path = isThere ? undefined : resolvePath(`./${name}`, referrer.slice(2)).name
    const meant = path === undefined ? undefined : await meantFile(tree, name, path)
    throw meant === undefined
      ? error
      : new CaissonError('not_found', `there is no package "${name}"; ${meant}.`)
  }
}

async function readModule(tree: FileTree, path: string, specifier: string): Promise<string> {
  if (path.split('/').some((part) => part.startsWith('.') || part === 'node_modules')) {
    throw new CaissonError('denied', `"${path}" is hidden, or in node_modules: nothing there is a module.`)
  }
  if (!MODULE_FILE.test(path)) {
    const meant = await meantFile(tree, specifier, path)
    throw meant === undefined
      ? new CaissonError('not_found', `"${basename(path)}" does not end in .js, .mjs, .ts, .mts or .json.`)
      : new CaissonError('not_found', `there is no module "${path}"; ${meant}.`)
  }
  let bytes: Uint8Array
  try {
    const { bytes: size } = await tree.stat(path)
    if (size > MOST_BYTES) throw new CaissonError('denied', `"${path}" is larger than ${MOST_BYTES} bytes.`)
    bytes = await tree.read(path)
  } catch (error) {
    if (!CaissonError.is(error, 'not_found')) throw error
    const meant = await meantFile(tree, specifier, path)
    throw new CaissonError(
      'not_found',
      meant === undefined
        ? `there is no "${path}" beside the program.`
        : `there is no module "${path}"; ${meant}.`,
    )
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new CaissonError('denied', `"${path}" is not UTF-8 text.`)
  }
}

/** What to write instead, where there is a file that may have been meant. */
async function meantFile(tree: FileTree, specifier: string, path: string): Promise<string | undefined> {
  for (const [name, written] of meantModules(specifier, path)) {
    if (!MODULE_FILE.test(name)) continue
    const found = await tree.stat(name).catch(() => undefined)
    if (found?.kind === 'file') return `write ${JSON.stringify(written)}`
  }
  return undefined
}
