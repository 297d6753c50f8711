/**
 * A component as it is wanted: named by all that its guests can observe, and prepared once its limits are known.
 *
 * Invariants
 * 1. Its engine id names its bytes, the capabilities that it waits for and the tool that makes it wait.
 * 2. What cannot wait where it has to is refused by name before anything of the component runs.
 */
import { digestOf } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { GuestCapability } from '../../capability/call.ts'
import type { Capability } from '../../capability/capability.ts'
import type { CapabilityTable } from '../../capability/capability-table.ts'
import { inputJsonSchemaOf, type JsonSchema, outputJsonSchemaOf } from '../../capability/json-schema.ts'
import type { CapabilitySchemas } from '../../component/capability-calls.ts'
import { CapabilityPlaces } from '../../component/capability-places.ts'
import { componentEngine } from '../../component/component-engine.ts'
import { prepareCore } from '../../component/core/prepare-core.ts'
import { prepareCoreInWorker } from '../../component/core/prepare-in-worker.ts'
import { PreparedCache } from '../../component/core/prepared-cache.ts'
import { loadPrebuilt, suspendedAt } from '../../component/prebuilt.ts'
import type { PrebuiltComponent } from '../../component/prebuilt-manifest.ts'
import {
  awaitedImportsOf,
  checkWaits,
  type PreparedComponent,
  prepareComponent,
  type WaitOptions,
} from '../../component/prepare-component.ts'
import { waitOptions } from '../../component/wait-options.ts'
import type { Limits } from '../../machine/limits.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import type { Platform } from '../platform.ts'
import type { OpenComponentOptions } from './component-options.ts'

/** What preparing takes. */
export interface ComponentCodeParts {
  /** How the engine of this platform is metered. */
  readonly profile: 'v8' | 'portable'
  readonly platform: Platform
  readonly table: CapabilityTable
}

export interface ComponentCode {
  /** What a capture can be restored on. */
  readonly engine: string
  readonly modules: ModuleTools | undefined
  readonly schemas: (capability: string) => CapabilitySchemas
  /** @throws CaissonError `unsupported`, and what `prepareComponent` says */
  prepare(limits: Pick<Limits, 'memoryBytes'>): Promise<PreparedComponent>
}

/** Components that were prepared, by all that their preparation depends on; the oldest first. */
export type PreparedComponents = Map<string, PreparedComponent>

type Preparing = Pick<OpenComponentOptions, 'cache' | 'signal' | 'onProgress'>

/** How many of them are kept. */
const KEEP = 8
/** Why a component does not wait, and what to do. */
const NO_TOOL =
  'Here is no tool that makes it wait: install the package binaryen, or open what `caisson build --suspend NAME` wrote. A capability with `sync` needs no waiting.'
const NOT_BUILT_FOR_IT =
  'It was built without: `caisson build --suspend NAME`, with the name of each. A capability with `sync` needs no waiting.'

const PAGE = 65_536

/** @param capabilities that it is granted @param kept what was prepared before */
export async function componentCode(
  parts: ComponentCodeParts,
  source: Uint8Array | PrebuiltComponent,
  capabilities: readonly GuestCapability[],
  options: Preparing,
  kept: PreparedComponents,
): Promise<ComponentCode> {
  const given = source instanceof Uint8Array ? new Uint8Array(source) : source
  const modules = await parts.platform.modules?.()
  const places = new CapabilityPlaces(capabilities)
  const waits = waitsOf(capabilities, modules, options)
  const { sha256 } = parts.platform.pageTools ?? neutralPageTools
  const digest = given instanceof Uint8Array ? digestOf(sha256(given)) : given.manifest.component
  const engine = await engineOf(given, digest, waits)
  return {
    engine,
    modules,
    schemas: (capability) => schemasOf(parts.table.find(capability)),
    prepare: async ({ memoryBytes }) => {
      const key = `${digest} ${waits?.key} ${memoryBytes}`
      const isBuilt = !(given instanceof Uint8Array)
      const known = isBuilt ? undefined : kept.get(key)
      const prepared = known ?? (await prepare(parts, given, memoryBytes, waits, options))
      if (!isBuilt) keep(kept, key, prepared)
      checkWaits(
        prepared,
        { isAwaited: (wanted) => places.isAwaited(wanted) },
        isBuilt ? NOT_BUILT_FOR_IT : waits === undefined ? NO_TOOL : undefined,
      )
      return prepared
    },
  }
}

/** @throws CaissonError `invalid_component`; `corrupted` for what is not as it was built */
async function engineOf(
  source: Uint8Array | PrebuiltComponent,
  digest: string,
  waits: WaitOptions | undefined,
): Promise<string> {
  if (!(source instanceof Uint8Array))
    return componentEngine(digest, suspendedAt(source), source.manifest.suspendedBy)
  return componentEngine(
    digest,
    waits === undefined ? [] : await awaitedImportsOf(source, waits),
    waits?.tool,
  )
}

function keep(kept: PreparedComponents, key: string, prepared: PreparedComponent): void {
  kept.delete(key)
  kept.set(key, prepared)
  const [oldest] = kept.keys()
  if (kept.size > KEEP && oldest !== undefined) kept.delete(oldest)
}

async function prepare(
  { profile, platform }: ComponentCodeParts,
  source: Uint8Array | PrebuiltComponent,
  memoryBytes: number,
  waits: WaitOptions | undefined,
  { onProgress, signal, cache: given }: Preparing,
): Promise<PreparedComponent> {
  const maxMemoryPages = Math.floor(memoryBytes / PAGE)
  if (!(source instanceof Uint8Array)) return loadPrebuilt(source, maxMemoryPages)
  const { checkpoints, clock } = platform
  const cache = given && checkpoints && new PreparedCache(given, checkpoints)
  return prepareComponent(
    source,
    { profile, maxMemoryPages, cache, waits, ...(onProgress && { onProgress }), ...(signal && { signal }) },
    clock.monotonic,
  )
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
