/**
 * Turns TypeScript into JavaScript in a guest: what reads hostile text is itself not trusted, and is stopped by fuel,
 * memory and depth like any guest. (sucrase's parser takes minutes for some texts of a few hundred characters.)
 *
 * The script is evaluated once in each thread; the memory that it leaves is kept, and put into an instance for each
 * source.
 *
 * Invariants
 * 1. An instance that has read a source is overwritten in every byte, or thrown away where it grew or gave no result:
 *    nothing of a source is there for the next. It never serves two trust domains.
 * 2. The reading guest has no capability, no clock and no randomness: equal sources give equal results, and equal fuel.
 * 3. Nothing is evaluated of what it gives back here: the host takes text and numbers.
 */

import { toHex } from '../base/bytes.ts'
import { CaissonError } from '../base/errors.ts'
import type { TurnControl } from '../machine/turn.ts'
import type { PageTools } from '../ports/page-tools.ts'
import type { TypeScriptSource } from '../ports/typescript-source.ts'
import type { Places } from '../program/original-place.ts'
import { placeOfIndex, type SourcePlace } from '../program/source-place.ts'
import { PAGE_BYTES, type PageTree } from '../snapshot/page-tree.ts'
import type { BaseImage } from './base-image.ts'
import { HeapReader } from './bridge/heap-reader.ts'
import { ValueWriter } from './bridge/value-writer.ts'
import type { Engine } from './engine.ts'
import { EngineInstance, type InstanceHandlers } from './engine-instance.ts'
import { memoryChanges } from './memory-image.ts'
import { TYPESCRIPT_MANIFEST } from './typescript-manifest.ts'

const PAGE = 65_536

/** The script is ours; bounded all the same. */
const LOAD_FUEL = 2_000_000_000

/**
 * A usual program takes about a tenth of this for each of its characters (bench: guest). Fuel, and not time, decides:
 * the same source ends alike everywhere.
 */
const FUEL_PER_CHARACTER = 200_000
const LEAST_FUEL = 100_000_000
const MOST_FUEL = 20_000_000_000

/** Of the reading guest. Tokens of a source of a megabyte take most of it. */
const MEMORY_BYTES = 192 * 1024 * 1024
/** Depth that it may have, in metered bytes: as much as guests have by default. */
export const TRANSPILER_STACK_BYTES = 786_432

/** Characters beyond which nothing is read: no limit of the guest would be reached before the host's patience. */
const MOST_CHARACTERS = 4_000_000

/** Bounds on what it gives back: the code is somewhat longer than the source, the places are one block of bytes. */
const RESULT_LIMITS = { bytes: 64 * 1024 * 1024, nodes: 16, depth: 2 }

/** A program in TypeScript, or a turn of a session in one of the two languages. */
export type TranspilerTask = 'program' | 'turn-ts' | 'turn-js'

export type Transpilation =
  | { readonly status: 'done'; readonly code: string; readonly places: Places }
  /** No TypeScript, or some that has no counterpart: why, and where. */
  | { readonly status: 'refused'; readonly message: string; readonly place: SourcePlace }
  | {
      readonly status: 'exhausted'
      readonly limit: 'fuel' | 'memory' | 'stack' | 'wall'
      readonly message: string
    }
  | { readonly status: 'aborted' }

export interface TranspilerOptions {
  readonly engine: Engine
  readonly base: BaseImage
  readonly tools: PageTools
  /** Left out where the platform has none. */
  readonly load: TypeScriptSource | undefined
  readonly monotonic: () => number
}

/** The transpiler in the memory of a guest that has read nothing yet. */
interface LoadedScript {
  readonly memoryBytes: number
  /** That memory up to its last page that is not zeros. */
  readonly image: Uint8Array
  /** Cell of its function. */
  readonly transpile: number
}

/** An instance that holds the image, and whom it last worked for. */
interface IdleInstance {
  readonly domain: string
  readonly instance: EngineInstance
}

