/** What is known of a prepared core module: data that can be kept beside its bytes, and that its host goes by. */
import type { LoweredConstant } from '../../wasm/lower-constants.ts'
import type { MeterProfile } from '../../wasm/meter-options.ts'

/** Names of value types as in the JavaScript API; `ref` stands for every reference. */
export type CoreType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128' | 'ref'

export interface CoreSignature {
  readonly params: readonly CoreType[]
  readonly results: readonly CoreType[]
}

/** An import of the original module. Functions have a signature. */
export interface CoreImport {
  readonly module: string
  readonly name: string
  readonly kind: 'function' | 'table' | 'memory' | 'global' | 'tag'
  readonly signature?: CoreSignature
}

/** An export of the original module. Functions have a signature. */
export interface CoreExport {
  readonly name: string
  readonly kind: CoreImport['kind']
  readonly signature?: CoreSignature
}

/** A mutable global that the module defines, exported for its host under `name`. */
export interface StateGlobal {
  readonly name: string
  readonly type: CoreType
}

/** An import that may suspend the guest. */
export interface SuspendingImport {
  readonly module: string
  readonly name: string
}

export interface CoreManifest {
  /** Of this shape. */
  readonly version: 1
  readonly profile: MeterProfile
  readonly counters: 'own' | 'shared'
  /** Names of WebAssembly features, sorted. */
  readonly features: readonly string[]
  readonly imports: readonly CoreImport[]
  readonly exports: readonly CoreExport[]
  /** Its memory: where it is exported for the host, and its size in pages of 64 KiB. */
  readonly memory: { readonly name: string; readonly minPages: number; readonly maxPages: number } | null
  /** Whether that memory is its own, and not imported. */
  readonly ownsMemory: boolean
  /** Most entries of all tables that it defines. */
  readonly tableEntries: number
  readonly globals: readonly StateGlobal[]
  /** Why memory and globals are not all of its state, each as the end of "cannot be captured, because it ...". */
  readonly captureObstacles: readonly string[]
  /** What it imports beyond the original, beside the counters. */
  readonly constants: readonly LoweredConstant[]
  /** Imports at which it can be suspended, empty where it was not made suspendable. */
  readonly suspends: readonly SuspendingImport[]
  /**
   * The functions that were made suspendable, by their place among those that the module defines: it may be suspended
   * while these are at work, and no others. Left out where all were that can be on the way.
   */
  readonly unwinds?: readonly number[]
  /** Whether `caisson.start` has to be called once, first, under limits. */
  readonly hasStart: boolean
  readonly functions: number
  readonly maxFuelBetweenChecks: number
  readonly bytesIn: number
  readonly bytesOut: number
}

/** Bytes that an engine compiles, and what is known of them. */
export interface PreparedCore {
  readonly wasm: Uint8Array
  readonly manifest: CoreManifest
}
