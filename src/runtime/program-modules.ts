/**
 * The modules of one program: what the embedder gives, and the one gate through which every import passes.
 *
 * Static imports are followed before the program starts, so that it starts with all of them; `import()` comes here
 * through the capability `LOAD_MODULE` while it runs.
 *
 * Invariants
 * 1. Every import is resolved, checked and counted here, whoever asks: no specifier of a guest reaches the embedder's
 *    function but as a name within the root, or as a bare name.
 * 2. What the embedder gave is read once.
 * 3. What the embedder's function threw stays with the host, unless it is an error that is meant for guests.
 * 4. A module is loaded once for a program.
 */
import { CaissonError, type ErrorCode } from '../base/errors.ts'
import type { AsyncCapability, Capability } from '../capability/capability.ts'
import type { ImportScout } from '../isolate/import-scout.ts'
import {
  LOAD_MODULE,
  MODULE_BOUNDS,
  type ModuleAnswer,
  type ModuleFile,
  type ModuleGraph,
  type ModuleImport,
  type ModuleProblem,
  type ModuleRequest,
} from '../machine/module-graph.ts'
import { attributesIn, attributeType } from '../program/import-attributes.ts'
import { Resolver } from '../program/import-map.ts'
import {
  cannotImport,
  type ImportProblem,
  importOf,
  importProblem,
  moduleMissing,
  placeOfImport,
} from '../program/import-problem.ts'
import { jsonModule } from '../program/json-module.ts'
import { postOrder } from '../program/post-order.ts'
import { asItIs, type PrepareSource, sourceProblem } from '../program/prepare-source.ts'
import { withReturn } from '../program/returning-module.ts'
import { asSpecifier, programName } from '../program/specifier.ts'
import { withTrailingValue } from '../program/trailing-value.ts'
import { givenModules } from './given-modules.ts'
import type { LoadModule, ModuleOptions, ModuleSource } from './module-options.ts'

/** Loads that are asked for at once. */
const AT_ONCE = 16
/** For one load, milliseconds: as for a call of a capability. */
const LOAD_MS = 30_000
/** How long the host may be kept by parsing before others have their turn, milliseconds. */
const BREATH_MS = 20
/** Of the text of a detail that a guest is told. */
const MOST_TOLD = 100
/** What a guest may be told of by the embedder's function. */
const TOLD: ReadonlySet<ErrorCode> = new Set([
  'not_found',
  'denied',
  'path_denied',
  'network_denied',
  'timeout',
  'aborted',
])

/** What the runtime lends. */
export interface ProgramModulesParts {
  readonly scout: ImportScout
  readonly monotonic: () => number
  readonly pause: () => Promise<void>
  /** Told what the embedder's function threw. */
  readonly report: (cause: unknown) => void
  readonly prepare?: PrepareSource
  /** Ends loads that are at work. */
  readonly signal: AbortSignal | undefined
}

/** What stops a graph: an import that leads nowhere, with where it stands. */
class GraphProblem {
  readonly error: ModuleProblem
  constructor(error: ModuleProblem) {
    this.error = error
  }
}

export class ProgramModules {
  /** Whether the embedder gives any. */
  readonly isGiven: boolean
  /** Whether something that was read may import while it runs. Where nothing was read, it may. */
  #asks = true
  readonly #parts: ProgramModulesParts
  readonly #modules: ReadonlyMap<string, ModuleSource>
  readonly #load: LoadModule | undefined
  readonly #resolver: Resolver
  readonly #loaded = new Map<string, Promise<ModuleFile | GraphProblem>>()
  /** By name, as their authors wrote them. */
  readonly #sources = new Map<string, string>()
  /** The program as it is to be read. */
  #read: string | undefined
  /** Names of what the program began with: it has them. */
  readonly #begunWith = new Set<string>()
  /** The program's own name among its modules, and that in the engine. */
  #main: { readonly name: string; readonly fileName: string } | undefined
  #sourceBytes = 0
  #imports = 0
  #breathedAt: number

