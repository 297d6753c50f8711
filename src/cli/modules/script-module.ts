/**
 * Scripts that `caisson run` gives to an interpreter which is a WASI module of an npm package. It is not ours to ship, so
 * it is looked for beside the script, in the current folder and beside this package. Another language is another entry of
 * `SCRIPT_LANGUAGES`.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import { CliError } from '../cli-error.ts'
import { EXIT } from '../exit-code.ts'
import { showSize } from '../units/parse-size.ts'
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

/** What an interpreter is refused with, told of the script that it was to run. */
export function scriptRefusal(error: unknown, { words }: ScriptLanguage, name: string): unknown {
  if (!CaissonError.is(error, 'invalid_limit') || error.details.unit !== 'pages') return error
  const needed = Number(error.details.needed) * PAGE
  const allowed = showSize(Number(error.details.allowed) * PAGE)
  return new CliError({
    exit: EXIT.usage,
    code: 'usage',
    message: `The interpreter of ${clipText(name, 200)} (${words}) needs ${showSize(needed)} of memory from the start, and --memory allows ${allowed}.`,
    hint: `--memory ${2 ** Math.ceil(Math.log2((2 * needed) / MIB))}MiB leaves room for the script.`,
    cause: error,
  })
}

const PAGE = 65_536
const MIB = 1_048_576

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
