/**
 * What the metering pass takes and what it says about its work. The pass itself is `meter.ts`.
 */

import type { HiddenState } from './scan-module.ts'

/**
 * How charges are emitted. Both profiles charge the same amounts at the same places and check at the same
 * places, so they count alike and run out alike.
 *
 * - `v8`: where it pays, a function keeps the counter in a local variable between calls.
 * - `portable`: the counter is always the global. Faster on JavaScriptCore.
 */
export type MeterProfile = 'v8' | 'portable'

/**
 * How often each block of each function ran in some representative work: what `countBlocks` measures. Only
 * ratios matter. Keys are function indices of the module that is metered (imports included), values hold one
 * count per block, in the order of the function's flow graph. A function without an entry is estimated.
 */
export type BlockFrequencies = ReadonlyMap<number, ArrayLike<number>>

/** Options of `meter`. */
export interface MeterOptions {
  readonly profile: MeterProfile
  /** Moves charges and checks to where they run least. It changes no total, but it is part of the output. */
  readonly frequencies?: BlockFrequencies
  /** Every memory's maximum, defined or imported, becomes at most this many pages of 64 KiB. */
  readonly maxMemoryPages?: number
  /** Every table's maximum, defined or imported, becomes at most this many entries. */
  readonly maxTableEntries?: number
  /** Whether to count depth (default true). Without it the host's native stack is the only end of recursion. */
  readonly depth?: boolean
  /** Whether to keep the name section (default false). */
  readonly keepNames?: boolean
  /**
   * Whether an import may throw a host exception through this module's frames while the instance lives on
   * (default: only if the module itself can catch). Set it when one of several linked modules can catch.
   */
  readonly importsMayThrow?: boolean
  /**
   * Whether an import may call exports of this instance before it returns (default true). False spares functions
   * that call imports from checks and depth counts; then the host must refuse such calls.
   */
  readonly importsMayCallBack?: boolean
  /**
   * What becomes of the module's start function, which an engine runs while it instantiates, before the host can
   * set any limit.
   *
   * - `export` (default): it is exported as `START_EXPORT`. The host sets the counters after instantiation, calls
   *   it once, and only then anything else (`MeterReport.exportsStart`). No code of the module runs unlimited.
   * - `keep`: it stays a start function and runs on `INITIAL_FUEL`, hours of work. For modules that are trusted to
   *   have a short one.
   */
  readonly start?: 'export' | 'keep'
  /**
   * Where the counters live.
   *
   * - `own` (default): the module defines them. One instance, one count.
   * - `shared`: it imports them, as `FUEL_IMPORT` and `DEPTH_IMPORT`. All modules of one guest get the same two
   *   globals: those that the host made, or those that the module with `own` counters exports.
   *
   * Charges and checks stand at the same places in both.
   */
  readonly counters?: 'own' | 'shared'
  /** Whether `refill(REFILL_GROWTH)` is called when a memory or a table could not grow (default false). */
  readonly reportsGrowth?: boolean
}

/** What `meter` did. */
export interface MeterReport {
  /** Names of the WebAssembly features beyond the first version that the module uses, sorted. */
  readonly features: readonly string[]
  /** What its instructions write that neither a memory nor a global shows, sorted. */
  readonly hiddenState: readonly HiddenState[]
  /** Functions defined by the module, before anything was added. */
  readonly functions: number
  /** Basic blocks in all functions. */
  readonly blocks: number
  /** Places that charge fuel, bulk instructions excluded. */
  readonly chargeSites: number
  /** Places that compare the counter with zero. */
  readonly checkSites: number
  /** Functions that count their depth on entry. */
  readonly depthSites: number
  /** Functions that keep the counter in a local (profile `v8`). */
  readonly cachedFunctions: number
  /** No execution spends more than this between two checks, bulk pieces and imports aside. */
  readonly maxFuelBetweenChecks: number
  /** Where the counter is looked at, the charges of an open call lag behind its work by at most this (fuel). */
  readonly maxOwedFuel: number
  /** Native stack, in estimated bytes, that frames may use beyond what the depth counter counts. */
  readonly uncountedDepthBytes: number
  /** Whether there is a start function that the host has to call, as `START_EXPORT`. */
  readonly exportsStart: boolean
  readonly bytesIn: number
  readonly bytesOut: number
}

/** The metered module with its report. */
export interface Metered {
  readonly wasm: Uint8Array
  readonly report: MeterReport
}

/** Module name of the one import that a metered module adds, and prefix of its exports. */
export const METER_NAMESPACE = 'caisson'
/** Name of the imported function: `(kind: i32) -> i64`. */
export const REFILL_IMPORT = 'refill'
/** Names of the imported counters, where they are `shared`: mutable globals, an i64 and an i32. */
export const FUEL_IMPORT = 'fuel'
export const DEPTH_IMPORT = 'depth'
/** Export name of the fuel counter: a mutable i64 global that counts down. */
export const FUEL_EXPORT = 'caisson.fuel'
/** Export name of the depth counter: a mutable i32 global, estimated bytes of native stack that are left. */
export const DEPTH_EXPORT = 'caisson.depth'
/** Export name of what was the start function: no parameters, no results, to be called once and first. */
export const START_EXPORT = 'caisson.start'
/** `kind` when the counter fell below zero. */
export const REFILL_FUEL = 0
/** `kind` when the depth allowance fell below zero. */
export const REFILL_DEPTH = 1
/** `kind` when a memory or a table could not grow: the module goes on, and what is answered does not matter. */
export const REFILL_GROWTH = 2
/** Fuel that a fresh instance has until the host sets it: a start function that was kept runs before the host can. */
export const INITIAL_FUEL = 1_000_000_000_000_000n
/** Depth allowance, in estimated bytes, that a fresh instance has until the host sets it. */
export const INITIAL_DEPTH = 262_144
