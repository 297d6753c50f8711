/**
 * The modules of one program: those that it starts with, and those that it asks for while it runs.
 *
 * Static imports are followed before the program starts, so that it starts with all of them; `import()` comes here
 * through the capability `LOAD_MODULE` while it runs. Either way every import passes `module-reader.ts`.
 */
import { CaissonError, type ErrorCode } from '../base/errors.ts'
import type { AsyncCapability, Capability } from '../capability/capability.ts'
import {
  LOAD_MODULE,
  type ModuleAnswer,
  type ModuleFile,
  type ModuleGraph,
  type ModuleImport,
  type ModuleProblem,
  type ModuleRequest,
} from '../machine/module-graph.ts'
import { withReturn } from '../program/returning-module.ts'
import { programName } from '../program/specifier.ts'
import { withTrailingValue } from '../program/trailing-value.ts'
import { ModuleGiver, type ModuleGiverParts } from './module-giver.ts'
import type { ModuleOptions } from './module-options.ts'
import { GraphProblem, type MainModule, ModuleReader, type ModuleReaderParts } from './module-reader.ts'

/** Of the text of a detail that a guest is told. */
const MOST_TOLD = 100
/** What is not a call of import is at least a comment in one. */
const ASKS = /\bimport\s*[(/]/

/** What the runtime lends. */
export interface ProgramModulesParts extends ModuleReaderParts, ModuleGiverParts {}

export class ProgramModules {
  readonly #parts: ProgramModulesParts
  readonly #giver: ModuleGiver
  readonly #reader: ModuleReader
  /** Whether something that was read may import while it runs. Where nothing was read, it may. */
  #asks = true
  #main: MainModule = { name: '', fileName: '' }
  #source = ''
  /** The program as it is to be read. */
  #read: string | undefined
  /** Names of what the program began with: it has them. */
  readonly #begunWith = new Set<string>()

  /** @throws CaissonError `invalid_argument` for modules or a map that are none */
  constructor(options: ModuleOptions, parts: ProgramModulesParts) {
    this.#parts = parts
    this.#giver = new ModuleGiver(options, parts)
    this.#reader = new ModuleReader(this.#giver, options, parts)
  }

  /**
   * Whose modules they are, before anything is asked of them.
   * @param mostMs for which its sources are parsed at most, before it starts
   * @throws CaissonError `invalid_argument` when a module has the name of the program
   */
  begin(source: string, fileName: string, mostMs: number): void {
    this.#parts.scout.limitTo(mostMs)
    const name = programName(fileName)
    this.#main = { name, fileName }
    this.#source = source
    this.#reader.begin(this.#main, source)
    if (this.#giver.has(name)) {
      throw new CaissonError(
        'invalid_argument',
        `A module has the name of the program itself: "./${name}".`,
        {
          details: { option: 'modules', module: `./${name}` },
        },
      )
    }
    this.#asks = ASKS.test(source)
  }

  /** Whether a program that has begun may ask for modules. */
  get mayBeAsked(): boolean {
    return this.#giver.isOpen && this.#asks
  }

  /** Whether parsing took all the time that there was for it: what was found is not all. */
  get isSpent(): boolean {
    return this.#parts.scout.isSpent
  }

  /** As the program is to be read: where it has no default export, what it returns or ends with is one. */
  get source(): string {
    const { scout } = this.#parts
    const parses = (code: string): boolean => scout.parses(code)
    this.#read ??= withTrailingValue(withReturn(this.#source, parses), parses)
    return this.#read
  }

  /** Everything that the program imports statically. */
  async graph(): Promise<ModuleGraph> {
    const { name } = this.#main
    try {
      const imports = await this.#reader.importsOf(name, this.source)
      const files = await this.#reader.reach(name, imports)
      if (files instanceof GraphProblem) return { imports: [], files: [], problem: files.error }
      for (const file of files) this.#begunWith.add(file.name)
      this.#asks ||= files.some(({ code }) => ASKS.test(code))
      return {
        imports: imports instanceof GraphProblem ? [] : imports.map(this.#inEngine),
        files: files.map(this.#asFile),
      }
    } finally {
      this.#parts.scout.close()
    }
  }

  /** By which a guest asks for modules while it runs. */
  get capability(): Capability {
    const load: AsyncCapability<unknown, ModuleAnswer> = {
      name: LOAD_MODULE,
      description: 'Gives a module that the program imports while it runs.',
      effect: 'read',
      expose: (error) => (CaissonError.is(error) ? error : undefined),
      invoke: (request) => this.answer(request),
    }
    return load as Capability
  }

  /** @throws CaissonError `not_found`, `denied`, and what else a guest may be told */
  async answer(request: unknown): Promise<ModuleAnswer> {
    const { specifier, referrer } = (request ?? {}) as Partial<Record<keyof ModuleRequest, unknown>>
    if (typeof specifier !== 'string' || typeof referrer !== 'string') {
      throw new CaissonError('invalid_arguments', 'An import has a specifier and a referrer.')
    }
    const from = this.#nameOf(referrer)
    const name = this.#reader.resolve(specifier, from)
    if (typeof name !== 'string') throw toldError(this.#reader.problem(name, from, specifier).error)
    if (name === this.#main.name) return { name: this.#main.fileName, files: [] }
    try {
      const files = await this.#reader.reach(undefined, [[specifier, name]], from)
      if (files instanceof GraphProblem) throw toldError(files.error)
      const fresh = files.filter((file) => !this.#begunWith.has(file.name))
      return { name, files: fresh.map(this.#asFile) }
    } finally {
      this.#parts.scout.close()
    }
  }

  /** A name of the engine's as one of ours. */
  #nameOf(referrer: string): string {
    if (referrer === this.#main.fileName) return this.#main.name
    return referrer.startsWith('package:') ? referrer : programName(referrer)
  }

  readonly #inEngine = ([specifier, name]: ModuleImport): ModuleImport =>
    name === this.#main.name ? [specifier, this.#main.fileName] : [specifier, name]

  readonly #asFile = ({ imports, ...file }: ModuleFile): ModuleFile => ({
    ...file,
    imports: imports.map(this.#inEngine),
  })
}

/** As a guest is told it, with its place where that is not too long to be told. */
function toldError({ code, message, position }: ModuleProblem): CaissonError {
  const details = position !== undefined && position.file.length <= MOST_TOLD ? { ...position } : {}
  return new CaissonError((code ?? 'denied') as ErrorCode, message, { details })
}
