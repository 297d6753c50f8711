/**
 * Opens components: prepares them, puts grants, WASI and the embedder's interfaces behind their imports, and starts or
 * restores an instance.
 *
 * Invariant
 * 1. What cannot be granted, or cannot wait where it has to, is refused by name before anything of the component runs.
 */
import { sha256 } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Capability } from '../../capability/capability.ts'
import type { CapabilityTable } from '../../capability/capability-table.ts'
import type { Gate } from '../../capability/gate.ts'
import { inputJsonSchemaOf, type JsonSchema, outputJsonSchemaOf } from '../../capability/json-schema.ts'
import { CapabilityCalls, CapabilityPlaces } from '../../component/capability-calls.ts'
import { parseComponentState, restoreComponent } from '../../component/component-capture.ts'
import { firstOf, hostInterfaces } from '../../component/component-imports.ts'
import { openComponentInstance } from '../../component/component-instance.ts'
import { ComponentWasi, type ComponentWorld } from '../../component/component-wasi.ts'
import { prepareCore } from '../../component/core/prepare-core.ts'
import { prepareCoreInWorker } from '../../component/core/prepare-in-worker.ts'
import { PreparedCache } from '../../component/core/prepared-cache.ts'
import { LateControl } from '../../component/guest-control.ts'
import { ModuleClock, msAt } from '../../component/module/module-clock.ts'
import type { OpenComponent } from '../../component/open-component.ts'
import { loadPrebuilt } from '../../component/prebuilt.ts'
import type { PrebuiltComponent } from '../../component/prebuilt-manifest.ts'
import {
  type PreparedComponent,
  prepareComponent,
  type WaitOptions,
} from '../../component/prepare-component.ts'
import type { Limits } from '../../machine/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { Checkpoints } from '../checkpoints.ts'
import type { GateWanted } from '../gate-maker.ts'
import { checkFits, type LimitBounds, limitsAfter, machineStart } from '../machine-start.ts'
import type { RuntimeOptions } from '../options.ts'
import type { Platform } from '../platform.ts'
import { DEFAULT_DOMAIN } from '../run-owner.ts'
import type { ComponentWasiOptions, OpenComponentOptions } from './component-options.ts'
import { HeldComponent } from './held-component.ts'

export interface ComponentOpenerParts {
  readonly bounds: LimitBounds
  /** How the engine of this platform is metered. */
  readonly profile: 'v8' | 'portable'
  readonly platform: Platform
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Clock
  readonly options: RuntimeOptions
  readonly table: CapabilityTable
  newGuestId(): string
  gateFor(wanted: GateWanted, guestId: string): Gate
}

/** Components that were prepared, by all that their preparation depends on; the oldest first. */
export type PreparedComponents = Map<string, PreparedComponent>

/** How many of them are kept. */
const KEEP = 8

/** Raised when the state of a component has another form. */
const RULES = 1
const PAGE = 65_536

