/**
 * A component as it is wanted: named by all that its guests can observe, and prepared once its limits are known.
 *
 * Invariants
 * 1. Its engine id names its bytes, and, of one that is unwound where it waits, those places and the tool that unwinds it.
 * 2. What cannot wait where it has to, in the way that is wanted, is refused by name before anything of it runs.
 * 3. What is prepared are the bytes that its digest was taken of: a copy of them, or, where they were prepared before, none
 *    is needed.
 */
import { CaissonError } from '../../base/errors.ts'
import type { GuestCapability } from '../../capability/call.ts'
import type { Capability } from '../../capability/capability.ts'
import type { CapabilityTable } from '../../capability/capability-table.ts'
import { inputJsonSchemaOf, type JsonSchema, outputJsonSchemaOf } from '../../capability/json-schema.ts'
import type { CapabilitySchemas } from '../../component/capability-calls.ts'
import { waitProblem } from '../../component/check-waits.ts'
import { componentEngine } from '../../component/component-engine.ts'
import type { SuspendingImport } from '../../component/core/core-manifest.ts'
import { prepareCore } from '../../component/core/prepare-core.ts'
import { prepareCoreInWorker } from '../../component/core/prepare-in-worker.ts'
import { PreparedCache } from '../../component/core/prepared-cache.ts'
import { stackSwitching } from '../../component/core/stack-switching.ts'
import { loadPrebuilt, suspendedAt } from '../../component/prebuilt.ts'
import type { PrebuiltComponent } from '../../component/prebuilt-manifest.ts'
import {
  awaitedImportsOf,
  lookAhead,
  type PreparedComponent,
  prepareComponent,
  type WaitOptions,
} from '../../component/prepare-component.ts'
import { framesBetween, unwindProblem } from '../../component/unwinding.ts'
import { waitOptions } from '../../component/wait-options.ts'
import type { Limits } from '../../machine/limits.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import type { RuntimeOptions } from '../options.ts'
import type { Platform } from '../platform.ts'
import { MOST_SUSPENDABLE } from '../wasi/most-suspendable.ts'
import { type ComponentBytes, componentBytes } from './component-bytes.ts'
import type { OpenComponentOptions, Suspension } from './component-options.ts'
import { type KeptComponents, PreparedComponents } from './prepared-components.ts'

/** What preparing takes. */
export interface ComponentCodeParts {
  /** How the engine of this platform is metered. */
  readonly profile: 'v8' | 'portable'
  readonly platform: Platform
  readonly options: RuntimeOptions
  readonly table: CapabilityTable
}

export interface ComponentCode {
  /** What a capture can be restored on, unless it is said with what was prepared. */
  readonly engine: string
  readonly modules: ModuleTools | undefined
  readonly schemas: (capability: string) => CapabilitySchemas
  /** @throws CaissonError `unsupported`, and what `prepareComponent` says */
  prepare(limits: Pick<Limits, 'memoryBytes'>): Promise<WaitingComponent>
}

/** A component, and how it waits where it was not prepared to leave its stack. */
export interface WaitingComponent {
  readonly engine: string
  readonly prepared: PreparedComponent
  readonly waitsBy: 'held' | 'reexecute' | undefined
}

interface Preparing extends Pick<OpenComponentOptions, 'cache' | 'signal' | 'onProgress'> {
  /** Default `asyncify`. `auto`: as it can. */
  readonly suspension?: Suspension | 'auto' | undefined
}

/** Why a component does not wait, and what to do. */
const NO_TOOL =
  'Here is no tool that makes it wait: install the package binaryen, or open what `caisson build --suspend NAME` wrote. A capability with `sync` needs no waiting.'
const NOT_BUILT_FOR_IT =
  'It was built without: `caisson build --suspend NAME`, with the name of each. A capability with `sync` needs no waiting.'
const OTHER_WAYS =
  'It waits with `suspension: "jspi"`, where the engine has that; `runComponent` finds a way by itself where `suspension` is left out.'

const PAGE = 65_536

