/**
 * Hands fuel to a guest in slices and decides, at the end of each, whether it goes on.
 *
 * The metered module counts `caisson.fuel` down and calls `refill` when it is used up. Because a slice is
 * short (some tenths of a millisecond of guest work), wall deadlines and aborts hold in the host's own thread,
 * without a Worker. Compiled code spends fuel up to a hundred times as fast as a builtin of an engine: its slices
 * grow, or a tenth of its time went into asking for more.
 *
 * Invariants
 * 1. `consumed` is exact at every moment at which no wasm code runs, whatever the size of the slices.
 * 2. The guest is stopped for fuel at the first check at which `consumed` exceeds the limit.
 * 3. `refill` never throws: a negative answer makes the module itself trap.
 * 4. The first reason to stop wins; later ones do not replace it.
 * 5. Time that host functions take inside a turn counts against the deadline too, though no fuel tells of it.
 */

import { REFILL_FUEL } from '../wasm/meter-options.ts'
import type { LimitName } from './limits.ts'

/** Why a turn was cut short. `fault`: something of ours failed inside an import, and says itself what. */
export type StopReason = LimitName | 'aborted' | 'fault'

/** Fuel units of the first slices of a turn. Less than a millisecond in the slowest builtin. */
const FIRST_SLICE = 500_000
/** Of the largest ones: a few milliseconds, once, where a guest that was fast becomes as slow as can be. */
const MOST_SLICE = 8_000_000
/** A slice that was used up faster is followed by one of twice the size. */
const SHORT_MS = 0.25
/** One that lasted longer, by one of the first size. */
const LONG_MS = 1

const STOP = -1n

/** Host functions that a guest may call before the clock is looked at, while they are fast. */
const CALLS_PER_LOOK = 16
/** Milliseconds between two looks from which on the clock is looked at after every call. */
const SLOW_MS = 1

interface GaugeGlobals {
  /** `caisson.fuel`, i64. */
  readonly fuel: WebAssembly.Global
  /** `caisson.depth`, i32. */
  readonly depth: WebAssembly.Global
}

export class FuelGauge {
  readonly #globals: GaugeGlobals
  readonly #monotonic: () => number
  readonly #firstSlice: number
  readonly #mostSlice: number
  #slice: number
  /** When the slice began, undefined for the first one of a turn. */
  #slicedAt: number | undefined
  #limit = 0
  #settled = 0
  #allotted = 0
  #deadline = Number.POSITIVE_INFINITY
  #aborted: (() => boolean) | undefined
  #stop: StopReason | undefined
  #callsToLook = CALLS_PER_LOOK
  #lookedAt = 0

  /** @param slice of every slice; default: as fast as the guest spends them */
  constructor(globals: GaugeGlobals, monotonic: () => number, slice?: number) {
    this.#globals = globals
    this.#monotonic = monotonic
    this.#firstSlice = slice ?? FIRST_SLICE
    this.#mostSlice = slice ?? MOST_SLICE
    this.#slice = this.#firstSlice
  }

  /** Forgets everything before a new guest. `limit` is in fuel units over all its turns; `consumed` in earlier lives. */
  reset(limit: number, consumed = 0): void {
    this.#limit = limit
    this.#settled = consumed
    this.#allotted = 0
    this.#stop = undefined
    this.#globals.fuel.value = 0n
  }

  /** Before wasm runs: puts the first slice and the whole stack allowance into the module. */
  begin(stackBytes: number, deadline: number, aborted: (() => boolean) | undefined): void {
    this.#deadline = deadline
    this.#aborted = aborted
    this.#globals.depth.value = stackBytes
    this.#slice = this.#firstSlice
    this.#slicedAt = undefined
    this.#allot()
  }

  /**
   * In the place of `end` and `begin` where the last turn returned as it should, so that the module's counters are as they
   * have to be: what is left of its slice is used on. Writing counters is most of what a short call costs.
   */
  goOn(deadline: number, aborted: (() => boolean) | undefined): void {
    this.#deadline = deadline
    this.#aborted = aborted
  }

  /** After wasm returned or trapped: takes back what is left. */
  end(): void {
    this.#settled = this.consumed
    this.#allotted = 0
    this.#globals.fuel.value = 0n
    if (this.#settled > this.#limit) this.#stop ??= 'fuel'
  }

  /** Fuel used so far, in all turns. */
  get consumed(): number {
    return this.#settled + this.#allotted - Number(this.#globals.fuel.value as bigint)
  }

  get stopReason(): StopReason | undefined {
    return this.#stop
  }

  /** Charges work that the host did for the guest. Keeps `settled + allotted <= limit`, which invariant 2 needs. */
  charge(units: number): void {
    if (this.#settled + this.#allotted + units <= this.#limit) this.#settled += units
    else this.#globals.fuel.value = (this.#globals.fuel.value as bigint) - BigInt(units)
  }

  /**
   * After a host function worked inside the turn. While they are slow the clock is looked at after each of them,
   * while they are fast after every sixteenth: a look costs as much as a fast call.
   */
  hostWorked(): void {
    this.#callsToLook -= 1
    if (this.#callsToLook > 0) return
    const now = this.#monotonic()
    this.#callsToLook = now - this.#lookedAt > SLOW_MS ? 1 : CALLS_PER_LOOK
    this.#lookedAt = now
    if (this.#stop !== undefined) return
    if (now > this.#deadline) this.halt('wall')
    else if (this.#aborted?.() === true) this.halt('aborted')
  }

  /** Ends the turn at the next check inside the module. Called by imports, which must not throw. */
  halt(reason: StopReason): void {
    this.#stop ??= reason
    this.#settled = this.consumed
    this.#allotted = -1
    this.#globals.fuel.value = STOP
  }

  /** The import of the metered module. Returns the new value of its counter, or a negative number to stop. */
  readonly refill = (kind: number): bigint => {
    if (kind !== REFILL_FUEL) {
      this.halt('stack')
      return STOP
    }
    this.#settled = this.consumed
    this.#allotted = 0
    this.#globals.fuel.value = 0n
    if (this.#stop === undefined) {
      const now = this.#monotonic()
      if (this.#settled > this.#limit) this.#stop = 'fuel'
      else if (now > this.#deadline) this.#stop = 'wall'
      else if (this.#aborted?.() === true) this.#stop = 'aborted'
      this.#resize(now)
    }
    if (this.#stop !== undefined) {
      this.halt(this.#stop)
      return STOP
    }
    this.#allot()
    return BigInt(this.#allotted)
  }

  /** The next slice after what the last one took. */
  #resize(now: number): void {
    const took = this.#slicedAt === undefined ? LONG_MS : now - this.#slicedAt
    this.#slicedAt = now
    if (took < SHORT_MS) this.#slice = Math.min(2 * this.#slice, this.#mostSlice)
    else if (took > LONG_MS) this.#slice = this.#firstSlice
  }

  #allot(): void {
    this.#allotted = Math.max(0, Math.min(this.#slice, this.#limit - this.#settled))
    this.#globals.fuel.value = BigInt(this.#allotted)
  }
}
