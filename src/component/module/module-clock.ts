/**
 * Time as a WASI guest sees it: one logical clock behind all of its clocks.
 *
 * Invariants
 * 1. It moves when the host answers (`advance`), by a microsecond with each read, and by what the guest slept.
 * 2. It never goes back.
 */
import type { WasiClock } from '../../ports/wasi-host.ts'

const NS_PER_MS = 1_000_000
const READ_NS = 1_000n
/** The end of 2247, as for other guests: a guest that sleeps beyond it sleeps until then. */
const LAST_NS: bigint = BigInt(Date.UTC(2248, 0, 1)) * BigInt(NS_PER_MS)

export class ModuleClock implements WasiClock {
  #ns: bigint
  /** What sleeps that nobody waited for have moved it by, in this life of the guest and in earlier ones. */
  skippedNs = 0n

  /** @param nowMs milliseconds since the epoch */
  constructor(nowMs: number) {
    this.#ns = toNs(nowMs)
  }

  wallNs(): bigint {
    const now = this.#ns
    this.#ns += READ_NS
    return now
  }

  monotonicNs(): bigint {
    return this.wallNs()
  }

  position(): bigint {
    return this.#ns
  }

  moveTo(position: bigint): void {
    this.#ns = position
  }

  /** The host's time, when it answers. */
  advance(nowMs: number): void {
    this.reach(toNs(nowMs))
  }

  /** To the end of a sleep that nobody waits for. */
  skip(untilNs: bigint): void {
    const before = this.#ns
    this.reach(untilNs)
    this.skippedNs += this.#ns - before
  }

  /** Not before this time. */
  reach(ns: bigint): void {
    if (ns > this.#ns) this.#ns = ns < LAST_NS ? ns : LAST_NS
  }
}

/** Whole microseconds, which milliseconds with fractions can tell apart. */
function toNs(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n
}

/** The first time in milliseconds, with whole microseconds, that is not before `ns`. */
export function msAt(ns: bigint): number {
  const within = ns < LAST_NS ? ns : LAST_NS
  return Number((within + READ_NS - 1n) / READ_NS) / 1_000
}
