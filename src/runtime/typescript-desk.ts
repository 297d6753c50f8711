/**
 * Makes JavaScript of programs and modules that are TypeScript, before a machine is started with them.
 *
 * Invariants
 * 1. A source that is JavaScript reaches the machine as it is, and costs a text search.
 * 2. A source of which nothing can be made ends the program as data, like one that does not parse.
 * 3. Equal sources become equal programs, whether they were read before or not.
 */
import { sha256 } from '../base/digest.ts'
import { checkNativeStack } from '../isolate/native-stack.ts'
import { parsesAsJavaScript } from '../isolate/parse-check.ts'
import type { Transpilation, TranspilerTask } from '../isolate/transpiler.ts'
import { TRANSPILER_STACK_BYTES, Transpiler } from '../isolate/transpiler.ts'
import { TYPESCRIPT_MANIFEST } from '../isolate/typescript-manifest.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { Limits } from '../machine/limits.ts'
import type { GuestError, MachineStart, ProgramForm, TurnControl } from '../machine/turn.ts'
import type { TypeScriptSource } from '../ports/typescript-source.ts'
import { type Language, languageOf } from '../program/language.ts'
import type { Places } from '../program/original-place.ts'
import type { PrepareSource } from '../program/prepare-source.ts'
import type { MachineMaker } from './machine-maker.ts'
import type { RunOptions } from './options.ts'
import { TranspileCache } from './transpile-cache.ts'

const DEFAULT_DOMAIN = 'default'

/** Name of a program that has none and is TypeScript. */
const PROGRAM_FILE = 'program.ts'

/** A turn without any of these words is read as it is: what it declares stays, and it returns nothing. An escape might spell one. */
const DECLARES = /\b(?:const|let|class|import|export|return)\b|\\/

/** What the runtime lends. */
export interface TypeScriptDeskParts {
  readonly machines: Pick<MachineMaker, 'engine' | 'base' | 'scout'>
  /** Left out where the platform brings none: then TypeScript is refused. */
  readonly load: TypeScriptSource | undefined
  readonly monotonic: () => number
}

/** For whom a source is read, and for how long at most. */
export interface Whose {
  readonly domain?: string | undefined
  readonly signal?: AbortSignal | undefined
  readonly limits: Limits
}

/** JavaScript of a source, or why there is none. */
export type Prepared =
  | { readonly code: string; readonly places: Places; readonly language: 'js' | 'ts' }
  | { readonly ended: NonNullable<MachineStart['ended']> }

/** A file of a program. */
export interface SourceText {
  readonly source: string
  /** As stacks show it; undefined if nobody named it. */
  readonly fileName: string | undefined
  readonly language?: Language | undefined
  readonly form?: ProgramForm
}

export class TypeScriptDesk {
  readonly #parts: TypeScriptDeskParts
  readonly #known = new TranspileCache()
  #transpiler: Transpiler | undefined

  constructor(parts: TypeScriptDeskParts) {
    this.#parts = parts
  }

  /**
   * The start of a program whose source is JavaScript then.
   * @throws CaissonError `unsupported`, `engine_mismatch`, `native_stack_low`, and what loading the transpiler throws
   */
  async start(
    start: MachineStart,
    options: Pick<RunOptions, 'fileName' | 'language' | 'domain' | 'signal'>,
  ): Promise<MachineStart> {
    const { source, form, limits } = start
    const { fileName, language, domain, signal } = options
    const text = { source, form, fileName, language }
    if (start.ended !== undefined) return start
    if (languageOf(source, language ?? 'auto', fileName) === 'js') return start
    const prepared = await this.prepare(text, { limits, domain, signal })
    if ('code' in prepared && prepared.language === 'js') return start
    const named = { ...start, fileName: fileName ?? PROGRAM_FILE }
    if ('ended' in prepared) return { ...named, ended: prepared.ended }
    const digest = sha256(new TextEncoder().encode(source))
    const by = `sha256:${TYPESCRIPT_MANIFEST.sha256}`
    const written = { language: 'ts', digest, by, places: prepared.places } as const
    return { ...named, source: prepared.code, written }
  }

