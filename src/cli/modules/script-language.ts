/** What is known of a language whose interpreter is a WASI module of an npm package. */
import type { Limits } from '../../machine/limits.ts'
import type { RunModuleOptions } from '../../runtime/wasi/module-options.ts'

/** What the command line runs as a module, and how. */
export interface ModuleToRun {
  readonly module: Uint8Array
  readonly options: Pick<
    RunModuleOptions,
    'name' | 'args' | 'env' | 'directories' | 'suspendable' | 'startUp' | 'entry' | 'missing'
  >
}

export interface ScriptLanguage {
  /** Of its scripts, with the dot. */
  readonly extension: string
  readonly words: string
  /** The package of its interpreter, and the version that is known to work. */
  readonly package: string
  readonly version: string
  /** The module in there. */
  readonly wasm: string
  /** Where no flag says otherwise. Starting an interpreter takes as much as many whole programs in JavaScript. */
  readonly limits: Partial<Limits>
  /** How the interpreter is run over a script of this name in `PROGRAM_FOLDER`. */
  optionsOf(name: string, args: readonly string[]): ModuleToRun['options']
}

/** Where the script stands in the guest. */
export const PROGRAM_FOLDER = '/program'
