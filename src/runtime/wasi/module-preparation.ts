/**
 * Prepares modules and keeps them compiled: the same bytes are prepared once in a process, and, with a cache, once for
 * many.
 *
 * Invariants
 * 1. Large modules, and all that are made suspendable, are prepared in a Worker where there is one; elsewhere in pieces.
 * 2. What is kept is found by all that it depends on. What failed is not kept.
 * 3. Nothing but prepared bytes is ever compiled.
 */
import { digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { PreparedCore, SuspendingImport } from '../../component/core/core-manifest.ts'
import { inspectBinary } from '../../component/core/inspect-binary.ts'
import { prepareCached } from '../../component/core/prepare-cached.ts'
import { type PrepareCoreOptions, prepareCoreSteps } from '../../component/core/prepare-core.ts'
import { prepareCoreInWorker } from '../../component/core/prepare-in-worker.ts'
import { PreparedCache, type PreparedCacheOptions } from '../../component/core/prepared-cache.ts'
import {
  type ModuleCode,
  moduleCode,
  moduleEngine,
  suspendingImports,
} from '../../component/module/module-code.ts'
import { WASI_NAMESPACE } from '../../component/module/module-imports.ts'
import { parseModuleProgram } from '../../component/module/module-program.ts'
import { startFunctions } from '../../component/module/start-functions.ts'
import type { MachineStart } from '../../machine/turn.ts'
import type { CheckpointPorts } from '../../ports/checkpoint-ports.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import type { PageTools } from '../../ports/page-tools.ts'
import type { PreparedModule, PrepareModuleOptions } from './module-options.ts'
import { MOST_SUSPENDABLE } from './most-suspendable.ts'

/** Below, a Worker takes longer than the work. */
const SMALL: number = 256 * 1024
const PAGE = 65_536
/** Compiled modules that are kept. */
const KEEP = 8
/** How long the host's loop waits for a piece. */
const PIECE_MS = 10

const FIRST_READ: SuspendingImport = { module: WASI_NAMESPACE, name: 'fd_read' }
const NO_CALLS = { call: (): undefined => undefined }

interface ModulePreparationParts {
  readonly tools: ModuleTools
  readonly profile: PrepareCoreOptions['profile']
  readonly pageTools: PageTools
  readonly monotonic: () => number
  readonly checkpoints: CheckpointPorts | undefined
  /** Of what is prepared without a cache of its own. */
  readonly cache: PreparedCacheOptions | undefined
}

export class ModulePreparation {
  readonly #parts: ModulePreparationParts
  readonly #codes = new Map<string, Promise<ModuleCode>>()
  readonly #prepared = new WeakMap<PreparedModule, Promise<ModuleCode>>()

  constructor(parts: ModulePreparationParts) {
    this.#parts = parts
  }

  /** @throws CaissonError as `Runtime.runModule` says of the module */
  async code(
    given: Uint8Array | PreparedModule,
    memoryBytes: number,
    options: PrepareModuleOptions,
  ): Promise<ModuleCode> {
    if (!(given instanceof Uint8Array)) return this.#known(given)
    const bytes = new Uint8Array(given)
    const { sha256 } = this.#parts.pageTools
    // What came with a cache is found with its key alone: whoever has a key decides what is run where it is used.
    const trust = this.#cacheOf(options)?.keyName ?? ''
    const key = `${digestOf(sha256(bytes))} ${memoryBytes} ${options.suspendable ?? 'auto'} ${trust}`
    let code = this.#codes.get(key)
    if (code === undefined) {
      code = this.prepare(bytes, memoryBytes, options).then((prepared) => this.#compile(prepared))
      this.#keep(key, code)
    }
    return code
  }

  /** One that was prepared is compiled once, and goes when nobody has it any more. */
  #known(prepared: PreparedModule): Promise<ModuleCode> {
    const known = this.#prepared.get(prepared)
    if (known !== undefined) return known
    const code = this.#compile(prepared)
    code.catch(() => this.#prepared.delete(prepared))
    this.#prepared.set(prepared, code)
    return code
  }

  #keep(key: string, code: Promise<ModuleCode>): void {
    const forget = (): void => {
      if (this.#codes.get(key) === code) this.#codes.delete(key)
    }
    code.catch(forget)
    this.#codes.set(key, code)
    const [oldest] = this.#codes.keys()
    if (this.#codes.size > KEEP && oldest !== undefined) this.#codes.delete(oldest)
  }

  async prepare(
    given: Uint8Array,
    memoryBytes: number,
    options: PrepareModuleOptions,
  ): Promise<PreparedModule> {
    inspectBinary(given, 'module')
    const bytes = new Uint8Array(given)
    const suspends = this.#suspends(bytes, options.suspendable ?? 'auto')
    return this.#prepareTo({ suspends }, bytes, memoryBytes, options)
  }

  /** So that its start can be kept: suspendable where it reads standard input for the first time, and nowhere else. */
  async prepareWithStart(
    given: Uint8Array,
    { program, seed, limits, nowMs }: MachineStart,
    options: PrepareModuleOptions,
  ): Promise<PreparedModule> {
    inspectBinary(given, 'module')
    const bytes = new Uint8Array(given)
    if (this.#parts.tools.asyncify === undefined) throw withoutBinaryen()
    const { tools, pageTools, monotonic } = this.#parts
    const { memoryBytes } = limits
    const { core } = await this.#compile(await this.#prepareTo({ suspends: [] }, bytes, memoryBytes, options))
    const parts = { core, wasi: tools.wasi, syncCalls: NO_CALLS, monotonic, tools: pageTools }
    const start = { program: parseModuleProgram(program), seed, limits, nowMs, capabilities: [] }
    const unwinds = startFunctions(parts, start, monotonic() + limits.wallMs)
    return this.#prepareTo({ suspends: [FIRST_READ], unwinds }, bytes, memoryBytes, options)
  }

  async #prepareTo(
    to: Pick<PrepareCoreOptions, 'suspends' | 'unwinds'>,
    bytes: Uint8Array,
    memoryBytes: number,
    options: PrepareModuleOptions,
  ): Promise<PreparedModule> {
    const { tools, profile, pageTools } = this.#parts
    const version = tools.asyncifyVersion ?? 'none'
    const wanted = { profile, maxMemoryPages: Math.floor(memoryBytes / PAGE), ...to }
    const cache = this.#cacheOf(options)
    const { wasm, manifest: made } = await prepareCached(
      cache,
      bytes,
      { ...wanted, asyncify: { version } },
      (copy) => this.#prepare(copy, wanted, options),
    )
    const manifest = { ...made, ...(to.unwinds && { unwinds: to.unwinds }) }
    const engine = moduleEngine(digestOf(pageTools.sha256(bytes)), manifest, version, to.unwinds)
    return { kind: 'prepared-module', engine, manifest, wasm }
  }

  /** @throws CaissonError `invalid_argument` */
  #cacheOf({ cache = this.#parts.cache }: PrepareModuleOptions): PreparedCache | undefined {
    const { checkpoints } = this.#parts
    return cache && checkpoints && new PreparedCache(cache, checkpoints)
  }

  #suspends(bytes: Uint8Array, wanted: boolean | 'auto'): readonly SuspendingImport[] {
    if (wanted === false || (wanted === 'auto' && bytes.length > MOST_SUSPENDABLE)) return []
    const suspends = suspendingImports(bytes)
    if (suspends.length === 0 || this.#parts.tools.asyncify !== undefined) return suspends
    if (wanted === 'auto') return []
    throw withoutBinaryen()
  }

  async #prepare(
    bytes: Uint8Array,
    wanted: PrepareCoreOptions,
    { onProgress, signal }: PrepareModuleOptions,
  ): Promise<PreparedCore> {
    const { tools, monotonic } = this.#parts
    const suspends = (wanted.suspends ?? []).length > 0
    if (tools.openWorker !== undefined && (suspends || bytes.length > SMALL)) {
      return prepareCoreInWorker(bytes, {
        ...wanted,
        openWorker: tools.openWorker,
        ...(onProgress && { onProgress }),
        ...(signal && { signal }),
      })
    }
    const asyncify = suspends ? await tools.asyncify?.() : undefined
    const steps = prepareCoreSteps(bytes, { ...wanted, ...(asyncify && { asyncify }) })
    let breathedAt = monotonic()
    for (;;) {
      const step = steps.next()
      if (step.done === true) return step.value
      if (monotonic() - breathedAt < PIECE_MS) continue
      await new Promise((resolve) => setTimeout(resolve, 0))
      if (signal?.aborted === true)
        throw new CaissonError('aborted', 'The preparation of the module was aborted.')
      onProgress?.(step.value)
      breathedAt = monotonic()
    }
  }

  async #compile(prepared: PreparedModule): Promise<ModuleCode> {
    const { engine, manifest, wasm, module } = prepared
    return moduleCode(engine, { manifest }, module ?? (await compile(wasm)), this.#parts.pageTools.samePage)
  }
}

function withoutBinaryen(): CaissonError {
  return new CaissonError('unsupported', 'Suspending a module needs the package binaryen: install it.')
}

async function compile(wasm: Uint8Array): Promise<NonNullable<PreparedModule['module']>> {
  try {
    return await WebAssembly.compile(wasm as BufferSource)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.slice(0, 300) : 'unknown'
    throw new CaissonError('unsupported_feature', `This runtime cannot compile the module: ${message}`, {
      cause,
    })
  }
}
