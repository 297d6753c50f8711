/**
 * Runs a metered module as a host would: fuel in slices, a limit, an answer to every `refill`.
 *
 * Deliberately not the library's own gauge: these tests are about the module, and about what any host may expect
 * of it.
 */
import {
  DEPTH_EXPORT,
  FUEL_EXPORT,
  INITIAL_FUEL,
  METER_NAMESPACE,
  REFILL_DEPTH,
  REFILL_IMPORT,
} from '../../../src/wasm/meter-options.ts'
import type { HostImports } from '../oracle/interpreter.ts'
import { type Guest, type ImportFactory, openEngineGuest } from './guest.ts'

/** Why the host stopped a guest. */
export type StopReason = 'fuel' | 'depth'

/** Opens an instance of a metered module; `openEngineGuest` unless a test wants the interpreter. */
export type OpenGuest = (wasm: Uint8Array<ArrayBuffer>, imports: ImportFactory) => Guest

/** How fuel is handed out. */
export interface FuelPlan {
  /** Fuel per slice; without it the instance keeps what it starts with. */
  readonly slice?: bigint
  /** The guest is stopped at the first check at which it has taken more. */
  readonly limit?: bigint
  /** Depth allowance in estimated bytes; without it the instance keeps what it starts with. */
  readonly depth?: number
}

/** One instance of a metered module with its fuel. */
export class MeteredRun {
  readonly #slice: bigint
  readonly #limit: bigint
  readonly #depth: number | undefined
  /** Fuel of slices that are used up. */
  #settled = 0n
  /** What the counter held when it was last set. */
  #allotted = INITIAL_FUEL
  #guest: Guest | undefined
  /** Why the guest was stopped. */
  stopped: StopReason | undefined
  /** How often the guest asked for fuel. */
  refills = 0

  constructor({ slice = INITIAL_FUEL, limit = INITIAL_FUEL, depth }: FuelPlan = {}) {
    this.#slice = slice
    this.#limit = limit
    this.#depth = depth
  }

  /** Instantiates; the start function runs on the fuel that a fresh instance has. */
  open(
    wasm: Uint8Array<ArrayBuffer>,
    createImports: ImportFactory,
    openGuest: OpenGuest = openEngineGuest,
  ): Guest {
    const guest = openGuest(wasm, (host, get) => this.#withRefill(createImports(host, get)))
    this.#guest = guest
    this.#settled = this.spent(guest)
    this.#allotted = this.#nextSlice()
    guest.writeGlobal(FUEL_EXPORT, this.#allotted)
    if (this.#depth !== undefined) guest.writeGlobal(DEPTH_EXPORT, this.#depth)
    return guest
  }

  /** Fuel taken so far; exact whenever no code of the guest runs. */
  spent(guest: Guest): bigint {
    if (this.stopped !== undefined) return this.#settled
    return this.#settled + this.#allotted - (guest.readGlobal(FUEL_EXPORT) as bigint)
  }

  /** What is left of the depth allowance. */
  depthLeft(guest: Guest): number {
    return guest.readGlobal(DEPTH_EXPORT) as number
  }

  #withRefill(imports: HostImports): HostImports {
    return { ...imports, [METER_NAMESPACE]: { [REFILL_IMPORT]: (kind: number) => this.#refill(kind) } }
  }

  #nextSlice(): bigint {
    const rest = this.#limit - this.#settled
    return rest < this.#slice ? rest : this.#slice
  }

  #refill(kind: number): bigint {
    this.refills += 1
    const guest = this.#guest
    if (guest === undefined) return INITIAL_FUEL
    this.#settled = this.spent(guest)
    this.#allotted = 0n
    if (kind === REFILL_DEPTH) this.stopped ??= 'depth'
    else if (this.#settled > this.#limit) this.stopped ??= 'fuel'
    if (this.stopped !== undefined) return -1n
    this.#allotted = this.#nextSlice()
    return this.#allotted
  }
}
