/**
 * From the bytes of a component to what instances are made of: its definitions as data, and its core modules, checked,
 * capped, metered against one shared counter and compiled.
 *
 * No code is generated: what a component's types and imports mean is looked up while it is linked (`link/`). So there is
 * nothing that a page with a strict policy could refuse, and nothing of a component's that runs outside of its modules.
 *
 * Invariants
 * 1. Everything that can be refused is refused here, before anything runs: what is no component, what uses features that
 *    guests cannot have, modules that need more than the caps from the start.
 * 2. The work is bounded by the size of the input, goes in pieces that leave the host's loop its turns, and can be
 *    stopped between them.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { type GlobalType, type Module, parseModule } from '../wasm/binary.ts'
import type { MeterProfile } from '../wasm/meter-options.ts'
import { indexSpaces } from '../wasm/module.ts'
import { isReference } from '../wasm/value-type.ts'
import type { ComponentAst, ParsedComponent } from './binary/component-ast.ts'
import { readComponent } from './binary/read-component.ts'
import { type ComponentShape, describeComponent, type ImportedFunction } from './component-shape.ts'
import type { CoreManifest, PreparedCore, SuspendingImport } from './core/core-manifest.ts'
import { exportsOf, importsOf } from './core/describe-core.ts'
import { inspectBinary } from './core/inspect-binary.ts'
import { describeCoreOptions, type PrepareCoreOptions, prepareCoreSteps } from './core/prepare-core.ts'
import type { PreparedCache } from './core/prepared-cache.ts'
import type { LinkedCore } from './core/reentry.ts'
import { awaitsHttp, sendsHttp, waitsForHttp } from './http-calls.ts'

/** A core module that can be instantiated, and what its host goes by. */
export interface CompiledCore {
  readonly module: WebAssembly.Module
  readonly manifest: CoreManifest
}

export interface PreparedComponent {
  readonly parsed: ParsedComponent
  readonly shape: ComponentShape
  /** In the order of `ParsedComponent.modules`. */
  readonly cores: readonly CompiledCore[]
}

export interface PrepareOptions {
  readonly profile: MeterProfile
  /** No memory grows beyond this many pages of 64 KiB. */
  readonly maxMemoryPages: number
  /** Told how much is done, from 0 to 1. What it throws ends the work. */
  readonly onProgress?: (done: number) => void
  readonly signal?: AbortSignal
  /** Where the result is kept, and looked for first. */
  readonly cache?: PreparedCache | undefined
  /** Left out, its guests wait in no import. */
  readonly waits?: WaitOptions | undefined
  /** SHA-256 of the bytes, given with a copy that nobody else has: neither is made again. */
  readonly digest?: Digest | undefined
}

/** How a component is made suspendable in some of its imports. */
export interface WaitOptions {
  /** All that `isAwaited` depends on, and the tool that `prepare` uses. */
  readonly key: string
  /** Names that tool. */
  readonly tool: string
  isAwaited(wanted: Pick<ImportedFunction, 'interface' | 'name'>): boolean
  /** Whether it waits for answers of HTTP too, where it sends requests. */
  readonly awaitsHttp: boolean
  /** Prepares one core module, `options.suspends` included. */
  prepare(bytes: Uint8Array, options: Omit<PrepareCoreOptions, 'asyncify'>): Promise<PreparedCore>
}

/** What the modules of a component are prepared with, beside the options. */
const SHARED = { counters: 'shared' } as const

/** Raised when the same component is read otherwise (`ComponentAst`). */
const RULES = 2

/** Of a core module. */
const TAG_SECTION = 13

/** Milliseconds of work after which the host's loop gets a turn. */
const PIECE_MS = 8

/** @throws CaissonError `invalid_component`, `invalid_module`, `unsupported_feature`, `invalid_limit`, `aborted` */
export async function prepareComponent(
  bytes: Uint8Array,
  options: PrepareOptions,
  monotonic: () => number,
): Promise<PreparedComponent> {
  const { parsed, cores } = await meterComponent(bytes, options, monotonic)
  const compiled: CompiledCore[] = []
  for (const { wasm, manifest } of cores) compiled.push({ module: await compile(wasm), manifest })
  options.onProgress?.(1)
  return { parsed, shape: await describeComponent(parsed.root), cores: compiled }
}

interface MeteredComponent {
  readonly parsed: ParsedComponent
  readonly cores: readonly PreparedCore[]
}

/** As `prepareComponent`, without compiling: for who writes the modules somewhere. */
export async function meterComponent(
  given: Uint8Array,
  options: PrepareOptions,
  monotonic: () => number,
): Promise<MeteredComponent> {
  const { cache, profile, maxMemoryPages, digest } = options
  // Of a copy that nobody else has: the work leaves turns in which bytes could change that were checked before.
  // (`slice` of a Buffer would be a view.)
  const bytes = digest === undefined ? new Uint8Array(given) : given
  inspectBinary(bytes, 'component')
  if (cache === undefined) return meterNew(bytes, options, monotonic)
  let made: MeteredComponent | undefined
  const how = [
    'component',
    RULES,
    ...describeCoreOptions({ profile, maxMemoryPages, ...SHARED }),
    options.waits?.key ?? '',
  ]
  const { data, parts } = await cache.prepare({ bytes, digest, how }, async () => {
    made = await meterNew(bytes, options, monotonic)
    const { parsed, cores } = made
    return {
      data: { root: parsed.root, manifests: cores.map(({ manifest }) => manifest) },
      parts: cores.map(({ wasm }) => wasm),
    }
  })
  if (made !== undefined) return made
  const { root, manifests } = data as { root: ComponentAst; manifests: readonly CoreManifest[] }
  const cores = manifests.map((manifest, index) => ({ manifest, wasm: parts[index] as Uint8Array }))
  // The original modules served to make these, and are needed no more.
  return { parsed: { root, modules: [] }, cores }
}

