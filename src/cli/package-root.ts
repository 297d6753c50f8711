/** Where this package stands, and what of it runs. */
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

export interface PackageRoot {
  readonly folder: string
  readonly version: string
  /** Folders that this process loads code from: the package's own, and every `node_modules` that it can see. */
  readonly running: readonly string[]
  /** How paths and URLs of this package's own code begin, as stacks show them. */
  readonly code: readonly string[]
}

/** Looks upwards from this module: the same from sources and from `dist`. */
export function findPackageRoot(): PackageRoot {
  for (let folder = dirname(fileURLToPath(import.meta.url)); ; folder = dirname(folder)) {
    const manifest = readManifest(join(folder, 'package.json'))
    if (manifest?.name === 'caisson') {
      return {
        folder,
        version: manifest.version ?? 'unknown',
        running: runningFolders(folder),
        code: codeFolders(folder),
      }
    }
    if (dirname(folder) === folder) return { folder, version: 'unknown', running: [], code: [] }
  }
}

function readManifest(path: string): { readonly name?: string; readonly version?: string } | undefined {
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as { name?: string }) : undefined
}

const CODE = ['dist', 'src', 'host-bindings']

function codeFolders(packageFolder: string): readonly string[] {
  return CODE.flatMap((name) => {
    const folder = join(packageFolder, name, '/')
    return [folder, pathToFileURL(folder).href]
  })
}

function runningFolders(packageFolder: string): readonly string[] {
  const own = [...CODE, 'package.json'].map((name) => join(packageFolder, name))
  return [...own.filter((path) => existsSync(path)), ...modulesAbove(packageFolder)]
}

/** Every `node_modules` from which a module in `folder` may load others. */
export function modulesAbove(folder: string): readonly string[] {
  const found: string[] = []
  for (let current = folder; ; current = dirname(current)) {
    const modules = basename(current) === 'node_modules' ? current : join(current, 'node_modules')
    if (existsSync(modules) && found.at(-1) !== modules) found.push(modules)
    if (dirname(current) === current) return found
  }
}