/** @param capabilities that it is granted @param held what was prepared before */
export async function componentCode(
  parts: ComponentCodeParts,
  source: Uint8Array | PrebuiltComponent,
  capabilities: readonly GuestCapability[],
  options: Preparing,
  held: KeptComponents,
): Promise<ComponentCode> {
  held.prepared ??= new PreparedComponents()
  const kept = held.prepared
  const { sha256 } = parts.platform.pageTools ?? neutralPageTools
  // Before anybody else has a turn.
  const given =
    source instanceof Uint8Array ? componentBytes(source, sha256, (digest) => kept.knows(digest)) : undefined
  const modules = await parts.platform.modules?.()
  const { suspension = 'asyncify' } = options
  const isSmall = !(source instanceof Uint8Array) || source.length <= MOST_SUSPENDABLE
  const unwinds = suspension === 'asyncify' || (suspension === 'auto' && isSmall)
  const waits = unwinds ? waitsOf(capabilities, modules, options) : undefined
  const codeOf = async (how: WaitOptions | undefined): Promise<NamedCode> =>
    given === undefined
      ? codeOfBuilt(source as PrebuiltComponent)
      : codeOfBytes(parts, given, how, options, kept)
  const code = await codeOf(waits)
  const { engine } = code
  return {
    engine,
    modules,
    schemas: (capability) => schemasOf(parts.table.find(capability)),
    prepare: async ({ memoryBytes }) => {
      if (suspension === 'auto') {
        const unwound =
          given && waits && (await unwoundCode(code, given, waits, capabilities, kept, memoryBytes))
        return unwound ?? otherwise(await codeOf(undefined), capabilities, memoryBytes)
      }
      const prepared = await code.prepare(memoryBytes)
      if (suspension !== 'asyncify') return { engine, prepared, waitsBy: waitsBy(suspension) }
      const why = given === undefined ? NOT_BUILT_FOR_IT : waits === undefined ? NO_TOOL : undefined
      const problem = waitProblem(prepared, capabilities, why) ?? (await unwindProblem(prepared))
      if (problem === undefined) return { engine, prepared, waitsBy: undefined }
      throw new CaissonError(problem.code, `${problem.message} ${OTHER_WAYS}`, { details: problem.details })
    },
  }
}

/** Undefined where it cannot leave its stack wherever it waits. */
async function unwoundCode(
  code: NamedCode,
  given: ComponentBytes,
  waits: WaitOptions,
  capabilities: readonly GuestCapability[],
  kept: PreparedComponents,
  memoryBytes: number,
): Promise<WaitingComponent | undefined> {
  const { engine } = code
  const key = `${given.digest}\n${waits.key}`
  if (kept.fits(key) === false) return undefined
  try {
    // Before minutes are spent on what cannot be used.
    const fits = kept.fits(key) ?? (await canBeUnwound(given.copy(), waits, capabilities))
    kept.setFits(key, fits)
    return fits ? { engine, prepared: await code.prepare(memoryBytes), waitsBy: undefined } : undefined
  } catch (error) {
    // Whatever else is wrong with it is wrong with it otherwise, too.
    if (!CaissonError.is(error) || !UNFIT.has(error.code)) throw error
    kept.setFits(key, false)
    return undefined
  }
}

async function canBeUnwound(
  bytes: Uint8Array,
  waits: WaitOptions,
  capabilities: readonly GuestCapability[],
): Promise<boolean> {
  const { root, shape, cores } = await lookAhead(bytes, waits)
  const component = { shape, cores: cores.map((manifest) => ({ manifest })) }
  if (waitProblem(component, capabilities) !== undefined) return false
  if (!cores.some(({ suspends }) => suspends.length > 0)) return true
  const { problem, isNested } = await framesBetween(root, cores)
  return problem === undefined && !isNested
}

/** What making a module suspendable is refused with. */
const UNFIT: ReadonlySet<string> = new Set(['unsupported', 'unsupported_feature', 'invalid_module'])

async function otherwise(
  { engine, prepare }: NamedCode,
  capabilities: readonly GuestCapability[],
  memoryBytes: number,
): Promise<WaitingComponent> {
  const prepared = await prepare(memoryBytes)
  const problem = waitProblem(prepared, capabilities) ?? (await unwindProblem(prepared))
  if (problem === undefined) return { engine, prepared, waitsBy: undefined }
  if (stackSwitching() === undefined) return { engine, prepared, waitsBy: 'reexecute' }
  const manifests = prepared.cores.map(({ manifest }) => manifest)
  const { isNested } = await framesBetween(prepared.parsed.root, manifests)
  return { engine, prepared, waitsBy: isNested ? 'reexecute' : 'held' }
}