async function meterNew(
  bytes: Uint8Array,
  options: PrepareOptions,
  monotonic: () => number,
): Promise<MeteredComponent> {
  const parsed = readComponent(bytes)
  const { waits } = options
  const at = waits === undefined ? [] : awaitedAmong(await describeComponent(parsed.root), waits)
  const total = parsed.modules.reduce((sum, module) => sum + module.length, 1)
  const { profile, maxMemoryPages } = options
  // What one throws and another catches passes through all between them, whatever these know of exceptions.
  const how = { profile, maxMemoryPages, ...SHARED, importsMayThrow: parsed.modules.some(definesTags) }
  const cores: PreparedCore[] = []
  let before = 0
  let since = monotonic()
  for (const module of parsed.modules) {
    const suspends = at.length === 0 ? [] : importedOf(parseModule(module).imports, at)
    if (waits !== undefined && suspends.length > 0) {
      cores.push(await waits.prepare(module, { ...how, suspends }))
      before += module.length
      continue
    }
    const steps = prepareCoreSteps(module, how)
    for (let step = steps.next(); ; step = steps.next()) {
      if (step.done === true) {
        cores.push(step.value)
        break
      }
      if (monotonic() - since < PIECE_MS) continue
      options.onProgress?.((before + step.value * module.length) / total)
      await turnOfTheHost()
      if (options.signal?.aborted === true)
        throw new CaissonError('aborted', 'Preparing the component was stopped.')
      since = monotonic()
    }
    before += module.length
  }
  return { parsed, cores }
}

/** Where guests would wait, of bytes that nobody has looked at. @throws CaissonError as `prepareComponent` */
export async function awaitedImportsOf(
  given: Uint8Array,
  waits: WaitOptions,
): Promise<readonly SuspendingImport[]> {
  return (await lookAhead(given, waits)).cores.flatMap(({ suspends }) => suspends)
}

/** A component as it would be prepared, as far as waiting has to know of it. */
export interface LookedAt {
  readonly root: ComponentAst
  readonly shape: ComponentShape
  readonly cores: readonly LinkedCore[]
}

/** @throws CaissonError as `prepareComponent` */
export async function lookAhead(given: Uint8Array, waits: WaitOptions): Promise<LookedAt> {
  const bytes = new Uint8Array(given)
  inspectBinary(bytes, 'component')
  const { root, modules } = readComponent(bytes)
  const shape = await describeComponent(root)
  const at = awaitedAmong(shape, waits)
  const cores = modules.map((module) => {
    const parsed = parseModule(module)
    return {
      imports: importsOf(parsed),
      exports: exportsOf(parsed),
      suspends: at.length === 0 ? [] : importedOf(parsed.imports, at),
      functions: parsed.functions.length,
      sharesReferences: sharesReferences(parsed),
    }
  })
  return { root, shape, cores }
}

function sharesReferences(module: Module): boolean {
  const { globals } = indexSpaces(module)
  const holds = (index: number): boolean => isReference((globals[index] as GlobalType).value)
  return (
    module.imports.some(({ desc }) => desc.kind === 'global' && isReference(desc.global.value)) ||
    module.exports.some(({ kind, index }) => kind === 'global' && holds(index))
  )
}

/** What of the component's imports its guests wait in, as core modules name it. */
function awaitedAmong({ imports }: ComponentShape, waits: WaitOptions): readonly SuspendingImport[] {
  const isSender = waits.awaitsHttp && imports.some(sendsHttp)
  return imports
    .filter((one) => waits.isAwaited(one) || (isSender && awaitsHttp(one)))
    .map(({ interface: module, name }) => ({ module, name }))
}

/** Whether exceptions can come from it: there are none but of tags that a module defines. */
function definesTags(bytes: Uint8Array): boolean {
  return inspectBinary(bytes, 'module').sections.some(({ id }) => id === TAG_SECTION)
}

/** Those of them that a core module imports under their own names: it calls them itself, or through a module of jumps. */
function importedOf(
  imports: Module['imports'],
  at: readonly SuspendingImport[],
): readonly SuspendingImport[] {
  return at.filter(
    ({ module, name }) =>
      imports.some((one) => one.desc.kind === 'function' && one.module === module && one.name === name) &&
      waitsForHttp(imports, { module, name }),
  )
}

/** @throws CaissonError `invalid_module` */
export async function compile(wasm: Uint8Array): Promise<WebAssembly.Module> {
  try {
    return await WebAssembly.compile(wasm as Uint8Array<ArrayBuffer>)
  } catch (cause) {
    throw new CaissonError(
      'invalid_module',
      `The engine refuses a core module of the component: ${messageOf(cause)}`,
      {
        cause,
      },
    )
  }
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message.slice(0, 300) : 'unknown reason'
}

function turnOfTheHost(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, 0)
  })
}
