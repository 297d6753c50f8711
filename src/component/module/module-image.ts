/**
 * The state of a module at the end of its start-up, kept so that later guests begin there (`start-up.ts`). It never leaves
 * the process, and one domain never gets that of another.
 */
import { CaissonError } from '../../base/errors.ts'
import type { MemoryChange } from '../../machine/turn.ts'
import type { SamePage } from '../../ports/page-tools.ts'
import { PAGE_BYTES, type PageTree } from '../../snapshot/page-tree.ts'
import { type CoreState, captureCore, coreMemory, keepsNaN } from '../core/capture-core.ts'
import type { CoreGuest } from '../core/core-guest.ts'

const WASM_PAGE = 65_536
/** Images of one module. */
const KEEP = 4
/** Larger ones are not kept. */
const MOST_PAGES: number = (64 * 1024 * 1024) / PAGE_BYTES

export interface ModuleImage {
  readonly memoryBytes: number
  /** Against a guest that was instantiated and not started. */
  readonly changes: readonly MemoryChange[]
  readonly state: CoreState
  /** Calls that had returned. */
  readonly phase: number
  /** Where its clock stood. */
  readonly clockNs: bigint
}

/** Those of one domain, by `startUpKey`. `undefined`: not tried yet. `null`: there can be none. */
export interface ModuleImages {
  get(key: string): ModuleImage | null | undefined
  set(key: string, image: ModuleImage | null): void
}

/** The images of a module: each domain sees its own. */
export function createModuleImages(): (domain: string) => ModuleImages {
  const images = new Map<string, ModuleImage | null>()
  return (domain) => ({
    get: (key) => images.get(JSON.stringify([domain, key])),
    set: (key, image) => {
      images.set(JSON.stringify([domain, key]), image)
      const [oldest] = images.keys()
      if (images.size > KEEP && oldest !== undefined) images.delete(oldest)
    },
  })
}

/** @returns null for a guest that cannot be captured, or changed too much */
export function takeImage(
  guest: CoreGuest,
  base: () => PageTree,
  same: SamePage,
  at: Pick<ModuleImage, 'phase' | 'clockNs'>,
): ModuleImage | null {
  if (guest.instances.some(({ manifest }) => manifest.captureObstacles.length > 0)) return null
  if (keepsNaN(guest) !== undefined) return null
  const { memoryBytes, changes, state } = captureCore(guest, base(), same)
  return changes.length > MOST_PAGES ? null : { memoryBytes, changes, state, ...at }
}

/** Puts an image into a guest of the same module that was instantiated and not started. */
export function beginAtImage(guest: CoreGuest, { memoryBytes, changes, state }: ModuleImage): void {
  const memory = coreMemory(guest)
  if (memory !== undefined) {
    grow(memory, memoryBytes)
    const bytes = new Uint8Array(memory.buffer)
    for (const [index, page] of changes) {
      const start = index * PAGE_BYTES
      if (page === undefined) bytes.fill(0, start, start + PAGE_BYTES)
      else bytes.set(page, start)
    }
  }
  for (const [at, { manifest, exports }] of guest.instances.entries()) {
    for (const [index, { name }] of manifest.globals.entries())
      (exports[name] as WebAssembly.Global).value = state.globals[at]?.[index]
  }
  const { suspended, fuelUsed } = state
  if (suspended === null) guest.adoptFuel(fuelUsed)
  else guest.adopt(suspended.instance, suspended.entry, suspended, fuelUsed)
}

function grow(memory: WebAssembly.Memory, bytes: number): void {
  const missing = bytes - memory.buffer.byteLength
  try {
    if (missing > 0) memory.grow(missing / WASM_PAGE)
  } catch (cause) {
    throw new CaissonError('machine_lost', 'The host has no room for the memory of this guest.', { cause })
  }
}
