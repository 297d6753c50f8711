/**
 * A core guest between two turns as data, and back.
 *
 * Invariants
 * 1. What is captured is all of its state: the memory, every mutable global, and where it is suspended. A guest with
 *    state that cannot be seen (`captureObstacles`, the bits of a NaN) is refused by name.
 * 2. A restored guest has exactly the captured memory: pages that are not named are those of the base image.
 * 3. Everything in a capture is checked before any of it is used; a guest that refused one is not to be run.
 */
import { CaissonError } from '../../base/errors.ts'
import type { MachineCapture, MemoryChange } from '../../machine/turn.ts'
import type { SamePage } from '../../ports/page-tools.ts'
import { dirtyPages } from '../../snapshot/dirty-pages.ts'
import { PAGE_BYTES, type PageTree } from '../../snapshot/page-tree.ts'
import { START_EXPORT } from '../../wasm/meter-options.ts'
import type { CoreInstance } from './core-guest.ts'
import type { CoreType } from './core-manifest.ts'
import { MEMORY_EXPORT } from './expose-state.ts'
import type { Suspension } from './unwind-area.ts'

const WASM_PAGE = 65_536
const MOST_ARGS = 64
const MOST_NAME = 1_000

/** Everything beside the memory: a plain value. */
export interface CoreState {
  readonly fuelUsed: number
  /** Values of the mutable globals, for each instance in order. */
  readonly globals: readonly (readonly (number | bigint)[])[]
  readonly suspended: (Suspension & { readonly instance: number; readonly entry: string }) | null
}

/** What a capture is made of: a `CoreGuest`, or whatever else holds core instances. */
export interface CapturedGuest {
  /** In the order in which they were made. */
  readonly instances: readonly CoreInstance[]
  readonly ended: boolean
  readonly fuelUsed: number
  readonly suspension: Suspension | undefined
  /** Where it was entered that is suspended now: index of the instance, and export. */
  readonly entered: { readonly instance: number; readonly name: string } | undefined
  adopt(index: number, name: string, suspension: Suspension, fuelUsed: number): void
  adoptFuel(fuelUsed: number): void
}

/** A capture whose state is that of a core guest. */
export interface CoreCapture extends MachineCapture {
  readonly state: CoreState
}

/** The guest's memory as it is now, empty if it has none. @throws CaissonError `unsupported` for several memories */
export function coreMemory(guest: CapturedGuest): WebAssembly.Memory | undefined {
  const owners = guest.instances.filter(({ manifest }) => manifest.ownsMemory)
  if (owners.length > 1) throw cannot('has several memories')
  return owners[0]?.exports[MEMORY_EXPORT] as WebAssembly.Memory | undefined
}

/**
 * The guest as data; it stays as it is.
 *
 * @param known what `changes` are relative to: the empty tree, a base image, or the last capture
 * @throws CaissonError `unsupported` with what cannot be captured, `isolate_destroyed`
 */
export function captureCore(guest: CapturedGuest, known: PageTree, same?: SamePage): CoreCapture {
  if (guest.ended) throw new CaissonError('isolate_destroyed', 'The guest has ended and cannot be captured.')
  for (const { manifest } of guest.instances) {
    const [obstacle] = manifest.captureObstacles
    if (obstacle !== undefined) throw cannot(obstacle)
  }
  const nan = keepsNaN(guest)
  if (nan !== undefined) throw cannot(nan)
  const memory = coreMemory(guest)
  const bytes = memory === undefined ? new Uint8Array(0) : new Uint8Array(memory.buffer)
  const changes = dirtyPages(bytes, known, [{ start: 0, end: bytes.length }], same)
  return { memoryBytes: bytes.length, changes, state: stateOf(guest) }
}

/**
 * Why a guest cannot be captured now: of a NaN the host gets no bits, and a guest can look at them.
 * @returns undefined where nothing of the kind is in its globals
 */
export function keepsNaN(guest: CapturedGuest): string | undefined {
  const isNaNOf = (instance: CoreInstance): boolean =>
    instance.manifest.globals.some(({ name }) => Number.isNaN(globalOf(instance, name).value))
  return guest.instances.some(isNaNOf) ? 'keeps a NaN in a global' : undefined
}

function stateOf(guest: CapturedGuest): CoreState {
  const { suspension, entered } = guest
  return {
    fuelUsed: guest.fuelUsed,
    globals: guest.instances.map((instance) =>
      instance.manifest.globals.map(({ name }) => globalOf(instance, name).value as number | bigint),
    ),
    suspended:
      suspension === undefined || entered === undefined
        ? null
        : { ...suspension, instance: entered.instance, entry: entered.name },
  }
}

/**
 * Puts a captured guest into a fresh one of the same modules, instantiated in the same order and not started.
 *
 * @param base what the memory of the captured guest has where `from.changes` names no page
 * @throws CaissonError `corrupted` when it contradicts itself or the modules, `machine_lost` where the host has no room
 */
