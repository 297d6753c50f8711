/**
 * Scripts that `caisson run` gives to an interpreter which is a WASI module of an npm package. It is not ours to ship, so
 * it is looked for beside the script, in the current folder and beside this package. Another language is another entry of
 * `SCRIPT_LANGUAGES`.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { PYTHON } from './python.ts'
import { RUBY } from './ruby.ts'
import { type ModuleToRun, PROGRAM_FOLDER, type ScriptLanguage } from './script-language.ts'

const SCRIPT_LANGUAGES: readonly ScriptLanguage[] = [PYTHON, RUBY]

export function scriptLanguageOf(file: string): ScriptLanguage | undefined {
  return SCRIPT_LANGUAGES.find(({ extension }) => file.endsWith(extension))
}

/** @throws CliError usage where the package is not there */
export async function scriptModule(
  language: ScriptLanguage,
  { file, script, args, cwd }: ScriptFile,
): Promise<ModuleToRun> {
  const name = basename(file)
  return {
    module: await readFile(findInterpreter(language, dirname(resolve(cwd, file)), cwd)),
    options: {
      ...language.optionsOf(name, args),
      directories: { [PROGRAM_FOLDER]: { files: { [name]: script } } },
      suspendable: false,
    },
  }
}

interface ScriptFile {
  readonly file: string
  readonly script: Uint8Array
  /** Those behind `--`. */
  readonly args: readonly string[]
  readonly cwd: string
}

function findInterpreter(language: ScriptLanguage, ...folders: readonly string[]): string {
  for (const from of [...folders.map((folder) => join(folder, 'x.js')), import.meta.url]) {
    try {
      return createRequire(from).resolve(`${language.package}/${language.wasm}`)
    } catch {
      // Looked for in the next one.
    }
  }
  throw new CliError({
    exit: EXIT.usage,
    code: 'unsupported',
    message: `${language.words} scripts need the package ${language.package}, which is not installed here.`,
    hint: `npm install ${language.package}@${language.version}`,
  })
}
