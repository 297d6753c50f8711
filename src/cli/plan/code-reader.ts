/**
 * The code of plans: read from files beside them, and looked at by the engine.
 *
 * The engine is given each program behind a statement that throws, in an isolate that may call nothing: so it parses,
 * follows imports and links, and evaluates nothing of it.
 *
 * Invariants
 * 1. Nothing outside of the folder of the plan is read, through no link and no `..`; no module outside of the folder of
 *    its program.
 * 2. No statement of a program, of a module or of an expression runs.
 * 3. However much code there is, one reader looks at it with one budget; equal code is looked at once.
 */
import { basename, dirname, join } from 'node:path/posix'
import { openDirectoryFileTree } from '../../../host-bindings/files/node/directory-file-tree.node.ts'
import { ASYNC_DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { openRuntime } from '../../entry/node.ts'
import type { ReadProgram } from '../../graph/plan/embed-sources.ts'
import type { Program } from '../../graph/plan/plan.ts'
import { DEFAULT_LIMITS } from '../../machine/limits.ts'
import { programAttempts } from '../../program/forms.ts'
import type { SourcePlace } from '../../program/source-place.ts'
import type { LoadModule } from '../../runtime/module-options.ts'
import type { RunOptions } from '../../runtime/options.ts'
import type { Runtime } from '../../runtime/runtime.ts'
import { modulesBeside } from '../run/run-plan.ts'

/** What is wrong with code. */
export interface CodeProblem {
  readonly problem: string
  /** Of the program or module, from the folder of the plan; undefined for the program itself where it has no file. */
  readonly file?: string
  readonly place?: SourcePlace
  /** Of that file. */
  readonly text?: string | undefined
}

/** What is thrown before anything else happens. */
const LOOKED = 'caisson: looked at'
const STOP = './-caisson-looks.js'
const PROGRAM_FILE = /\.(?:[mc]?js|[mc]?ts)$/
const MOST_BYTES = 4 * 1024 * 1024
/** Of all that a reader looks at: seconds, where plans as they are written take a small part of one. */
const ALL_FUEL = 10_000_000_000
/** A look counts at least so much: an isolate is made for it. */
const LEAST_FUEL = 2_000_000
/** At the begin of a program, behind comments. Each step takes at least a character, and in one way only. */
const STRICT =
  /^(?:\s|\/\/[^\n]*\n|\/\*(?:[^*]|\*(?!\/))*\*\/)*(?:'use strict'|"use strict")(?=[ \t]*(?:;|\r?\n|$))/
const STRICT_WITHIN = 10_000

interface ReadFile {
  readonly program: ReadProgram
  readonly problems: readonly CodeProblem[]
}

/** Holds a runtime from its first use on: close it. */
export class CodeReader {
  readonly #read = new Map<string, Promise<ReadFile>>()
  readonly #looked = new Map<string, Promise<readonly CodeProblem[]>>()
  #runtime: Promise<Runtime> | undefined
  #fuel: number
  #toldSpent = false

  /** @param fuel for all that it looks at */
  constructor(fuel: number = ALL_FUEL) {
    this.#fuel = fuel
  }

  /** A program that a plan names by file, with the modules that it imports statically. */
  read(folder: string | undefined, program: Program & { readonly file: string }): Promise<ReadFile> {
    const { file, modules } = program
    return once(this.#read, [folder, file, modules], () => this.#readFile(folder, program))
  }

  async #readFile(
    folder: string | undefined,
    program: Program & { readonly file: string },
  ): Promise<ReadFile> {
    const { file } = program
    const none = (problem: string): ReadFile => ({
      program: { source: '' },
      problems: [{ problem }],
    })
    if (folder === undefined) return none('a plan from standard input has no folder with files')
    if (!PROGRAM_FILE.test(file)) return none('is no program by its name: .js, .mjs, .ts or .mts')
    let source: string
    try {
      source = await readInside(folder, file)
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      return none(`cannot be read: ${error.message.replace(/\.$/, '')}`)
    }
    const language = /\.[mc]?ts$/.test(file) ? 'ts' : 'js'
    const modules: Record<string, string> = {}
    const load = modulesBeside(join(folder, file), source)
    const problems = await this.#check({ ...program, source, language }, async (name, from) => {
      const text = await load(name, from)
      if (typeof text === 'string') modules[name] = text
      return text
    })
    return { program: { source, language, modules }, problems }
  }

  /** What keeps a program from being started. */
  check(program: Program): Promise<readonly CodeProblem[]> {
    const { source, file, modules, language } = program
    return once(this.#looked, ['program', source, file, modules, language], () => this.#check(program))
  }

  async #check(program: Program, loadModule?: LoadModule): Promise<readonly CodeProblem[]> {
    const { source = '', file, modules = {}, language = 'auto' } = program
    const [attempt] = programAttempts(source, 'auto')
    const isModule = attempt?.form === 'module'
    const fileName = file === undefined ? 'program' : basename(file)
    const read = new Map(Object.entries(modules))
    const options: RunOptions = {
      language,
      fileName,
      modules,
      loadModule: async (name, from) => {
        if (name === STOP) return `throw ${JSON.stringify(LOOKED)}`
        const text = (await loadModule?.(name, from)) ?? undefined
        if (typeof text === 'string') read.set(name, text)
        return text
      },
    }
    // On a line of its own, so that columns stay. The first line for a shell is a comment there.
    const code = source.startsWith('#!') ? `//${source.slice(2)}` : source
    // A directive is none behind a statement.
    const strict = STRICT.test(code.slice(0, STRICT_WITHIN)) ? "'use strict';" : ''
    const stop = `${strict}throw ${JSON.stringify(LOOKED)};`
    const first = isModule ? `import ${JSON.stringify(STOP)}` : stop
    const found = await this.#look(`${first}\n${code}`, options)
    if (found === undefined) return []
    // A function without a name is a program, and no statement.
    const isLone = attempt?.provided !== undefined && !this.#toldSpent
    const lone = isLone ? await this.#look(`${first}\n${attempt.code}`, options) : found
    if (lone === undefined) return []
    const { message, position } = this.#toldSpent ? lone : found
    if (position === undefined || position.file === fileName) {
      const place = position && { line: Math.max(1, position.line - 1), column: position.column }
      return [{ problem: message, ...(file && { file }), ...(place && { place }), text: source }]
    }
    const text = read.get(`./${position.file}`)
    const where = file === undefined ? position.file : join(dirname(file), position.file)
    return [{ problem: message, file: where, place: position, text }]
  }

  /** What keeps an expression from being evaluated. */
  checkExpression(source: string, names: readonly string[]): Promise<readonly CodeProblem[]> {
    return once(this.#looked, ['expression', source, names], () => this.#checkExpression(source, names))
  }

  async #checkExpression(source: string, names: readonly string[]): Promise<readonly CodeProblem[]> {
    const stop = `throw ${JSON.stringify(LOOKED)};`
    // Each by itself: two of the same text in one could complete each other. Without brackets of ours around it, it
    // closes none of them; so within them it is what is evaluated (`PlanWork`), and one expression.
    const bare = source.includes(')')
      ? await this.#lookAt(source, `${stop}looked =\n${source}\n;`, 'script')
      : []
    if (bare.length > 0) return bare
    return this.#lookAt(source, `${stop}return (({ ${names.join(', ')} }) => (\n${source}\n))(input)`, 'body')
  }

  /** @param code has the expression from its second line on */
  async #lookAt(source: string, code: string, form: 'script' | 'body'): Promise<readonly CodeProblem[]> {
    const found = await this.#look(code, { language: 'js', form, fileName: 'expression' })
    if (found === undefined) return []
    const { message, position } = found
    const lines = source.split('\n').length
    const line = position === undefined ? 0 : position.line - 1
    // What stands behind it is ours.
    const ended = line > lines && message.startsWith('SyntaxError')
    const problem = ended ? 'SyntaxError: unexpected end of the expression' : message
    const place = position !== undefined && line >= 1 && line <= lines && { line, column: position.column }
    return [{ problem, ...(place && { place }), text: source }]
  }

  async #look(code: string, options: RunOptions): Promise<Found | undefined> {
    if (this.#fuel <= 0) return this.#spent()
    this.#runtime ??= openRuntime()
    const fuel = Math.min(DEFAULT_LIMITS.fuel, this.#fuel)
    const outcome = await (await this.#runtime).run(code, { ...options, limits: { fuel } })
    this.#fuel -= Math.max(outcome.usage.fuel, LEAST_FUEL)
    switch (outcome.status) {
      case 'failed': {
        const { name, message, code, position } = outcome.error
        if (message === LOOKED) return undefined
        if (code === 'isolate_destroyed') throw new CaissonError(code, message)
        return { message: name === 'Error' ? message : `${name}: ${message}`, position }
      }
      case 'exhausted':
        if (outcome.limit === 'fuel' && this.#fuel <= 0) return this.#spent()
        return { message: `is too much to be read: ${outcome.message}`, position: undefined }
      default:
        return { message: 'cannot be looked at', position: undefined }
    }
  }

  /** Once: what is not looked at any more is not right either, and needs no thousand lines to say so. */
  #spent(): Found | undefined {
    if (this.#toldSpent) return undefined
    this.#toldSpent = true
    const message =
      'was not looked at, and nothing after it: the code before took all the fuel that a check has. Split the plan, or make its programs shorter'
    return { message, position: undefined }
  }

  async close(): Promise<void> {
    await (await this.#runtime)?.close()
  }
}

interface Found {
  readonly message: string
  readonly position: { readonly file: string; readonly line: number; readonly column: number } | undefined
}

function once<T>(known: Map<string, Promise<T>>, key: unknown, make: () => Promise<T>): Promise<T> {
  const text = JSON.stringify(key)
  const made = known.get(text) ?? make()
  known.set(text, made)
  return made
}

async function readInside(folder: string, file: string): Promise<string> {
  const tree = await openDirectoryFileTree({ root: folder })
  try {
    const bytes = await tree.read(file, { offset: 0, length: MOST_BYTES + 1 })
    if (bytes.length > MOST_BYTES) throw new CaissonError('denied', `it is larger than ${MOST_BYTES} bytes.`)
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new CaissonError('denied', 'it is no UTF-8 text.')
  } finally {
    await tree[ASYNC_DISPOSE]()
  }
}
