/** What metering adds to a module for its code to use. */

/** Globals and functions that metered code refers to, in the numbering of the metered module. */
export interface MeterRuntime {
  readonly fuelGlobal: number
  readonly depthGlobal: number
  /** `() -> ()`: the global fell below zero. */
  readonly refillFunction: number
  /** `(counter) -> counter`: the cached counter fell below zero. */
  readonly refillCachedFunction: number
  /** `() -> ()`: the depth allowance fell below zero. */
  readonly deepFunction: number
  /** The imported function that is told of growth that failed; undefined if it is not. */
  readonly growthReport: number | undefined
}
