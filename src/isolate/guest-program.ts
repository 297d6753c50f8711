/** One program inside a guest: how it is installed, begun, and followed to its end. */

import type { ModuleGraph } from '../machine/module-graph.ts'
import type { GuestCapability, GuestError, MachineStart, TurnEnd } from '../machine/turn.ts'
import { type ProgramAttempt, programAttempts } from '../program/forms.ts'
import { originalError } from '../program/original-error.ts'
import type { Places } from '../program/original-place.ts'
import { locateError } from '../program/positions.ts'
import type { SourcePlace } from '../program/source-place.ts'
import { explainSyntaxError } from '../program/syntax-error.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import { frame, type GuestModules, START_MODULE } from './guest-modules.ts'
import { evaluateText, replaceProperty, setProperty } from './guest-properties.ts'
import { installCapabilities } from './install-capabilities.ts'
import type { PooledInstance } from './instance-pool.ts'
import { MODULE_LOADER } from './module-loader-layout.ts'

/** Flags of the engine's eval. */
const EVAL_MODULE = 1
const EVAL_COMPILE_ONLY = 1 << 5
const EVAL_ASYNC = 1 << 7

/**
 * A script without `await` needs no async function around it, which takes as long again as the smallest script.
 * An escape might spell the word; what only looks like it costs nothing but the time.
 */
const MAY_AWAIT = /await|\\/

const PENDING = 0
const FULFILLED = 1
const REJECTED = 2

type Stage = 'evaluating' | 'final'

const VALUE_LOST: GuestError = {
  name: 'TypeError',
  message:
    'The value of the program is lost: it cannot be handed over while Object.prototype has a "value" of its own.',
}

/** A program that waits, as plain data. Numbers are addresses in the guest. */
export interface ProgramState {
  readonly fileName: string
  readonly form: ProgramAttempt['form']
  readonly columnShift: number
  /** Of the files whose code comes from something else that their authors wrote. */
  readonly places: readonly (readonly [file: string, places: Places])[]
  readonly stage: Stage
  readonly promise: number
  /** The cell of its value; 0 before there is one. */
  readonly result: number
  readonly input: number
  readonly own: readonly number[]
}

type ProgramStart = Pick<
  MachineStart,
  'source' | 'form' | 'input' | 'modules' | 'written' | 'ended' | 'after' | 'keep'
>

export class GuestProgram {
  /** Canonical size of the result; 0 before there is one. */
  resultBytes = 0
  /** What its modules threw while they were evaluated, as the value in the guest. */
  endReason: bigint | undefined
  readonly #pooled: PooledInstance
  readonly #fileName: string
  readonly #modules: GuestModules
  #attempt: Omit<ProgramAttempt, 'code'> | undefined
  #promise = 0
  /** The cell of its value. It is read when nothing is waited for any more: what it holds may change until then. */
  #result = 0
  /** What a script evaluated to at once: looked at when the jobs that it left have run. */
  #evaluatedCell = 0
  #stage: Stage = 'evaluating'
  /** Whether the guest outlives it. */
  #inSession = false
  #input = 0
  #end: TurnEnd | undefined
  readonly #own: number[] = []

  constructor(pooled: PooledInstance, fileName: string, modules: GuestModules) {
    this.#pooled = pooled
    this.#fileName = fileName
    this.#modules = modules
  }

  /** A program that waited when it was captured. */
  static fromState(pooled: PooledInstance, state: ProgramState, modules: GuestModules): GuestProgram {
    const program = new GuestProgram(pooled, state.fileName, modules)
    program.#attempt = { form: state.form, columnShift: state.columnShift }
    for (const [file, places] of state.places) modules.places.set(file, places)
    program.#stage = state.stage
    program.#promise = state.promise
    program.#result = state.result
    program.#input = state.input
    program.#own.push(...state.own)
    return program
  }