  /** One file of a program. @throws CaissonError as `start` */
  async prepare(text: SourceText, whose: Whose): Promise<Prepared> {
    const { source, fileName, language = 'auto', form = 'auto' } = text
    const asItIs: Prepared = { code: source, places: [], language: 'js' }
    const { domain = DEFAULT_DOMAIN, limits } = whose
    const { monotonic } = this.#parts
    const control = controlOf(whose, monotonic)
    const which = languageOf(source, language, fileName)
    if (which === 'js') return asItIs
    const known = this.#known.get(domain, source)
    if (which === 'unsure') {
      const isJavaScript = await this.#parses(domain, source, form, control)
      if (isJavaScript) return asItIs
    }
    const transpiled = known.transpiled ?? (await this.#read(source, domain, control))
    if (isFinal(transpiled)) this.#known.learn(domain, source, { transpiled })
    return preparedOf(transpiled, fileName ?? PROGRAM_FILE, limits)
  }

  /**
   * The start of a turn of a session: a script whose declarations stay (`guest/typescript/session-turn.ts`).
   * @throws CaissonError as `start`
   */
  async turn(
    start: MachineStart,
    options: Pick<RunOptions, 'fileName' | 'language' | 'domain' | 'signal'>,
  ): Promise<MachineStart> {
    const { source, limits } = start
    const { fileName, language, domain = DEFAULT_DOMAIN, signal } = options
    if (start.ended !== undefined) return start
    const control = controlOf({ limits, signal }, this.#parts.monotonic)
    const which = languageOf(source, language ?? 'auto', fileName)
    const isJavaScript =
      which === 'js' || (which === 'unsure' && (await this.#parses(domain, source, 'auto', control)))
    if (isJavaScript && !DECLARES.test(source)) return { ...start, form: 'script' }
    const task = isJavaScript ? 'turn-js' : 'turn-ts'
    const written = await this.#readOnce(domain, source, control, task)
    const prepared = preparedOf(written, start.fileName, limits)
    if ('ended' in prepared) return { ...start, form: 'script', ended: prepared.ended }
    const { code, places } = prepared
    const digest = sha256(new TextEncoder().encode(source))
    const by = `sha256:${TYPESCRIPT_MANIFEST.sha256}`
    const spoken = isJavaScript ? 'js' : 'ts'
    return { ...start, form: 'script', source: code, written: { language: spoken, digest, by, places } }
  }

  async #readOnce(
    domain: string,
    source: string,
    control: TurnControl,
    task: 'turn-js' | 'turn-ts',
  ): Promise<Transpilation> {
    const key = `${task}\n${source}`
    const { transpiled } = this.#known.get(domain, key)
    if (transpiled !== undefined) return transpiled
    const read = await this.#read(source, domain, control, task)
    if (isFinal(read)) this.#known.learn(domain, key, { transpiled: read })
    return read
  }

  /** Whether the engine takes a source as JavaScript; true where the time did not suffice to tell. */
  async #parses(domain: string, source: string, form: ProgramForm, control: TurnControl): Promise<boolean> {
    const known = this.#known.get(domain, source).isJavaScript
    if (known !== undefined) return known
    // Turns start from a shallow stack, and so does this.
    await Promise.resolve()
    const { pool } = this.#parts.machines.scout({ domain })
    const isJavaScript = parsesAsJavaScript(pool, source, form, control)
    if (isJavaScript !== undefined) this.#known.learn(domain, source, { isJavaScript })
    return isJavaScript ?? true
  }

  /** For the modules of a program, which end it where nothing can be made of one. */
  prepareFor(whose: Whose): PrepareSource {
    return async ({ name, source }) => {
      const prepared = await this.prepare({ source, fileName: name }, whose)
      if ('code' in prepared) return prepared.places.length === 0 ? { code: prepared.code } : prepared
      const { ended } = prepared
      return { problem: ended.status === 'failed' ? ended.error : { name: 'Error', message: ended.message } }
    }
  }

  close(): void {
    this.#known.clear()
    this.#transpiler?.close()
  }

  #read(source: string, domain: string, control: TurnControl, task?: TranspilerTask): Promise<Transpilation> {
    const { load, machines, monotonic } = this.#parts
    const { engine, base } = machines
    checkNativeStack(engine, base, TRANSPILER_STACK_BYTES)
    const { tools } = machines.scout({})
    this.#transpiler ??= new Transpiler({ engine, base, tools, load, monotonic })
    return this.#transpiler.transpile(source, domain, control, task)
  }
}

function controlOf({ limits, signal }: Whose, monotonic: () => number): TurnControl {
  const deadline = monotonic() + limits.wallMs
  return signal === undefined ? { deadline } : { deadline, aborted: () => signal.aborted }
}

/** Whether reading the source again would end the same. */
function isFinal(transpiled: Transpilation): boolean {
  if (transpiled.status === 'aborted') return false
  return transpiled.status !== 'exhausted' || transpiled.limit !== 'wall'
}

function preparedOf(transpiled: Transpilation, file: string, limits: Limits): Prepared {
  switch (transpiled.status) {
    case 'done':
      return { code: transpiled.code, places: transpiled.places, language: 'ts' }
    case 'refused': {
      const { line, column } = transpiled.place
      return failed({
        name: 'SyntaxError',
        message: transpiled.message,
        stack: `    at ${file}:${line}:${column}`,
        position: { file, line, column },
      })
    }
    case 'exhausted':
      if (transpiled.limit === 'wall') return { ended: exhausted('wall', limits) }
      return failed({
        name: 'SyntaxError',
        message: `${transpiled.message} Write it simpler, or in JavaScript.`,
      })
    case 'aborted':
      return failed({ name: 'AbortError', code: 'aborted', message: 'The run was aborted.' })
  }
}

function failed(error: GuestError): Prepared {
  return { ended: { status: 'failed', error } }
}