  /** @throws CaissonError `invalid_argument` for modules or a map that are none */
  constructor(options: ModuleOptions, parts: ProgramModulesParts) {
    this.#parts = parts
    this.#modules = givenModules(options.modules)
    this.#load = options.loadModule
    this.#resolver = new Resolver(options.importMap)
    this.isGiven = options.modules !== undefined || options.loadModule !== undefined
    this.#breathedAt = parts.monotonic()
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
    this.#sources.set(name, source)
    if (this.#modules.has(name)) {
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
    return this.isGiven && this.#asks
  }

  /** Whether parsing took all the time that there was for it: what was found is not all. */
  get isSpent(): boolean {
    return this.#parts.scout.isSpent
  }

  /** As the program is to be read: where it has no default export, what it returns or ends with is one. */
  get source(): string {
    const { scout } = this.#parts
    const parses = (code: string): boolean => scout.parses(code)
    this.#read ??= withTrailingValue(
      withReturn(this.#sources.get(this.#main?.name ?? '') ?? '', parses),
      parses,
    )
    return this.#read
  }

  /** Everything that the program imports statically. */
  async graph(): Promise<ModuleGraph> {
    const name = this.#main?.name ?? ''
    try {
      const imports = await this.#importsOf(name, this.source)
      const files = await this.#reach(name, imports)
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
    const name = this.#resolve(specifier, from)
    if (typeof name !== 'string') throw toldError(this.#problem(name, from, specifier).error)
    if (name === this.#main?.name) return { name: this.#main.fileName, files: [] }
    try {
      const files = await this.#reach(undefined, [[specifier, name]], from)
      if (files instanceof GraphProblem) throw toldError(files.error)
      const fresh = files.filter((file) => !this.#begunWith.has(file.name))
      return { name, files: fresh.map(this.#asFile) }
    } finally {
      this.#parts.scout.close()
    }
  }

  /** What imports lead to, each after what it imports itself. @param root the program, which is none of them */
  async #reach(
    root: string | undefined,
    imports: readonly ModuleImport[] | GraphProblem,
    referrer: string = root ?? '',
  ): Promise<readonly ModuleFile[] | GraphProblem> {
    if (imports instanceof GraphProblem) return imports
    const found = new Map<string, ModuleFile>()
    let wanted = imports.map(([specifier, name]) => ({ specifier, name, referrer }))
    const seen = new Set(root === undefined ? [] : [root])
    while (wanted.length > 0) {
      const next: typeof wanted = []
      const batch = wanted.filter(({ name }) => !seen.has(name) && seen.add(name))
      if (seen.size > MODULE_BOUNDS.modules) return tooMany(`more than ${MODULE_BOUNDS.modules} modules`)
      for (let i = 0; i < batch.length; i += AT_ONCE) {
        const loading = batch
          .slice(i, i + AT_ONCE)
          .map((one) => this.#loadOnce(one.name, one.specifier, one.referrer))
        for (const loaded of await Promise.all(loading)) {
          if (loaded instanceof GraphProblem) return loaded
          found.set(loaded.name, loaded)
          for (const [specifier, name] of loaded.imports)
            next.push({ specifier, name, referrer: loaded.name })
        }
      }
      wanted = next
    }
    const start = root ?? '\0'
    const edges = (name: string): readonly string[] =>
      (name === start ? imports : (found.get(name)?.imports ?? [])).map(([, to]) => to)
    return postOrder(start, edges)
      .map((name) => found.get(name))
      .filter((file) => file !== undefined)
  }

  #loadOnce(name: string, specifier: string, referrer: string): Promise<ModuleFile | GraphProblem> {
    let loading = this.#loaded.get(name)
    if (loading === undefined) {
      loading = this.#loadModule(name, specifier, referrer)
      this.#loaded.set(name, loading)
      // What was not there may be there later.
      void loading.then(
        (loaded) => loaded instanceof GraphProblem && this.#loaded.delete(name),
        () => this.#loaded.delete(name),
      )
    }
    return loading
  }

  async #loadModule(name: string, specifier: string, referrer: string): Promise<ModuleFile | GraphProblem> {
    const given = await this.#ask(name, specifier, referrer)
    if (given instanceof GraphProblem) return given
    if (given === undefined)
      return this.#problem(
        moduleMissing(specifier, referrer, name, (other) => this.#modules.has(other)),
        referrer,
        specifier,
      )
    const { source } = given
    this.#sources.set(name, source)
    const kind = given.type ?? (name.endsWith('.json') ? 'json' : 'js')
    this.#sourceBytes += source.length
    if (this.#sourceBytes > MODULE_BOUNDS.sourceBytes) {
      return tooMany(`more than ${MODULE_BOUNDS.sourceBytes} bytes of source`)
    }
    const wrong = sourceProblem(source)
    if (wrong !== undefined) {
      return new GraphProblem({
        name: 'SyntaxError',
        message: `${name} cannot be read: ${wrong}.`,
        code: 'denied',
      })
    }
    if (kind === 'json') {
      const json = jsonModule(source)
      if ('code' in json) return { name, code: json.code, imports: [] }
      const { message, line, column } = json
      return new GraphProblem({
        name: 'SyntaxError',
        message: `${name} is no JSON: ${message}`,
        stack: `    at ${name}:${line}:${column}`,
        position: { file: name, line, column },
      })
    }
    const prepared = await (this.#parts.prepare ?? asItIs)({ name, source })
    if ('problem' in prepared) return new GraphProblem(prepared.problem)
    const { code, places } = prepared
    await this.#breathe()
    const imports = await this.#importsOf(name, code)
    return imports instanceof GraphProblem ? imports : { name, code, imports, ...(places && { places }) }
  }

  async #ask(
    name: string,
    specifier: string,
    referrer: string,
  ): Promise<ModuleSource | undefined | GraphProblem> {
    const here = this.#modules.get(name)
    if (here !== undefined || this.#load === undefined) return here
    try {
      const load = this.#load
      const from = { specifier, referrer: asSpecifier(referrer) }
      return checkedSource(await settledInTime(async () => load(asSpecifier(name), from), this.#parts.signal))
    } catch (cause) {
      if (CaissonError.is(cause) && TOLD.has(cause.code)) {
        return this.#problem(
          { code: cause.code, message: `${importOf(specifier, referrer)}: ${cause.message}` },
          referrer,
          specifier,
        )
      }
      this.#parts.report(cause)
      return this.#problem(
        {
          code: 'capability_failed',
          message: `${importOf(specifier, referrer)} failed: the host could not load it.`,
        },
        referrer,
        specifier,
      )
    }
  }

  /** The imports of a module, resolved. */
  async #importsOf(name: string, code: string): Promise<readonly ModuleImport[] | GraphProblem> {
    if (!MAY_IMPORT.test(code)) return []
    const specifiers = this.#parts.scout.importsOf(code)
    if (this.isSpent) {
      const message = 'Reading the modules of the program took all the time that it may take.'
      return new GraphProblem({ name: 'Error', code: 'timeout', message })
    }
    this.#imports += specifiers.length
    if (this.#imports > MODULE_BOUNDS.imports) return tooMany(`more than ${MODULE_BOUNDS.imports} imports`)
    const resolved: ModuleImport[] = []
    const attributes = attributesIn(code)
    for (const specifier of specifiers) {
      const to = this.#resolve(specifier, name)
      const problem =
        typeof to === 'string' ? attributeProblem(attributes.get(specifier), specifier, name, to) : to
      if (problem !== undefined) return this.#problem(problem, name, specifier)
      resolved.push([specifier, to as string])
    }
    return resolved
  }

  #resolve(specifier: string, referrer: string): string | ImportProblem {
    const hint = this.#resolver.maps(specifier, referrer)
      ? undefined
      : importProblem(specifier, referrer, this.isGiven)
    if (hint !== undefined) return hint
    const resolved = this.#resolver.resolve(specifier, referrer)
    return resolved.name ?? cannotImport(specifier, referrer, resolved)
  }

  #problem({ code, message }: ImportProblem, referrer: string, specifier: string): GraphProblem {
    const error: ModuleProblem = { name: 'Error', message, code }
    const source = this.#sources.get(referrer)
    const place = source === undefined ? undefined : placeOfImport(source, specifier)
    if (place === undefined) return new GraphProblem(error)
    const file = referrer === this.#main?.name ? this.#main.fileName : referrer
    const { line, column } = place
    return new GraphProblem({
      ...error,
      stack: `    at ${file}:${line}:${column}`,
      position: { file, line, column },
    })
  }

  /** Parsing does not await: others have their turn in between. */
  async #breathe(): Promise<void> {
    if (this.#parts.monotonic() - this.#breathedAt < BREATH_MS) return
    await this.#parts.pause()
    this.#breathedAt = this.#parts.monotonic()
  }

  /** A name of the engine's as one of ours. */
  #nameOf(referrer: string): string {
    if (referrer === this.#main?.fileName) return this.#main.name
    return referrer.startsWith('package:') ? referrer : programName(referrer)
  }

  readonly #inEngine = ([specifier, name]: ModuleImport): ModuleImport =>
    name === this.#main?.name ? [specifier, this.#main.fileName] : [specifier, name]

  readonly #asFile = ({ imports, ...file }: ModuleFile): ModuleFile => ({
    ...file,
    imports: imports.map(this.#inEngine),
  })
}

/** @throws CaissonError `timeout`, `aborted`, what `load` throws */
async function settledInTime<T>(load: () => Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  let onAbort = (): void => {}
  const givenUp = new Promise<never>((_, reject) => {
    onAbort = () => reject(new CaissonError('aborted', 'The run was aborted.'))
    timer = setTimeout(
      () => reject(new CaissonError('timeout', `A module did not come within ${LOAD_MS} ms.`)),
      LOAD_MS,
    )
    signal?.addEventListener('abort', onAbort, { once: true })
    if (signal?.aborted === true) onAbort()
  })
  try {
    return await Promise.race([load(), givenUp])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', onAbort)
  }
}

/** What is not a call of import is at least a comment in one. */
const ASKS = /\bimport\s*[(/]/

/** A module that has neither word has no static import. */
export const MAY_IMPORT: RegExp = /\b(?:import|from)\b/

function attributeProblem(
  attributes: string | undefined,
  specifier: string,
  referrer: string,
  name: string,
): ImportProblem | undefined {
  const type = attributeType(attributes)
  if (type === 'any' || (type === 'json' && name.endsWith('.json'))) return undefined
  return cannotImport(specifier, referrer, {
    code: 'denied',
    why:
      type === 'json'
        ? 'it is asked for as JSON, and its name does not end in .json'
        : `no guest knows the attributes {${attributes?.slice(0, 80)}}`,
  })
}

function tooMany(what: string): GraphProblem {
  return new GraphProblem({ name: 'Error', code: 'denied', message: `The program has ${what}.` })
}

/** As a guest is told it, with its place where that is not too long to be told. */
function toldError({ code, message, position }: ModuleProblem): CaissonError {
  const details = position !== undefined && position.file.length <= MOST_TOLD ? { ...position } : {}
  return new CaissonError((code ?? 'denied') as ErrorCode, message, { details })
}

function checkedSource(given: unknown): ModuleSource | undefined {
  if (given === undefined || given === null) return undefined
  if (typeof given === 'string') return { source: given }
  const { source, type } = given as Partial<Record<keyof ModuleSource, unknown>>
  if (typeof source === 'string' && (type === undefined || type === 'js' || type === 'json')) {
    return { source, ...(type && { type }) }
  }
  throw new CaissonError(
    'invalid_argument',
    'A module is a text, or { source, type } with type "js" or "json".',
  )
}
