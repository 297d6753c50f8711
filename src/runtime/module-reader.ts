/**
 * From the imports of a program to the files that they lead to, through the one gate that every import passes.
 *
 * Invariants
 * 1. Every import is resolved, checked and counted here, whoever asks: no specifier of a guest reaches the embedder's
 *    function but as a name within the root, or as a bare name.
 * 2. A module is loaded once for a program.
 */
import type { ImportScout } from '../isolate/import-scout.ts'
import {
  MODULE_BOUNDS,
  type ModuleFile,
  type ModuleImport,
  type ModuleProblem,
} from '../machine/module-graph.ts'
import { attributesIn, attributeType } from '../program/import-attributes.ts'
import { Resolver } from '../program/import-map.ts'
import {
  cannotImport,
  type ImportProblem,
  importProblem,
  moduleMissing,
  placeOfImport,
} from '../program/import-problem.ts'
import { jsonModule } from '../program/json-module.ts'
import { postOrder } from '../program/post-order.ts'
import { asItIs, type PrepareSource, sourceProblem } from '../program/prepare-source.ts'
import type { ModuleGiver } from './module-giver.ts'
import type { ModuleOptions } from './module-options.ts'

/** Loads that are asked for at once. */
const AT_ONCE = 16
/** How long the host may be kept by parsing before others have their turn, milliseconds. */
const BREATH_MS = 20

export interface ModuleReaderParts {
  readonly scout: ImportScout
  readonly monotonic: () => number
  readonly pause: () => Promise<void>
  readonly prepare?: PrepareSource
}

/** The program's own name among its modules, and that in the engine. */
export interface MainModule {
  readonly name: string
  readonly fileName: string
}

/** What stops a graph: an import that leads nowhere, with where it stands. */
export class GraphProblem {
  readonly error: ModuleProblem
  constructor(error: ModuleProblem) {
    this.error = error
  }
}

export class ModuleReader {
  readonly #parts: ModuleReaderParts
  readonly #giver: ModuleGiver
  readonly #resolver: Resolver
  readonly #loaded = new Map<string, Promise<ModuleFile | GraphProblem>>()
  /** By name, as their authors wrote them. */
  readonly #sources = new Map<string, string>()
  #main: MainModule | undefined
  #sourceBytes = 0
  #imports = 0
  #breathedAt: number

  /** @throws CaissonError `invalid_argument` for a map that is none */
  constructor(giver: ModuleGiver, { importMap }: ModuleOptions, parts: ModuleReaderParts) {
    this.#parts = parts
    this.#giver = giver
    this.#resolver = new Resolver(importMap)
    this.#breathedAt = parts.monotonic()
  }

  /** Whose modules they are. */
  begin(main: MainModule, source: string): void {
    this.#main = main
    this.#sources.set(main.name, source)
  }

  /** What imports lead to, each after what it imports itself. @param root the program, which is none of them */
  async reach(
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
    const given = await this.#giver.ask(name, specifier, referrer)
    if (given === undefined) {
      const missing = moduleMissing(specifier, referrer, name, (other) => this.#giver.has(other))
      return this.problem(missing, referrer, specifier)
    }
    if ('code' in given) return this.problem(given, referrer, specifier)
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
    const imports = await this.importsOf(name, code)
    return imports instanceof GraphProblem ? imports : { name, code, imports, ...(places && { places }) }
  }

  /** The imports of a module, resolved. */
  async importsOf(name: string, code: string): Promise<readonly ModuleImport[] | GraphProblem> {
    if (!MAY_IMPORT.test(code)) return []
    const specifiers = this.#parts.scout.importsOf(code)
    if (this.#parts.scout.isSpent) {
      const message = 'Reading the modules of the program took all the time that it may take.'
      return new GraphProblem({ name: 'Error', code: 'timeout', message })
    }
    this.#imports += specifiers.length
    if (this.#imports > MODULE_BOUNDS.imports) return tooMany(`more than ${MODULE_BOUNDS.imports} imports`)
    const resolved: ModuleImport[] = []
    const attributes = attributesIn(code)
    for (const specifier of specifiers) {
      const to = this.resolve(specifier, name)
      const problem =
        typeof to === 'string' ? attributeProblem(attributes.get(specifier), specifier, name, to) : to
      if (problem !== undefined) return this.problem(problem, name, specifier)
      resolved.push([specifier, to as string])
    }
    return resolved
  }

  /** The name of the module that an import leads to, or what is wrong with it. */
  resolve(specifier: string, referrer: string): string | ImportProblem {
    const hint = this.#resolver.maps(specifier, referrer)
      ? undefined
      : importProblem(specifier, referrer, this.#giver.isOpen)
    if (hint !== undefined) return hint
    const resolved = this.#resolver.resolve(specifier, referrer)
    return resolved.name ?? cannotImport(specifier, referrer, resolved)
  }

  /** With its place, as far as a text search finds it. */
  problem({ code, message }: ImportProblem, referrer: string, specifier: string): GraphProblem {
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
}

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