export function restoreCore(
  guest: CapturedGuest,
  from: { readonly memoryBytes: number; readonly changes: Iterable<MemoryChange>; readonly state: unknown },
  base: PageTree,
): void {
  const state = checkState(guest, from.state)
  restoreMemory(guest, from.memoryBytes, from.changes, base)
  for (const [at, instance] of guest.instances.entries()) {
    for (const [index, { name }] of instance.manifest.globals.entries()) {
      globalOf(instance, name).value = state.globals[at]?.[index]
    }
  }
  if (state.suspended === null) guest.adoptFuel(state.fuelUsed)
  else guest.adopt(state.suspended.instance, state.suspended.entry, state.suspended, state.fuelUsed)
}

function restoreMemory(
  guest: CapturedGuest,
  memoryBytes: number,
  changes: Iterable<MemoryChange>,
  base: PageTree,
): void {
  const memory = coreMemory(guest)
  const size = memory?.buffer.byteLength ?? 0
  const most =
    Math.max(0, ...guest.instances.map(({ manifest }) => manifest.memory?.maxPages ?? 0)) * WASM_PAGE
  const isPossible = Number.isSafeInteger(memoryBytes) && memoryBytes % WASM_PAGE === 0
  if (!isPossible || memoryBytes < size || memoryBytes > most) {
    throw corrupted(`a memory of ${memoryBytes} bytes cannot be one of this guest's`)
  }
  if (memory === undefined) return
  try {
    if (memoryBytes > size) memory.grow((memoryBytes - size) / WASM_PAGE)
  } catch (cause) {
    throw new CaissonError('machine_lost', 'The host has no room for the memory of this guest.', { cause })
  }
  const bytes = new Uint8Array(memory.buffer)
  bytes.fill(0)
  for (const [index, page] of base.pages()) putPage(bytes, index, page)
  for (const [index, page] of changes) putPage(bytes, index, page)
}

function putPage(bytes: Uint8Array, index: number, page: Uint8Array | undefined): void {
  const start = index * PAGE_BYTES
  const fits = Number.isSafeInteger(index) && index >= 0 && start + PAGE_BYTES <= bytes.length
  if (!fits || (page !== undefined && page.length !== PAGE_BYTES))
    throw corrupted(`page ${index} does not fit`)
  if (page === undefined) bytes.fill(0, start, start + PAGE_BYTES)
  else bytes.set(page, start)
}

function checkState(guest: CapturedGuest, given: unknown): CoreState {
  const state = given as Partial<CoreState> | null
  if (typeof state !== 'object' || state === null) throw corrupted('its state is no object')
  const { fuelUsed, globals, suspended } = state
  if (!Number.isSafeInteger(fuelUsed) || (fuelUsed as number) < 0) throw corrupted('its fuel is no count')
  if (!Array.isArray(globals) || globals.length !== guest.instances.length)
    throw corrupted('its modules differ')
  for (const [at, { manifest }] of guest.instances.entries()) {
    const values: unknown = globals[at]
    const fits =
      Array.isArray(values) &&
      values.length === manifest.globals.length &&
      manifest.globals.every(({ type }, index) => isOfType(type, values[index]))
    if (!fits) throw corrupted(`globals of module ${at} differ`)
  }
  if (suspended !== null) checkSuspended(guest, suspended)
  return state as CoreState
}

function checkSuspended(guest: CapturedGuest, given: unknown): void {
  const suspended = given as Partial<NonNullable<CoreState['suspended']>> | null | undefined
  const instance = guest.instances[suspended?.instance ?? -1]
  const { at, args, stack, entry } = suspended ?? {}
  const isKnown =
    instance?.manifest.suspends.some(({ module, name }) => module === at?.module && name === at.name) === true
  const entered = typeof entry === 'string' && entry.length <= MOST_NAME && isFunctionOf(instance, entry)
  const isWhole = stack instanceof Uint8Array && Array.isArray(args) && args.length <= MOST_ARGS
  if (!isKnown || !entered || !isWhole) throw corrupted('it is not suspended where this guest can be')
}

function isFunctionOf(instance: CoreInstance | undefined, name: string): boolean {
  if (name === START_EXPORT) return instance?.manifest.hasStart === true
  return instance?.manifest.exports.some((item) => item.name === name && item.kind === 'function') === true
}

function isOfType(type: CoreType, value: unknown): boolean {
  if (type === 'i64') return typeof value === 'bigint' && BigInt.asIntN(64, value) === value
  if (typeof value !== 'number') return false
  return type !== 'i32' || (value | 0) === value
}

function globalOf(instance: CoreInstance, name: string): WebAssembly.Global {
  return instance.exports[name] as WebAssembly.Global
}

function cannot(obstacle: string): CaissonError {
  return new CaissonError('unsupported', `The guest cannot be captured, because it ${obstacle}.`, {
    details: { obstacle },
  })
}

function corrupted(what: string): CaissonError {
  return new CaissonError('corrupted', `The captured guest cannot be restored: ${what}.`)
}
