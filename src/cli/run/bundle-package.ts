/**
 * A package from npm as one module, made by esbuild where that is installed.
 *
 * Invariants
 * 1. Nothing outside of the project is taken in: neither by links nor by paths.
 * 2. No code of the package, no plugin and no configuration of the project runs here.
 * 3. What needs a built-in module of Node is refused, with what to do instead.
 */
import { existsSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type * as Esbuild from 'esbuild'
import { CaissonError } from '../../base/errors.ts'
import { platformModuleHint } from '../../program/platform-hints.ts'

const NAME = /^(?:@[\w.-]+\/)?[\w.-]+(?:\/[\w.-]+)*$/
/** What a bundle may weigh: all of it becomes memory of a guest. */
const MOST_BYTES = 8 * 1024 * 1024

/**
 * @param name as it is imported
 * @param folder where the program stands
 * @param sources in which names may stand that are imported from it: a package in the old format does not say them
 * @throws CaissonError `not_found` with `details: { missing }` where a package is not there, `denied`
 */
export async function bundlePackage(
  name: string,
  folder: string,
  sources: readonly string[],
): Promise<string> {
  if (!NAME.test(name)) throw new CaissonError('denied', `"${name}" is no name of a package.`)
  const project = await realpath(projectOf(folder))
  const esbuild = await loadEsbuild(name)
  const { code, exports } = await bundle(esbuild, name, folder, project, [])
  const missing = importedNames(name, sources).filter((one) => !exports.includes(one))
  return missing.length === 0 ? code : (await bundle(esbuild, name, folder, project, missing)).code
}

async function bundle(
  { build }: typeof Esbuild,
  name: string,
  folder: string,
  project: string,
  names: readonly string[],
): Promise<{ readonly code: string; readonly exports: readonly string[] }> {
  const from = JSON.stringify(name)
  const named = names.length === 0 ? '' : `export const { ${names.join(', ')} } = whole\n`
  let result: Esbuild.BuildResult<{ write: false; metafile: true }>
  try {
    result = await build({
      stdin: {
        contents: `import * as whole from ${from}\nexport * from ${from}\nexport default whole.default ?? whole\n${named}`,
        resolveDir: folder,
        sourcefile: 'caisson-entry.js',
      },
      absWorkingDir: project,
      bundle: true,
      format: 'esm',
      platform: 'neutral',
      target: 'es2022',
      mainFields: ['module', 'main'],
      conditions: ['import', 'module'],
      define: { 'process.env.NODE_ENV': '"production"' },
      legalComments: 'none',
      logLevel: 'silent',
      metafile: true,
      tsconfigRaw: '{}',
      write: false,
    })
  } catch (error) {
    const { message, missing } = whyNot(name, error)
    throw new CaissonError('not_found', message, { cause: error, details: { missing } })
  }
  const [file] = result.outputFiles
  const [output] = Object.values(result.metafile.outputs)
  const inputs = Object.keys(result.metafile.inputs).filter((input) => input !== output?.entryPoint)
  await checkInputs(name, inputs, project)
  if (file === undefined || output === undefined || file.contents.length > MOST_BYTES) {
    throw new CaissonError('denied', `the package "${name}" is larger than ${MOST_BYTES} bytes.`)
  }
  return { code: file.text, exports: output.exports }
}

/** The folder of the project that a program belongs to: the nearest one that has packages, or describes one. */
function projectOf(folder: string): string {
  for (let current = resolve(folder); ; current = dirname(current)) {
    if (existsSync(join(current, 'node_modules')) || existsSync(join(current, 'package.json'))) return current
    if (dirname(current) === current) return folder
  }
}

async function checkInputs(name: string, inputs: readonly string[], project: string): Promise<void> {
  for (const input of inputs) {
    const path = await realpath(resolve(project, input)).catch(() => undefined)
    const way = path === undefined ? '..' : relative(project, path)
    if (way === '..' || way.startsWith(`..${sep}`) || resolve(project, way) !== path) {
      throw new CaissonError('denied', `the package "${name}" leads out of the project.`)
    }
  }
}

async function loadEsbuild(name: string): Promise<typeof Esbuild> {
  try {
    return await import('esbuild')
  } catch {
    throw new CaissonError(
      'not_found',
      `"${name}" is a package. Install esbuild beside caisson (npm install --save-dev esbuild), and it is bundled by itself; or bundle it first.`,
      { details: { missing: name } },
    )
  }
}

/** Names in `import { a, b as c } from 'name'`, as far as a text search finds them. */
function importedNames(name: string, sources: readonly string[]): readonly string[] {
  const found = new Set<string>()
  for (const source of sources) {
    for (const [, list = '', quoted = ''] of source.matchAll(
      /\b(?:import|export)\s{0,20}(?:[\w$]{1,200}\s{0,20},\s{0,20})?\{([^{}]{0,4000})\}\s{0,20}from\s{0,20}['"]([^'"\n]{1,300})['"]/g,
    )) {
      if (quoted !== name) continue
      for (const one of list.split(',')) {
        const [imported = ''] = one.trim().split(/\s/)
        if (/^[\w$]+$/.test(imported) && imported !== 'default' && imported !== 'type') found.add(imported)
      }
    }
  }
  return [...found]
}

/** What esbuild says, without the paths of this machine, and the package that is not there. */
function whyNot(
  name: string,
  error: unknown,
): { readonly message: string; readonly missing: string | undefined } {
  const { errors = [] } = error as Partial<Esbuild.BuildFailure>
  const wanted = errors.map(({ text }) => /^Could not resolve "([^"]{1,200})"/.exec(text)?.[1])
  const builtin = wanted.find((one) => one !== undefined && platformModuleHint(one) !== undefined)
  if (builtin !== undefined) {
    const message = `the package "${name}" needs Node: ${platformModuleHint(builtin)}.`
    return { message, missing: undefined }
  }
  if (wanted.includes(name)) {
    return { message: `there is no package "${name}" in the project: npm install ${name}.`, missing: name }
  }
  const missing = wanted.find((one) => one !== undefined)
  const message =
    missing === undefined
      ? `the package "${name}" cannot be bundled for a guest.`
      : `the package "${name}" needs "${missing}", which is not installed.`
  return { message, missing }
}