/** @throws CaissonError `unsupported` */
function waitsBy(suspension: 'jspi' | 'reexecute'): 'held' | 'reexecute' {
  if (suspension === 'reexecute') return suspension
  if (stackSwitching() !== undefined) return 'held'
  throw new CaissonError(
    'unsupported',
    'This engine holds no stacks (JSPI): Node 25 does, Node 24 with --experimental-wasm-jspi, and so do Bun, Deno and Chromium. `runComponent` finds another way by itself where `suspension` is left out.',
  )
}

interface NamedCode {
  readonly engine: string
  prepare(memoryBytes: number): Promise<PreparedComponent>
}

/** @throws CaissonError `corrupted` for what is not as it was built */
function codeOfBuilt(built: PrebuiltComponent): NamedCode {
  const { component, suspendedBy } = built.manifest
  return {
    engine: componentEngine(component, suspendedAt(built), suspendedBy),
    prepare: (memoryBytes) => loadPrebuilt(built, Math.floor(memoryBytes / PAGE)),
  }
}

/** @throws CaissonError `invalid_component`; `invalid_argument` for a cache that is none */
async function codeOfBytes(
  { platform, profile, options }: ComponentCodeParts,
  bytes: ComponentBytes,
  waits: WaitOptions | undefined,
  { onProgress, signal, cache: granted = options.preparedCache }: Preparing,
  kept: PreparedComponents,
): Promise<NamedCode> {
  const { checkpoints, clock } = platform
  const cache = granted && checkpoints && new PreparedCache(granted, checkpoints)
  const { digest } = bytes
  const how = `${cache?.keyName ?? ''}\n${waits?.key ?? ''}`
  const awaited = (): Promise<readonly SuspendingImport[]> | [] =>
    waits === undefined ? [] : awaitedImportsOf(bytes.copy(), waits)
  const engine = kept.engineOf(digest, how) ?? componentEngine(digest, await awaited(), waits?.tool)
  return {
    engine,
    async prepare(memoryBytes) {
      const known = kept.find({ digest, how, memoryBytes })
      if (known !== undefined) return known
      const maxMemoryPages = Math.floor(memoryBytes / PAGE)
      const shown = { ...(onProgress && { onProgress }), ...(signal && { signal }) }
      const prepared = await prepareComponent(
        bytes.copy(),
        { profile, maxMemoryPages, cache, waits, digest, ...shown },
        clock.monotonic,
      )
      kept.keep({ digest, how, memoryBytes, engine, prepared })
      return prepared
    },
  }
}

/** How the component is made suspendable; undefined where no capability is awaited, or the platform has no tool for it. */
function waitsOf(
  capabilities: readonly GuestCapability[],
  modules: ModuleTools | undefined,
  { signal }: Preparing,
): WaitOptions | undefined {
  const awaited = capabilities.filter(({ sync }) => !sync).map(({ name }) => name)
  if (awaited.length === 0 || modules?.asyncify === undefined) return undefined
  const { openWorker, asyncify, asyncifyVersion = 'unknown' } = modules
  return waitOptions(awaited, asyncifyVersion, async (bytes, how) =>
    openWorker === undefined
      ? prepareCore(bytes, { ...how, asyncify: await asyncify() })
      : prepareCoreInWorker(bytes, { ...how, openWorker, ...(signal && { signal }) }),
  )
}

function schemasOf(capability: Capability | undefined): CapabilitySchemas {
  if (capability === undefined) return {}
  return {
    input: known(() => inputJsonSchemaOf(capability)),
    output: known(() => outputJsonSchemaOf(capability)),
  }
}

/** A hint for names: what has no schema has names in camelCase. */
function known(read: () => JsonSchema): JsonSchema | undefined {
  try {
    return read()
  } catch (error) {
    if (CaissonError.is(error, 'schema_required')) return undefined
    throw error
  }
}
