/**
 * A component between two turns as data, and back: memory and globals, handles, and what the host holds for it of WASI.
 *
 * Invariants
 * 1. It is all of its state, or it is refused with the name of what cannot be captured: several memories, state that
 *    instructions hide, resources that the embedder holds, descriptors of real directories.
 * 2. Everything in a capture is checked before any of it is used; an instance that refused one is not to be called.
 */
import { sha256 } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { GuestCapability } from '../capability/call.ts'
import type { MachineCapture, MemoryChange } from '../machine/turn.ts'
import type { SamePage } from '../ports/page-tools.ts'
import type { WasiHost, WasiState } from '../ports/wasi-host.ts'
import { PageTree } from '../snapshot/page-tree.ts'
import { encodeOrdered } from '../values/ordered-bytes.ts'
import type { HandleState, HandleTableState, LiveResource } from './abi/resources.ts'
import type { CapabilityCalls, CapabilityCallsState } from './capability-calls.ts'
import type { ComponentInstance } from './component-instance.ts'
import { type CoreState, captureCore, restoreCore } from './core/capture-core.ts'
import type { ModuleClock } from './module/module-clock.ts'
import { checkCapabilities } from './module/module-state.ts'

export interface ComponentState {
  readonly version: 1
  readonly seed: Uint8Array
  readonly core: CoreState
  /** Of each component instance. */
  readonly handles: readonly HandleTableState[]
  readonly wasi: WasiState | null
  readonly calls: CapabilityCallsState
  /** What it has slept without anybody waiting for it; left out where it never did. */
  readonly skippedNs?: bigint
  /** Names and kinds, as the guest was started with. */
  readonly capabilities: readonly GuestCapability[]
  /** The export whose call waits; null between calls. */
  readonly call: string | null
}

export interface CaptureParts {
  readonly instance: ComponentInstance
  readonly wasi: WasiHost | undefined
  readonly calls: CapabilityCalls
  readonly clock?: ModuleClock
  readonly capabilities: readonly GuestCapability[]
  readonly seed: Uint8Array
}

export interface ComponentCapture extends MachineCapture {
  readonly state: ComponentState
}

/**
 * @param call the export whose call waits
 * @param known what `changes` are relative to: no memory, or the last capture
 * @throws CaissonError `unsupported` with what cannot be captured, `isolate_destroyed`
 */
export function captureComponent(
  { instance, wasi, calls, clock, capabilities, seed }: CaptureParts,
  call: string | null,
  same?: SamePage,
  known: PageTree = PageTree.empty,
): ComponentCapture {
  if (instance.holdsStack) throw holdsStack()
  const { guest, handles, resources } = instance.parts
  // First, since a guest that waits for a request has lent handles, too.
  const called = calls.state()
  for (const { name, outside } of resources) {
    if (outside === undefined || outside.count === 0) continue
    throw cannot(`the embedder holds ${outside.count} of its resource "${name}": dispose of them first`, name)
  }
  const write = (resource: LiveResource, representation: unknown): HandleState => {
    const type = resources.indexOf(resource)
    if (resource.owner !== undefined) return { type, of: 'guest', id: representation as number }
    const id = wasi?.resourceId(representation as object)
    if (id !== undefined) return { type, of: 'wasi', id }
    throw cannot(`it holds a resource "${resource.name}" of its host`, resource.name)
  }
  const { memoryBytes, changes, state: core } = captureCore(guest, known, same)
  const state: ComponentState = {
    version: 1,
    seed,
    core,
    handles: handles.map((table) => table.capture(write)),
    wasi: wasi?.capture() ?? null,
    calls: called,
    ...(clock && clock.skippedNs > 0n && { skippedNs: clock.skippedNs }),
    capabilities: capabilities.map(({ name, sync }) => ({ name, sync })),
    call,
  }
  return { memoryBytes, changes, state }
}

/** Digest of all of it. @param known what the capture is relative to */
export function captureDigest(
  { memoryBytes, changes, state }: ComponentCapture,
  engine: string,
  digest: (bytes: Uint8Array) => Uint8Array,
  known: PageTree = PageTree.empty,
): string {
  const memory = known.with(changes).root(digest)
  return sha256(encodeOrdered({ engine, memoryBytes, memory, state }, STATE_LIMITS))
}

const STATE_LIMITS = { bytes: 64 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

/** What has to be known before an instance is made. @throws CaissonError `corrupted`, `checkpoint_refused` */
export function parseComponentState(
  given: unknown,
  capabilities: readonly GuestCapability[],
): ComponentState {
  const state = (given ?? {}) as Partial<ComponentState>
  const { seed, handles, wasi, call, capabilities: had, skippedNs = 0n } = state
  const isWhole =
    state.version === 1 &&
    seed instanceof Uint8Array &&
    seed.length === 32 &&
    Array.isArray(handles) &&
    typeof wasi === 'object' &&
    typeof skippedNs === 'bigint' &&
    skippedNs >= 0n &&
    (call === null || typeof call === 'string') &&
    Array.isArray(had) &&
    had.every(
      (one: Partial<GuestCapability> | null) =>
        typeof one?.name === 'string' && typeof one.sync === 'boolean',
    )
  if (!isWhole) throw contradicts()
  checkCapabilities(had as readonly GuestCapability[], capabilities)
  return state as ComponentState
}

/**
 * Puts a captured component into a fresh instance, which was made to be restored.
 * @throws CaissonError `corrupted`, `machine_lost`
 */
export function restoreComponent(
  { instance, wasi, calls }: Omit<CaptureParts, 'capabilities' | 'seed'>,
  from: { readonly memoryBytes: number; readonly changes: Iterable<MemoryChange> },
  state: ComponentState,
): void {
  const { guest, handles, resources } = instance.parts
  const read = (held: unknown): { readonly resource: LiveResource; readonly representation: unknown } => {
    const { type, of, id } = (held ?? {}) as Partial<HandleState>
    const resource = resources[type ?? -1]
    if (resource === undefined || !Number.isSafeInteger(id)) throw contradicts()
    const isGuests = resource.owner !== undefined
    if (isGuests !== (of === 'guest')) throw contradicts()
    const representation = isGuests ? (id as number) | 0 : wasi?.resource(id as number)
    if (representation === undefined) throw contradicts()
    return { resource, representation }
  }
  if (state.handles.length !== handles.length) throw contradicts()
  calls.restore(state.calls)
  restoreCore(guest, { ...from, state: state.core }, PageTree.empty)
  for (const [at, table] of handles.entries()) table.restore(state.handles[at], read)
  const waits = instance.waitsIn !== undefined
  if (waits !== (state.call !== null) || waits !== calls.pending.length > 0) throw contradicts()
  if (state.call !== null) instance.goOn(state.call)
}

function cannot(why: string, obstacle: string): CaissonError {
  return new CaissonError('unsupported', `The component cannot be captured: ${why}.`, {
    details: { obstacle },
  })
}

/** As long as it waits: a run that is kept goes on by its record meanwhile. */
function holdsStack(): CaissonError {
  return new CaissonError(
    'unsupported',
    'The component cannot be captured while it waits: the engine holds its stack (JSPI).',
    { details: { obstacle: 'stack', passes: true } },
  )
}

function contradicts(): CaissonError {
  return new CaissonError('corrupted', 'The state of a captured component contradicts itself.')
}