const NO_HANDLERS: InstanceHandlers = { call: () => 0, readClock: () => 0, promiseRejection: () => {} }

const loaded = new WeakMap<BaseImage, Promise<LoadedScript>>()

export class Transpiler {
  readonly #options: TranspilerOptions
  /** Made anew, it takes as long as reading twenty lines. */
  #idle: IdleInstance | undefined

  constructor(options: TranspilerOptions) {
    this.#options = options
  }

  /** Gives the memory of an idle instance back. */
  close(): void {
    this.#idle = undefined
  }

  /**
   * @param domain whose source it is
   * @param control when to give up before the fuel is used up
   * @throws CaissonError `unsupported`, `engine_mismatch`
   */
  async transpile(
    source: string,
    domain: string,
    control: TurnControl,
    task: TranspilerTask = 'program',
  ): Promise<Transpilation> {
    if (source.length > MOST_CHARACTERS) {
      return exhausted('memory', `more than the ${MOST_CHARACTERS} characters that are read`)
    }
    return this.#read(await this.#loaded(), source, domain, control, task)
  }

  #loaded(): Promise<LoadedScript> {
    const { base } = this.#options
    let script = loaded.get(base)
    if (script === undefined) {
      script = this.#load()
      loaded.set(base, script)
      // A failure is tried again: a page may have been offline.
      script.catch(() => loaded.delete(base))
    }
    return script
  }

  async #load(): Promise<LoadedScript> {
    const { engine, base, tools, load } = this.#options
    if (load === undefined) {
      throw new CaissonError('unsupported', 'This platform brings no transpiler: give guests JavaScript.')
    }
    const script = await load()
    const digest = toHex(tools.sha256(new TextEncoder().encode(script)))
    if (digest !== TYPESCRIPT_MANIFEST.sha256) {
      throw new CaissonError(
        'engine_mismatch',
        'The transpiler is not the one that this version was built with. Deploy it and the code together.',
      )
    }
    const instance = this.#instance(() => 0)
    instance.gauge.reset(LOAD_FUEL)
    instance.gauge.begin(TRANSPILER_STACK_BYTES, Number.POSITIVE_INFINITY, undefined)
    const code = instance.allocateText(script)
    const file = instance.allocateText('caisson:typescript')
    const { context } = base.guest
    const transpile = instance.exports.QTS_Eval(context, code.pointer, code.bytes, file.pointer, 0, 0)
    instance.exports.free(code.pointer)
    instance.exports.free(file.pointer)
    instance.gauge.end()
    if (
      !new HeapReader({ memory: instance.memory, runtimePointer: base.guest.runtime }).isFunction(transpile)
    ) {
      throw new CaissonError('engine_mismatch', `Engine ${engine.id} cannot run the transpiler.`)
    }
    const pages = base.pages.with(memoryChanges(instance, base.pages, tools.samePage))
    return { memoryBytes: instance.size, image: imageOf(pages), transpile }
  }

  #instance(monotonic: () => number): EngineInstance {
    const { engine, base } = this.#options
    const instance = new EngineInstance(engine, MEMORY_BYTES / PAGE, monotonic)
    base.restore(instance)
    instance.serve(NO_HANDLERS, MEMORY_BYTES)
    return instance
  }

  #take({ memoryBytes, image }: LoadedScript, domain: string): EngineInstance {
    const idle = this.#idle
    this.#idle = undefined
    if (idle?.domain === domain) return idle.instance
    const instance = this.#instance(this.#options.monotonic)
    instance.growTo(memoryBytes)
    overwrite(instance, image)
    return instance
  }

  #read(
    script: LoadedScript,
    source: string,
    domain: string,
    control: TurnControl,
    task: TranspilerTask,
  ): Transpilation {
    const instance = this.#take(script, domain)
    const read = this.#readIn(instance, script.transpile, source, control, task)
    // What trapped is among the others.
    if (read.status === 'done' && instance.fault === undefined && instance.size === script.memoryBytes) {
      overwrite(instance, script.image)
      this.#idle = { domain, instance }
    }
    return read
  }

  #readIn(
    instance: EngineInstance,
    transpile: number,
    source: string,
    control: TurnControl,
    task: TranspilerTask,
  ): Transpilation {
    const { guest } = this.#options.base
    const { gauge, exports } = instance
    gauge.reset(Math.min(MOST_FUEL, LEAST_FUEL + FUEL_PER_CHARACTER * source.length))
    gauge.begin(TRANSPILER_STACK_BYTES, control.deadline, control.aborted)
    try {
      const writer = new ValueWriter(instance, guest)
      const given = [source, task].map((argument) => writer.write(argument, RESULT_LIMITS, 'source'))
      given.forEach((cell, i) => {
        instance.words[(guest.scratch >>> 2) + i] = cell
      })
      const cell = exports.QTS_Call(guest.context, transpile, guest.undefined, given.length, guest.scratch)
      const reader = new HeapReader({ memory: instance.memory, runtimePointer: guest.runtime })
      const thrown = exports.QTS_ResolveException(guest.context, cell)
      gauge.end()
      if (gauge.stopReason !== undefined) return stopped(gauge.stopReason)
      if (thrown !== 0) return failed(reader.readError(thrown).message)
      return resultOf(reader.read(cell, RESULT_LIMITS, 'result'), source)
    } catch (error) {
      gauge.end()
      if (gauge.stopReason !== undefined) return stopped(gauge.stopReason)
      if (error instanceof WebAssembly.RuntimeError || CaissonError.is(error)) return failed(error.message)
      throw new CaissonError('native_stack_low', "The host's own stack ran out while TypeScript was read.", {
        cause: error,
      })
    }
  }
}

