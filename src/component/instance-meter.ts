/**
 * What the code of an instance is counted with: one counter of fuel and one of depth for all of its modules.
 *
 * Invariant
 * 1. After a call that returned as it should, the counters stay as they are for the next one: writing them is most of what
 *    a short call costs.
 */
import { FuelGauge } from '../machine/fuel-gauge.ts'
import type { Limits } from '../machine/limits.ts'
import { DEPTH_IMPORT, FUEL_IMPORT, REFILL_GROWTH, REFILL_IMPORT } from '../wasm/meter-options.ts'

export class InstanceMeter {
  readonly gauge: FuelGauge
  /** What every metered module imports. */
  readonly imports: Readonly<Record<string, unknown>>
  readonly #limits: Limits
  #memoryRefused = false
  #isOverfull: (() => boolean) | undefined
  /** Whether the counters hold what the last call left, to be used on. */
  #paused = false

  constructor(limits: Limits, monotonic: () => number) {
    const fuel = new WebAssembly.Global({ value: 'i64', mutable: true }, 0n)
    const depth = new WebAssembly.Global({ value: 'i32', mutable: true }, 0)
    this.#limits = limits
    this.gauge = new FuelGauge({ fuel, depth }, monotonic)
    this.gauge.reset(limits.fuel)
    this.imports = {
      [REFILL_IMPORT]: (kind: number): bigint => {
        if (kind !== REFILL_GROWTH) {
          this.checkMemory()
          return this.gauge.refill(kind)
        }
        this.#memoryRefused = true
        return 0n
      },
      [FUEL_IMPORT]: fuel,
      [DEPTH_IMPORT]: depth,
    }
  }

  /** Whether a memory was not allowed to grow since `begin`. */
  get memoryRefused(): boolean {
    return this.#memoryRefused
  }

  /** @param isOverfull whether the guest's memories are larger together than they may be */
  watchMemory(isOverfull: () => boolean): void {
    this.#isOverfull = isOverfull
  }

  /** No memory grows beyond the cap, and several do together: that is seen with each slice, and after each call. */
  checkMemory(): void {
    if (this.#isOverfull?.() === true) this.gauge.halt('memory')
  }

  /** Before code of the guest runs. */
  begin(deadline: number, aborted: (() => boolean) | undefined): void {
    this.#memoryRefused = false
    if (this.#paused) this.gauge.goOn(deadline, aborted)
    else this.gauge.begin(this.#limits.stackBytes, deadline, aborted)
    this.#paused = false
  }

  /** After it returned, or trapped. @returns the fuel used so far */
  pause(): number {
    const fuel = this.gauge.consumed
    if (fuel > this.#limits.fuel) this.gauge.end()
    else this.#paused = true
    return fuel
  }

  /** Fuel of an earlier life. */
  adopt(fuelUsed: number): void {
    this.gauge.reset(this.#limits.fuel, fuelUsed)
    this.#paused = false
  }
}
