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
  type PreparedComponent,
  prepareComponent,
  type WaitOptions,
} from '../../component/prepare-component.ts'
import { unwindProblem } from '../../component/unwinding.ts'
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
  /** What a capture can be restored on. */
  readonly engine: string
  readonly modules: ModuleTools | undefined
  readonly schemas: (capability: string) => CapabilitySchemas
  /** @throws CaissonError `unsupported`, and what `prepareComponent` says */
  prepare(limits: Pick<Limits, 'memoryBytes'>): Promise<WaitingComponent>
}

/** A component, and how it waits where it was not prepared to leave its stack. */
export interface WaitingComponent {
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
  '`suspension: "jspi"` (where the engine has it) and `runComponent` let every component wait.'

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
  const code =
    given === undefined
      ? codeOfBuilt(source as PrebuiltComponent)
      : await codeOfBytes(parts, given, waits, options, kept)
  return {
    engine: code.engine,
    modules,
    schemas: (capability) => schemasOf(parts.table.find(capability)),
    prepare: async ({ memoryBytes }) => {
      const prepared = await code.prepare(memoryBytes)
      const why = given === undefined ? NOT_BUILT_FOR_IT : waits === undefined ? NO_TOOL : undefined
      const problem = waitProblem(prepared, capabilities, why) ?? (await unwindProblem(prepared))
      return { prepared, waitsBy: waitsBy(problem, suspension) }
    },
  }
}

/** @param problem why it cannot leave its stack @throws CaissonError `unsupported` */
function waitsBy(
  problem: CaissonError | undefined,
  suspension: Suspension | 'auto',
): WaitingComponent['waitsBy'] {
  const isHeld = stackSwitching() !== undefined
  switch (suspension) {
    case 'asyncify':
      if (problem === undefined) return undefined
      throw new CaissonError(problem.code, `${problem.message} ${OTHER_WAYS}`, { details: problem.details })
    case 'jspi':
      if (isHeld) return 'held'
      throw new CaissonError(
        'unsupported',
        'This engine holds no stacks (JSPI): Node 25 does, Node 24 with --experimental-wasm-jspi, and so do Bun, Deno and Chromium.',
      )
    case 'reexecute':
      return 'reexecute'
    case 'auto':
      return problem === undefined ? undefined : isHeld ? 'held' : 'reexecute'
  }
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