/** What of a memory is not zeros, in one piece. */
function imageOf(pages: PageTree): Uint8Array {
  const image = new Uint8Array(pages.end * PAGE_BYTES)
  for (const [index, page] of pages.pages()) image.set(page, index * PAGE_BYTES)
  return image
}

/** Every byte, the stack included, which is zeros in the image. */
function overwrite(instance: EngineInstance, image: Uint8Array): void {
  instance.bytes.set(image)
  instance.bytes.fill(0, image.length)
  instance.resetStack()
}

function stopped(reason: string): Transpilation {
  switch (reason) {
    case 'aborted':
      return { status: 'aborted' }
    case 'wall':
      return exhausted('wall', 'more time than the guest may take')
    case 'memory':
      return exhausted('memory', `more than ${MEMORY_BYTES} bytes of memory`)
    case 'stack':
      return exhausted('stack', 'more stack than there is: it is nested too deep')
    default:
      return exhausted('fuel', 'more fuel than any usual program of its length')
  }
}

function exhausted(limit: 'fuel' | 'memory' | 'stack' | 'wall', what: string): Transpilation {
  return { status: 'exhausted', limit, message: `Reading the program as TypeScript took ${what}.` }
}

/** The transpiler broke down: on this source it will again. */
function failed(message: string): Transpilation {
  return {
    status: 'refused',
    message: `the program cannot be read as TypeScript (${message.slice(0, 200)})`,
    place: { line: 1, column: 1 },
  }
}

/** What the guest gave, taken for what it may be: anything. */
function resultOf(value: unknown, source: string): Transpilation {
  const { code, places, message, index } = (value ?? {}) as Readonly<Record<string, unknown>>
  if (typeof code === 'string' && places instanceof Int32Array) {
    return { status: 'done', code, places: Array.from(places) }
  }
  if (typeof message === 'string' && Number.isSafeInteger(index)) {
    const at = Math.min(Math.max(0, index as number), source.length)
    return { status: 'refused', message: message.slice(0, 1_000), place: placeOfIndex(source, at) }
  }
  return failed('it gave no result')
}
