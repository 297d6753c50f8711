/**
 * Opens components: prepares them, puts grants, WASI and the embedder's interfaces behind their imports, and starts or
 * restores an instance.
 */
import { CaissonError } from '../../base/errors.ts'
import type { Gate } from '../../capability/gate.ts'
import { parseComponentState } from '../../component/component-capture.ts'
import { hostInterfaces } from '../../component/component-imports.ts'
import { type ComponentLifeParts, openComponentLife } from '../../component/component-life.ts'
import type { ComponentWorld } from '../../component/component-wasi.ts'
import type { OpenComponent } from '../../component/open-component.ts'
import type { PrebuiltComponent } from '../../component/prebuilt-manifest.ts'
import type { Clock } from '../../ports/clock.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { Checkpoints } from '../checkpoints.ts'
import type { GateWanted } from '../gate-maker.ts'
import { checkFits, type LimitBounds, limitsAfter, machineStart } from '../machine-start.ts'
import type { RuntimeOptions } from '../options.ts'
import { DEFAULT_DOMAIN } from '../run-owner.ts'
import { grantedWorld } from '../wasi/granted-world.ts'
import { checkOpenComponent } from './check-component-options.ts'
import { type ComponentCodeParts, componentCode } from './component-code.ts'
import type { ComponentWasiOptions, OpenComponentOptions } from './component-options.ts'
import { HeldComponent } from './held-component.ts'
import type { KeptComponents } from './prepared-components.ts'

export interface ComponentOpenerParts extends ComponentCodeParts {
  readonly bounds: LimitBounds
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Clock
  readonly options: RuntimeOptions
  newGuestId(): string
  gateFor(wanted: GateWanted, guestId: string): Gate
}

/** See `Runtime.openComponent`. */
export async function openComponent(
  parts: ComponentOpenerParts,
  source: Uint8Array | PrebuiltComponent,
  options: OpenComponentOptions,
  kept: KeptComponents,
): Promise<OpenComponent> {
  checkOpenComponent(options)
  const { platform, bounds, hostClock } = parts
  // Of the capabilities alone: what it is opened with decides over its id.
  const draft = parts.gateFor(wantedOf(options), 'draft')
  const code = await componentCode(parts, source, draft.capabilities, options, kept)
  const { engine, schemas } = code
  const checkpoints = new Checkpoints(platform.checkpoints, parts.options.checkpoints ?? {}, engine, {
    pages: PageTree.empty,
  })
  const { from, domain = DEFAULT_DOMAIN, principal = '' } = options
  const read = from && (await readFrom(checkpoints, from, { tenant: domain, principal }))
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
  const { prepared, waitsBy } = await code.prepare(start.limits)
  const pageTools = platform.pageTools ?? neutralPageTools
  const state = read && parseComponentState(read.state.machine, gate.capabilities)
  const { instance, calls, clock, wasi, seed } = await openComponentLife({
    prepared,
    capabilities: gate.capabilities,
    schemas,
    syncCalls: gate.sync,
    limits: start.limits,
    seed: start.seed,
    nowMs: start.nowMs,
    ...(options.wasi && { wasi: wasiOf(code.modules, options.wasi) }),
    ...(options.interfaces && { interfaces: hostInterfaces(options.interfaces) }),
    monotonic: hostClock.monotonic,
    sha256: pageTools.sha256,
    ...(waitsBy === 'held' && { waitsBy }),
    ...(read &&
      state && {
        from: {
          memoryBytes: read.memoryBytes,
          changes: read.pages.changesSince(PageTree.empty),
          state,
        },
      }),
  })
  return new HeldComponent(
    {
      instance,
      calls,
      wasi,
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

/** @throws CaissonError as `Checkpoints.read`; what makes engines of components differ is said */
async function readFrom(
  checkpoints: Checkpoints,
  from: Uint8Array,
  owner: Parameters<Checkpoints['read']>[1],
): ReturnType<Checkpoints['read']> {
  try {
    return await checkpoints.read(new Uint8Array(from), owner)
  } catch (error) {
    if (!CaissonError.is(error, 'engine_mismatch')) throw error
    const { message, details } = error
    const why = 'It was taken of another component, or of one with other grants that it waits for.'
    throw new CaissonError('engine_mismatch', `${message} ${why}`, { details, cause: error })
  }
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

function wasiOf(
  modules: ModuleTools | undefined,
  options: ComponentWasiOptions,
): NonNullable<ComponentLifeParts['wasi']> {
  if (modules === undefined) throw new CaissonError('unsupported', 'This platform has no WASI.')
  return { source: modules.wasi, world: worldOf(options), refuses: options.missing === 'refuse' }
}

/** With how directories are opened that are not in memory. */
function worldOf(options: ComponentWasiOptions): ComponentWorld {
  const { directories, ...world } = grantedWorld(options)
  return {
    ...world,
    directories: directories.map(({ files, ...directory }) => {
      const open = options.directories?.[directory.guestPath]?.open
      return { ...directory, ...(files && { files }), ...(open && { open }) }
    }),
  }
}
