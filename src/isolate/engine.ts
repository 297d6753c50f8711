/**
 * An engine build: a metered QuickJS module with its manifest.
 *
 * The build (`scripts/build-engine.ts`) writes both; nothing is rewritten at run time. The id names what a
 * program can observe (upstream bytes, edits, layout, fuel costs, charge sites and the base image) and leaves the metering
 * profile out: both profiles count alike.
 */
import { CaissonError } from '../base/errors.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import { type GuestSources, parseGuestSources } from './guest-sources.ts'

export interface EngineManifest {
  readonly format: 1
  readonly id: string
  readonly upstream: { readonly package: string; readonly version: string; readonly sha256: string }
  readonly layout: EngineLayout
  /** Digest of the fuel cost table. */
  readonly costs: string
  /** SHA-256 of `guest.json`: what is evaluated in every guest. */
  readonly guest: string
  /** Merkle root of the base image: the memory of a guest that has not started. */
  readonly base: string
  readonly profiles: Readonly<Record<'v8' | 'portable', { readonly sha256: string; readonly bytes: number }>>
}

/** Where things are in the engine's linear memory, in bytes. */
export interface EngineLayout {
  /** Static data ends and the stack begins here. */
  readonly stackEnd: number
  /** Initial stack pointer: the stack grows down from here, the heap up. */
  readonly stackBase: number
  /** Size of a fresh memory in 64 KiB pages. */
  readonly initialPages: number
  /** Address of the word that holds the end of the heap. */
  readonly heapEndAddress: number
  /** Index in the function table that holds the `promise_rejection` import. */
  readonly rejectionSlot: number
  /** Offset of the rejection tracker's function index in the runtime struct. */
  readonly rejectionField: number
}

/** An engine that can be instantiated. */
export interface Engine {
  readonly id: string
  readonly layout: EngineLayout
  readonly module: WebAssembly.Module
  readonly guest: GuestSources
  readonly profile: 'v8' | 'portable'
}

/** Names of the imports, with their modules. The memory is imported too, as `env.memory`. */
export const ENGINE_IMPORT_MODULE = 'env'
export const METER_IMPORT_MODULE = 'caisson'

/**
 * Checks a manifest that came from a file or a bundle.
 * @throws CaissonError `engine_mismatch`
 */
export function parseEngine(loaded: LoadedEngine): Engine {
  const manifest = loaded.manifest as Partial<EngineManifest> | null
  const layout = manifest?.layout as Partial<Record<keyof EngineLayout, unknown>> | undefined
  const numbers = [
    layout?.stackEnd,
    layout?.stackBase,
    layout?.initialPages,
    layout?.heapEndAddress,
    layout?.rejectionSlot,
    layout?.rejectionField,
  ]
  if (
    manifest?.format !== 1 ||
    typeof manifest.id !== 'string' ||
    numbers.some((n) => !Number.isSafeInteger(n) || (n as number) < 0)
  ) {
    throw new CaissonError(
      'engine_mismatch',
      'The engine manifest is not one that this version reads (format 1). Rebuild the engine or update the package.',
    )
  }
  return {
    id: manifest.id,
    layout: layout as EngineLayout,
    module: loaded.module,
    guest: parseGuestSources(loaded.guest),
    profile: loaded.profile,
  }
}
