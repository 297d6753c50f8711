/**
 * What one grant has used up, and what it may still use.
 *
 * Invariants
 * 1. `reserve` takes everything that a call needs, here and in what the grant shares with others, or nothing.
 * 2. Nothing is ever given back: a call that fails afterwards has been counted all the same.
 */
import type { AccountState } from './account-state.ts'
import type { Allowance, Shortfall } from './allowance.ts'
import type { Cost } from './capability.ts'
import type { GrantRule } from './grant.ts'
import { RateWindow } from './rate-window.ts'

/** Why a call could not be reserved. */
export type Shortage =
  | { readonly kind: 'calls' | 'bytes' }
  | { readonly kind: 'unit'; readonly unit: string }
  | { readonly kind: 'rate'; readonly retryAfterMs: number }
  | { readonly kind: 'shared'; readonly shortfall: Shortfall }

/** Counters of one grant. Plain fields, because the sync path reads and writes them at every call. */
export class Account {
  calls = 0
  bytesOut = 0
  bytesIn = 0
  readonly callsLimit: number
  readonly bytesOutLimit: number
  readonly bytesInLimit: number
  readonly rate: RateWindow | undefined
  readonly #name: string
  readonly #within: Allowance | undefined
  readonly #units = new Map<string, number>()
  readonly #unitLimits: ReadonlyMap<string, number>

  constructor(rule: GrantRule) {
    this.#name = typeof rule.capability === 'string' ? rule.capability : rule.capability.name
    this.#within = rule.within
    this.callsLimit = rule.calls ?? Number.POSITIVE_INFINITY
    this.bytesOutLimit = rule.bytesOut ?? Number.POSITIVE_INFINITY
    this.bytesInLimit = rule.bytesIn ?? Number.POSITIVE_INFINITY
    this.rate = rule.rate && new RateWindow(rule.rate.calls, rule.rate.perMs)
    this.#unitLimits = new Map(Object.entries(rule.budgets ?? {}))
  }

  /**
   * Takes one call, its argument bytes and its cost at once. `nowMs` is monotonic.
   * @param call its id in its guest
   */
  reserve(bytesOut: number, cost: Cost | undefined, nowMs: number, call: number = 0): Shortage | undefined {
    const shortage = this.#shortage(bytesOut, cost, nowMs)
    if (shortage !== undefined) return shortage
    const shortfall = this.#within?.reserve({ capability: this.#name, call, bytesOut, cost })
    if (shortfall !== undefined) return { kind: 'shared', shortfall }
    this.rate?.take(nowMs)
    this.calls += 1
    this.bytesOut += bytesOut
    if (cost !== undefined)
      for (const [unit, amount] of Object.entries(cost))
        this.#units.set(unit, (this.#units.get(unit) ?? 0) + amount)
    return undefined
  }

  /** What `reserve` would say now, with nothing taken. */
  lacks(bytesOut: number, cost: Cost | undefined, nowMs: number, call: number): Shortage | undefined {
    const shortage = this.#shortage(bytesOut, cost, nowMs)
    if (shortage !== undefined) return shortage
    const shortfall = this.#within?.lacks?.({ capability: this.#name, call, bytesOut, cost })
    return shortfall && { kind: 'shared', shortfall }
  }

  #shortage(bytesOut: number, cost: Cost | undefined, nowMs: number): Shortage | undefined {
    if (this.calls >= this.callsLimit) return { kind: 'calls' }
    if (this.bytesOut + bytesOut > this.bytesOutLimit) return { kind: 'bytes' }
    const amounts = cost === undefined ? undefined : Object.entries(cost)
    if (amounts !== undefined) {
      for (const [unit, amount] of amounts) {
        const limit = this.#unitLimits.get(unit)
        if (limit !== undefined && (this.#units.get(unit) ?? 0) + amount > limit)
          return { kind: 'unit', unit }
      }
    }
    if (this.rate !== undefined) {
      const retryAfterMs = this.rate.waitMs(nowMs)
      if (retryAfterMs > 0) return { kind: 'rate', retryAfterMs: Math.ceil(retryAfterMs) }
    }
    return undefined
  }

  /** Takes result bytes. False, with nothing taken, when they do not fit any more. */
  receive(bytes: number, call: number = 0): boolean {
    if (this.bytesIn + bytes > this.bytesInLimit) return false
    if (this.#within?.receive({ capability: this.#name, call, bytes }) === false) return false
    this.bytesIn += bytes
    return true
  }

  snapshot(nowMs: number): AccountState {
    return {
      calls: this.calls,
      bytesOut: this.bytesOut,
      bytesIn: this.bytesIn,
      units: Object.fromEntries(this.#units),
      rateAgesMs: this.rate?.ages(nowMs) ?? [],
    }
  }

  /** Goes on with what an earlier life of the guest had used, and tells whom it shares with. */
  resume(state: AccountState, nowMs: number): void {
    this.restore(state, nowMs)
    this.#within?.resumed?.(this.#name, state)
  }

  restore(state: AccountState, nowMs: number): void {
    this.calls = state.calls
    this.bytesOut = state.bytesOut
    this.bytesIn = state.bytesIn
    this.#units.clear()
    for (const [unit, amount] of Object.entries(state.units)) this.#units.set(unit, amount)
    this.rate?.restore(state.rateAgesMs, nowMs)
  }
}