/** See `Runtime.openComponent`. */
export async function openComponent(
  parts: ComponentOpenerParts,
  source: Uint8Array | PrebuiltComponent,
  options: OpenComponentOptions,
  kept: PreparedComponents,
): Promise<OpenComponent> {
  const { platform, table, bounds, hostClock } = parts
  const given = source instanceof Uint8Array ? new Uint8Array(source) : source
  const modules = await platform.modules?.()
  // Of the capabilities alone: what it is opened with decides over its id.
  const draft = parts.gateFor(wantedOf(options), 'draft')
  const places = new CapabilityPlaces(draft.capabilities)
  const waits = waitsOf(draft, places, modules, options)
  const digest = given instanceof Uint8Array ? sha256(given) : given.manifest.component
  const engine = `component:${sha256(new TextEncoder().encode(`${RULES}\n${digest}\n${waits?.key ?? ''}`)).slice('sha256:'.length)}`
  const checkpoints = new Checkpoints(platform.checkpoints, parts.options.checkpoints ?? {}, engine, {
    pages: PageTree.empty,
  })
  const { from, domain = DEFAULT_DOMAIN, principal = '' } = options
  const read = from && (await checkpoints.read(from.slice(), { tenant: domain, principal }))
  const guestId = read?.state.guestId ?? parts.newGuestId()
  const label = read?.header.label ?? options.label ?? 'plain'
  checkpoints.checkLabel(label)
  const gate = parts.gateFor({ ...wantedOf(options), label }, guestId)
  const drafted = startOf(parts, options, gate)
  const start = read
    ? {
        ...drafted,
        limits: limitsAfter(read.state.limits, options.limits, bounds, checkpoints.authenticated),
      }
    : drafted
  if (read !== undefined) checkFits(read.memoryBytes, start.limits)
  const key = `${engine} ${digest} ${start.limits.memoryBytes}`
  const prepared = kept.get(key) ?? (await prepare(parts, given, start.limits, waits, options))
  if (given instanceof Uint8Array) keep(kept, key, prepared)
  checkWaits(prepared, places)
  const state = read && parseComponentState(read.state.machine, gate.capabilities)
  const control = new LateControl()
  const clock = new ModuleClock(start.nowMs)
  const calls = new CapabilityCalls({
    capabilities: gate.capabilities,
    schemas: (name) => schemasOf(table.find(name)),
    syncCalls: gate.sync,
    limits: start.limits,
    control,
    nowMs: () => msAt(clock.position()),
  })
  const seed = state?.seed ?? start.seed
  const pageTools = platform.pageTools ?? neutralPageTools
  const wasi =
    options.wasi === undefined
      ? undefined
      : new ComponentWasi({
          source: wasiOf(modules),
          world: worldOf(options.wasi),
          imports: prepared.shape.imports,
          limits: start.limits,
          control,
          seed,
          clock,
          sha256: pageTools.sha256,
          state: state?.wasi ?? undefined,
        })
  if (state !== undefined && (state.wasi === null) !== (wasi === undefined))
    throw new CaissonError(
      'checkpoint_refused',
      'The component was captured with another world of WASI (option wasi).',
    )
  if (options.wasi?.missing === 'refuse' && wasi !== undefined) refuseMissing(wasi)
  const instance = await openComponentInstance(prepared, {
    imports: firstOf([calls, ...(wasi ? [wasi.imports] : []), hostInterfaces(options.interfaces ?? {})]),
    limits: start.limits,
    monotonic: hostClock.monotonic,
    control,
    restores: read !== undefined,
  })
  if (read !== undefined && state !== undefined) {
    restoreComponent(
      { instance, wasi: wasi?.host, calls },
      { memoryBytes: read.memoryBytes, changes: read.pages.changesSince(PageTree.empty) },
      state,
    )
  }
  return new HeldComponent(
    {
      instance,
      calls,
      wasi: wasi?.host,
      clock,
      gate,
      start: { ...start, seed },
      guestId,
      engine,
      checkpoints,
      owner: { tenant: domain, run: read?.header.run ?? `component-${guestId}`, principal, label },
      hostClock,
      guestClock: platform.clock,
      callLog: parts.options.callLog,
      nowMs: options.nowMs,
      pageTools,
    },
    read && { session: read.state.session, sequence: read.header.sequence, call: state?.call ?? null },
  )
}

function keep(kept: PreparedComponents, key: string, prepared: PreparedComponent): void {
  kept.delete(key)
  kept.set(key, prepared)
  const [oldest] = kept.keys()
  if (kept.size > KEEP && oldest !== undefined) kept.delete(oldest)
}

function wantedOf({ grants, guard, label }: OpenComponentOptions): GateWanted {
  return { ...(grants && { grants }), ...(guard !== undefined && { guard }), ...(label && { label }) }
}

function startOf(
  { bounds, platform }: ComponentOpenerParts,
  { limits, seed, nowMs }: OpenComponentOptions,
  gate: Gate,
): ReturnType<typeof machineStart> {
  const own = {
    ...(limits && { limits }),
    ...(seed !== undefined && { seed }),
    ...(nowMs !== undefined && { nowMs }),
  }
  return machineStart('', own, gate.capabilities, bounds, platform)
}