  /** Of a program that waits. */
  state(): ProgramState {
    return {
      fileName: this.#fileName,
      form: this.#attempt?.form ?? 'script',
      columnShift: this.#attempt?.columnShift ?? 0,
      places: [...this.#modules.places],
      stage: this.#stage,
      promise: this.#promise,
      result: this.#result,
      input: this.#input,
      own: [...this.#own],
    }
  }

  /** Whether its value is there. */
  get ready(): boolean {
    return this.#result !== 0
  }

  /** Addresses of the promises that stand for the program itself. */
  get ownPromises(): readonly number[] {
    return this.#own
  }

  /** Puts the granted capabilities on their namespaces. `functionFor` gives an owned cell. */
  install(
    capabilities: readonly GuestCapability[],
    functionFor: (name: string, index: number) => number,
  ): void {
    if (capabilities.length > 0) installCapabilities(this.#pooled, capabilities, functionFor)
  }

  /** Starts the program. Returns the bytes that its input and its modules took. */
  begin(start: ProgramStart): number {
    const { source, form, input, modules, written, ended } = start
    this.#inSession = start.keep === true
    const { writer, guest, instance } = this.#pooled
    const { words } = instance
    words[(guest.runtime + MODULE_LOADER.normalizeField) >>> 2] = MODULE_LOADER.normalizeSlot
    words[(guest.runtime + MODULE_LOADER.loadField) >>> 2] = MODULE_LOADER.loadSlot
    this.#input = guest.undefined
    this.#modules.place(this.#fileName, written?.places)
    this.#end = ended ?? (modules?.problem && { status: 'failed', error: modules.problem })
    if (this.#end !== undefined) return 0
    let bytes = modules?.files.reduce((sum, { code }) => sum + code.length, 0) ?? 0
    if (input !== undefined) {
      this.#input = writer.write(input, DEFAULT_VALUE_LIMITS, 'input')
      bytes += writer.lastBytes
    }
    // What an earlier program was given is not this one's, and a setter that it left is not asked.
    if (start.after !== undefined) replaceProperty(this.#pooled, guest.global, 'input', this.#input)
    else if (input !== undefined || this.#inSession) {
      setProperty(this.#pooled, guest.global, 'input', this.#input)
    }
    const attempts = programAttempts(source, form)
    for (const [i, attempt] of attempts.entries()) {
      if (this.#promise !== 0 || this.#evaluatedCell !== 0 || this.ready || this.#end !== undefined) break
      this.#try(attempt, source, i === attempts.length - 1, modules)
    }
    return bytes
  }

  /** Runs what is ready; how the program failed, or undefined while it waits or has its value. */
  proceed(): TurnEnd | undefined {
    this.#runJobs()
    if (this.#evaluatedCell !== 0) {
      const cell = this.#evaluatedCell
      this.#evaluatedCell = 0
      this.#evaluated(cell)
      this.#runJobs()
    }
    while (this.#end === undefined && this.#promise !== 0 && !this.ready) {
      const state = this.#pooled.instance.exports.QTS_PromiseState(this.#pooled.guest.context, this.#promise)
      if (state === PENDING) break
      const result = this.#pooled.instance.exports.QTS_PromiseResult(
        this.#pooled.guest.context,
        this.#promise,
      )
      if (state === REJECTED) this.#fail(result)
      else if (state === FULFILLED) this.#fulfilled(result)
      this.#runJobs()
    }
    return this.#end
  }

  /** Positions of an error in terms of the author's source. */
  locate(error: GuestError): GuestError {
    return this.#original(this.#inCode(error))
  }

  /** A place in the author's code as a frame of the engine's. */
  frameAt(file: string, { line, column }: SourcePlace): string {
    const shift = file === this.#fileName && line === 1 ? (this.#attempt?.columnShift ?? 0) : 0
    return frame(file, { line, column: column + shift })
  }

  /** In terms of the code without what was put around it. */
  #inCode(error: GuestError): GuestError {
    return locateError(error, { fileName: this.#fileName, columns: this.#attempt?.columnShift ?? 0 })
  }

  #original(error: GuestError): GuestError {
    const { places } = this.#modules
    return places.size === 0 ? error : originalError(error, (file) => places.get(file))
  }

  #try(attempt: ProgramAttempt, source: string, last: boolean, modules: ModuleGraph | undefined): void {
    const { reader } = this.#pooled
    if (attempt.provided !== undefined && !this.#parses(attempt.provided)) return
    this.#attempt = attempt
    if (attempt.form !== 'module') this.#modules.run(this.#fileName, attempt.code)
    // Where another form may follow, only a promise tells a SyntaxError that the script throws from one of its own.
    const atOnce = attempt.form !== 'module' && last && !MAY_AWAIT.test(attempt.code)
    const flags = attempt.form === 'module' ? EVAL_MODULE : atOnce ? 0 : EVAL_ASYNC
    const cell =
      attempt.form === 'module' && modules !== undefined
        ? this.#evaluate(
            this.#modules.begin({ name: this.#fileName, code: attempt.code }, modules),
            flags,
            START_MODULE,
          )
        : this.#evaluate(attempt.code, flags)
    const thrown = this.#pooled.exceptionOf(cell)
    if (thrown !== 0) {
      const error = reader.readError(thrown)
      if (attempt.form === 'module') this.endReason = this.#pooled.bitsOf(thrown)
      // A module that throws while it is evaluated also ends here; only a parse error leads to the next form.
      this.#pooled.free(cell, thrown)
      if (!last && error.name === 'SyntaxError') return
      const linked = this.#modules.placed(error)
      const located = this.#inCode(linked)
      const file = located.position?.file
      const text = file === this.#fileName ? source : modules?.files.find(({ name }) => name === file)?.code
      const explained =
        text === undefined || linked !== error
          ? located
          : explainSyntaxError(located, text, attempt.form, (code) => this.#parses(code))
      this.#end = { status: 'failed', error: this.#original(explained) }
      return
    }
    if (atOnce) this.#evaluatedCell = cell
    else this.#follow(cell, 'evaluating')
  }

  /** The cell of what `source` evaluates to, which the caller owns. */
  #evaluate(source: string, flags: number, fileName: string = this.#fileName): number {
    return evaluateText(this.#pooled, source, flags, fileName)
  }

  #parses(source: string): boolean {
    const cell = this.#evaluate(source, EVAL_COMPILE_ONLY)
    const thrown = this.#pooled.exceptionOf(cell)
    this.#pooled.free(cell, ...(thrown === 0 ? [] : [thrown]))
    return thrown === 0
  }

  /** From now on the program is what `cell` is: a promise to wait for, or the value itself. */
  #follow(cell: number, stage: Stage): void {
    const state = this.#pooled.instance.exports.QTS_PromiseState(this.#pooled.guest.context, cell)
    this.#stage = stage
    if (state >= PENDING && state <= REJECTED) {
      this.#promise = cell
      this.#own.push(this.#pooled.instance.words[cell >>> 2] ?? 0)
    } else this.#fulfilled(cell)
  }

  #fulfilled(cell: number): void {
    if (this.#stage === 'final') {
      this.#result = cell
      return
    }
    const value = this.#attempt?.form === 'module' ? this.#defaultExport(cell) : this.#ownValue(cell)
    this.#pooled.free(cell)
    if (value !== undefined) this.#evaluated(value)
  }

  /** What the engine put on an object of its own, by an assignment: an accessor that the guest inherits takes it away. */
  #ownValue(object: number): number | undefined {
    const { instance, guest, reader } = this.#pooled
    const value = reader.ownData(object, 'value')
    if (value !== 0) return instance.exports.QTS_DupValuePointer(guest.context, value)
    this.#end = { status: 'failed', error: VALUE_LOST }
    return undefined
  }

  /** The value of the program's source. A function is called with the input, but for one that a session looks at. */
  #evaluated(value: number): void {
    if (this.#inSession || !this.#pooled.reader.isFunction(value)) {
      this.#follow(value, 'final')
      return
    }
    const returned = this.#pooled.call(value, this.#input)
    const thrown = this.#pooled.exceptionOf(returned)
    if (thrown !== 0) this.#fail(thrown)
    else this.#follow(returned, 'final')
  }

  /** Its end, with the value that is there. */
  complete(): TurnEnd {
    const { reader } = this.#pooled
    try {
      const value = reader.read(this.#result, DEFAULT_VALUE_LIMITS, 'result')
      this.resultBytes = reader.lastBytes
      return { status: 'completed', value }
    } catch (error) {
      const refused = refusedResult(error)
      // What a turn did is not undone for a value that only the guest can hold.
      if (this.#inSession) return { status: 'completed', value: undefined, unread: refused.message }
      return { status: 'failed', error: refused }
    }
  }

  /** Gives back what it holds in the guest, which goes on without it. Ends it. */
  release(): void {
    if (this.#promise !== 0) this.#pooled.free(this.#promise)
    if (this.#result !== 0 && this.#result !== this.#promise) this.#pooled.free(this.#result)
    if (this.#input !== this.#pooled.guest.undefined) this.#pooled.free(this.#input)
    this.#promise = 0
    this.#result = 0
    this.#input = this.#pooled.guest.undefined
  }

  #fail(cell: number): void {
    const error = this.#modules.placed(this.#pooled.reader.readError(cell))
    this.#end = { status: 'failed', error: this.locate(error) }
  }

  #runJobs(): void {
    const { instance, guest } = this.#pooled
    while (instance.exports.QTS_IsJobPending(guest.runtime) !== 0) {
      const cell = instance.exports.QTS_ExecutePendingJob(guest.runtime, -1, guest.scratch)
      this.#pooled.free(cell)
    }
  }

  #defaultExport(namespace: number): number {
    const { instance, guest } = this.#pooled
    return instance.exports.QTS_GetProp(guest.context, namespace, guest.defaultName)
  }
}

function refusedResult(error: unknown): GuestError {
  if (error instanceof Error && 'code' in error && error.code !== 'corrupted') {
    return { name: 'TypeError', code: String(error.code), message: error.message }
  }
  throw error
}
