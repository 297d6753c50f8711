/**
 * The modules of one guest, as its engine asks for them: synchronously, by name, while it compiles or imports.
 *
 * The engine follows imports by recursion, so a chain of a thousand modules would end at the limit of the stack. A
 * module of ours is put in front that imports them one by one, each after what it needs: then every import finds its
 * module compiled, linked and evaluated, in the order in which it would have been anyway (`program/module-order`).
 *
 * `import()` of what was not there from the start leads to a module of ours that has an export named `then`. The
 * language awaits it: what it resolves to is the module that the host gave meanwhile. So nothing of a program has to
 * be rewritten, and no parser of ours runs on it.
 *
 * Invariants
 * 1. Only modules that the host has resolved and handed over are ever loaded, by the names that the host gave them.
 * 2. Sources that were handed over are held until the end of the turn: the engine has taken them by then, or never
 *    will. A guest that waits is its memory, and nothing here.
 * 3. Specifiers are a guest's: bounded, and looked up as they are.
 */
import {
  MODULE_BOUNDS,
  type ModuleFile,
  type ModuleGraph,
  type ModuleImport,
} from '../machine/module-graph.ts'
import type { GuestError, GuestFailure } from '../machine/turn.ts'
import { importProblem, placeOfImport } from '../program/import-problem.ts'
import { missingExport, placeOfExportName } from '../program/missing-export.ts'
import { importOrder } from '../program/module-order.ts'
import type { Places } from '../program/original-place.ts'
import type { SourcePlace } from '../program/source-place.ts'

/** The engine's name of the module that starts a program, and of those that stand for imports of the host. */
export const START_MODULE = 'caisson:start'
const IMPORT = 'caisson:import'
const GRAPH = 'caisson:graph'
const OURS = 'caisson:'

/** Constants that only programs with a host that loads modules find: to ask it, and to say that it was in vain. */
export const LOADER_NAME = 'caissonLoadModule'
export const FAILED_NAME = 'caissonImportFailed'

/** What the engine gets for a name. */
export type LoadedSource =
  | { readonly code: string }
  /** `searched`: characters that were looked at for its place. */
  | { readonly failure: GuestFailure; readonly searched: number }

/** UTF-16 units of what an import is known by: the engine gives it back whole. */
const MOST_KEY = 4_096
/** Numbers of places that a guest keeps of the programs that it had before, and files that they are of. */
const MOST_EARLIER_PLACES = 1_000_000
const MOST_EARLIER_FILES = 1_000
const CALLS_IMPORT = /\bimport\b/
/** UTF-16 units that are searched for the place of one error. */
const MOST_SEARCHED = 8_000_000
const TOO_LONG = keyOf('', '-'.repeat(MODULE_BOUNDS.specifier + 1))

interface Held {
  readonly codes: Map<string, string>
  /** Names by what imports them and how. */
  readonly names: Map<string, string>
  /** By the import that asked. */
  readonly handed: Map<string, Handed>
}

interface Handed {
  readonly name: string
  readonly files: readonly ModuleFile[]
}

export class GuestModules {
  /** Whether the host gives modules while the guest runs. */
  readonly #open: boolean
  /** Where places in the codes of files come from, of those whose authors wrote something else. */
  readonly places: Map<string, Places> = new Map()
  /** What was handed over in this turn. Made on first use: most programs are one source. */
  #held: Held | undefined

  constructor(open: boolean) {
    this.#open = open
  }

  /**
   * Of the programs that the guest had before: their functions are still there, and throw. The newest are kept, as far
   * as there is room; errors in older ones show where they are in the code.
   */
  takeOver(places: readonly (readonly [file: string, places: Places])[]): void {
    let numbers = 0
    const newest = places.slice(-MOST_EARLIER_FILES).reverse()
    const kept = newest.filter(([, of]) => {
      numbers += of.length
      return numbers <= MOST_EARLIER_PLACES
    })
    for (const [file, of] of kept.reverse()) this.places.set(file, of)
  }

  /** Of a file that is new, whatever had its name before. @param places undefined where its author wrote its code */
  place(file: string, places: Places | undefined): void {
    this.places.delete(file)
    if (places !== undefined) this.places.set(file, places)
  }

  /** The modules that a program begins with. @returns the source of the module that starts it */
  begin(program: Pick<ModuleFile, 'name' | 'code'>, graph: ModuleGraph): string {
    const files = [...graph.files, { ...program, imports: graph.imports }]
    this.#hold(files)
    return `${importsOf(files)}import * as program from ${quote(program.name)}\nexport default program.default\n`
  }

  /** The program, where it has no graph: errors of its imports are placed in it. */
  run(name: string, code: string): void {
    if (CALLS_IMPORT.test(code)) this.#hold([{ name, code, imports: [] }])
  }