async function prepare(
  { profile, hostClock, platform }: ComponentOpenerParts,
  source: Uint8Array | PrebuiltComponent,
  limits: Limits,
  waits: WaitOptions | undefined,
  options: OpenComponentOptions,
): Promise<PreparedComponent> {
  const maxMemoryPages = Math.floor(limits.memoryBytes / PAGE)
  if (!(source instanceof Uint8Array)) return loadPrebuilt(source, maxMemoryPages)
  const { onProgress, signal } = options
  const { checkpoints } = platform
  const cache = options.cache && checkpoints && new PreparedCache(options.cache, checkpoints)
  return prepareComponent(
    source,
    { profile, maxMemoryPages, cache, waits, ...(onProgress && { onProgress }), ...(signal && { signal }) },
    hostClock.monotonic,
  )
}

/** How the component is made suspendable; undefined where no capability is awaited, or the platform has no tool for it. */
function waitsOf(
  gate: Gate,
  places: CapabilityPlaces,
  modules: ModuleTools | undefined,
  { signal }: OpenComponentOptions,
): WaitOptions | undefined {
  const awaited = gate.capabilities.filter(({ sync }) => !sync).map(({ name }) => name)
  if (awaited.length === 0 || modules?.asyncify === undefined) return undefined
  const { openWorker, asyncify } = modules
  return {
    key: `${modules.asyncifyVersion}\n${awaited.sort().join('\n')}`,
    isAwaited: (wanted) => places.isAwaited(wanted),
    prepare: async (bytes, how) =>
      openWorker === undefined
        ? prepareCore(bytes, { ...how, asyncify: await asyncify() })
        : prepareCoreInWorker(bytes, { ...how, openWorker, ...(signal && { signal }) }),
  }
}

/** @throws CaissonError `unsupported` */
function checkWaits({ shape, cores }: PreparedComponent, places: CapabilityPlaces): void {
  const canWait = (module: string, name: string): boolean =>
    cores.filter(({ manifest }) => manifest.suspends.some((at) => at.module === module && at.name === name))
      .length === 1
  const stuck = shape.imports.filter((one) => places.isAwaited(one) && !canWait(one.interface, one.name))
  if (stuck.length === 0) return
  const names = stuck.slice(0, 20).map((one) => `${one.interface}#${one.name}`)
  throw new CaissonError(
    'unsupported',
    clipText(
      `The component cannot wait for capabilities that are answered later: ${names.join(', ')}. It takes the package binaryen and the component itself, not one that was built before; a capability with \`sync\` needs no waiting.`,
      2_000,
    ),
    { details: { imports: names } },
  )
}

function wasiOf(modules: ModuleTools | undefined): ModuleTools['wasi'] {
  if (modules !== undefined) return modules.wasi
  throw new CaissonError('unsupported', 'This platform has no WASI.')
}

/** @throws CaissonError `missing_imports` */
function refuseMissing({ missing }: ComponentWasi): void {
  if (missing.length === 0) return
  const names = missing.map(({ module, grant }) => `${module} (${grant})`)
  throw new CaissonError(
    'missing_imports',
    clipText(`The component imports what it has no use for without a grant: ${names.join(', ')}.`, 2_000),
    { details: { missing: missing.map(({ module, grant }) => ({ interface: module, grant })) } },
  )
}

function worldOf(options: ComponentWasiOptions): ComponentWorld {
  const { args = [], env = {}, stdin = '', directories = {}, clock = false, random = false } = options
  return {
    args: [...args],
    env: { ...env },
    stdin: bytesOf(stdin),
    directories: Object.entries(directories).map(([guestPath, { files, open, writable = false }]) => {
      if ((files === undefined) === (open === undefined))
        throw new CaissonError(
          'invalid_argument',
          `The directory ${clipText(guestPath, 200)} takes either files or open, and one of them.`,
        )
      const held =
        files && Object.fromEntries(Object.entries(files).map(([path, one]) => [path, bytesOf(one)]))
      return { guestPath, writable, ...(held && { files: held }), ...(open && { open }) }
    }),
    clock,
    random,
  }
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content)
}

function schemasOf(capability: Capability | undefined): {
  readonly input?: JsonSchema | undefined
  readonly output?: JsonSchema | undefined
} {
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