  /** What the host answered to an import. */
  hand(specifier: string, referrer: string, name: string, files: readonly ModuleFile[]): void {
    this.#hold(files).handed.set(keyOf(referrer, specifier), { name, files })
  }

  /** The name by which the engine knows what `referrer` imports. */
  normalize(referrer: string, specifier: string): string {
    // Ours import by the names that modules have.
    if (referrer.startsWith(OURS)) return specifier
    const key = keyOf(referrer, specifier.slice(0, MODULE_BOUNDS.specifier + 1))
    return this.#held?.names.get(key) ?? IMPORT + (key.length > MOST_KEY ? TOO_LONG : key)
  }

  /** The source of a module that the engine does not have yet. */
  load(name: string): LoadedSource {
    if (name.startsWith(IMPORT)) return this.#import(name.slice(IMPORT.length))
    if (name.startsWith(GRAPH)) {
      const handed = this.#held?.handed.get(name.slice(GRAPH.length))
      if (handed !== undefined) return { code: graphSource(handed) }
    }
    const code = this.#held?.codes.get(name)
    return code === undefined
      ? { failure: { code: 'not_found', message: `There is no module "${shown(name)}".` }, searched: 0 }
      : { code }
  }

  /**
   * An error of linking with its place, which the engine does not say: where what was handed over in this turn imports
   * what a module does not export, or passes it on. Other errors as they are.
   */
  placed(error: GuestError): GuestError {
    const missing = missingExport(error)
    if (missing === undefined || this.#held === undefined) return error
    const { codes, names } = this.#held
    let searched = 0
    for (const [key, to] of names) {
      const [file, specifier] = JSON.parse(key) as [string, string]
      if (to !== missing.module && file !== missing.module) continue
      const code = codes.get(file) ?? ''
      searched += code.length
      if (searched > MOST_SEARCHED) break
      const place = placeOfExportName(code, specifier, missing.name)
      if (place === undefined) continue
      const message = error.message.replace(quoted(missing.module), quoted(specifier))
      return { ...error, message, stack: frame(file, place), position: { file, ...place } }
    }
    return error
  }

  /** The engine has what it wanted. */
  endTurn(): void {
    this.#held = undefined
  }

  #import(key: string): LoadedSource {
    const [referrer, specifier] = JSON.parse(key) as [string, string]
    const problem = importProblem(specifier, referrer, this.#open)
    if (problem === undefined) return { code: importSource(specifier, referrer, key) }
    const code = this.#held?.codes.get(referrer) ?? ''
    const place = placeOfImport(code, specifier)
    const frames = place === undefined ? '' : frame(referrer, place)
    return { failure: { ...problem, frames }, searched: code.length }
  }

  #hold(files: readonly ModuleFile[]): Held {
    this.#held ??= { codes: new Map(), names: new Map(), handed: new Map() }
    const { codes, names } = this.#held
    for (const { name, code, imports, places } of files) {
      codes.set(name, code)
      if (places !== undefined) this.place(name, places)
      for (const [specifier, to] of imports as readonly ModuleImport[]) {
        names.set(keyOf(name, specifier), to)
      }
    }
    return this.#held
  }
}

/** Makes constants of globals, which are gone then. Evaluated before any code of the guest. */
export function defineConstants(...names: readonly string[]): string {
  const constants = names.map((name) => `const ${name} = globalThis.${name}`)
  return [...constants, ...names.map((name) => `delete globalThis.${name}`)].join('\n')
}

function keyOf(referrer: string, specifier: string): string {
  return JSON.stringify([referrer, specifier])
}

function importsOf(files: readonly ModuleFile[]): string {
  return importOrder(files)
    .map((name) => `import ${quote(name)}\n`)
    .join('')
}

function graphSource({ name, files }: Handed): string {
  return `${importsOf(files)}import * as module from ${quote(name)}\nexport { module }\n`
}

/** Stands for an import of the host. Kept by the engine, so the second time it knows the module. */
function importSource(specifier: string, referrer: string, key: string): string {
  return `let module, loading
const load = async () => {
  await ${LOADER_NAME}({ specifier: ${quote(specifier)}, referrer: ${quote(referrer)} })
  ;({ module } = await import(${quote(GRAPH + key)}))
}
export async function then(resolve, reject) {
  try {
    if (module === undefined) await (loading ??= load())
    resolve(module)
  } catch (error) {
    loading = undefined
    ${FAILED_NAME}(error)
    reject(error)
  }
}
`
}

/** As a literal of the language: the engine takes its specifiers as they are. */
function quote(text: string): string {
  return JSON.stringify(text)
}

/** A line of a stack, as the engine writes it. */
export function frame(file: string, { line, column }: SourcePlace): string {
  return `    at ${file}:${line}:${column}`
}

function quoted(text: string): string {
  return `'${text}'`
}

function shown(name: string): string {
  return name.slice(0, 200)
}
