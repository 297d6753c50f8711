/**
 * The ledger: what all grants of a run have used up. It belongs to the host and outlives guests, so that a
 * restored guest goes on with the budgets it had (never with those of a snapshot's bytes).
 *
 * Invariants
 * 1. A name's account is made once; opening it again continues it.
 * 2. `restore(snapshot())` changes nothing, also for names that are not open at the time.
 */
import { CaissonError } from '../base/errors.ts'
import { Account } from './account.ts'
import type { AccountState } from './account-state.ts'
import type { GrantRule } from './grant.ts'
import { isLoopGuardState, LoopGuard, type LoopGuardRule, type LoopGuardState } from './loop-guard.ts'

/** A ledger as plain JSON data. */
export interface LedgerState {
  readonly version: 1
  readonly accounts: Readonly<Record<string, AccountState>>
  /** What its loop guard knows. Left out where nothing repeats itself, and by builds that had none. */
  readonly loops?: LoopGuardState
}

export class Ledger {
  readonly #open = new Map<string, Account>()
  /** States that were restored and whose grant is not open (yet). */
  readonly #parked = new Map<string, AccountState>()
  #loops: LoopGuard | undefined
  #parkedLoops: LoopGuardState | undefined

  /** The account of a grant. Opening it under a changed rule keeps what was used and applies the new limits. */
  open(name: string, rule: GrantRule, nowMs: number): Account {
    const open = this.#open.get(name)
    const parked = this.#parked.get(name)
    const account = new Account(rule)
    if (open !== undefined) account.restore(open.snapshot(nowMs), nowMs)
    else if (parked !== undefined) account.resume(parked, nowMs)
    this.#parked.delete(name)
    this.#open.set(name, account)
    return account
  }

  /** The loop guard of the guest. Opened under another rule it goes on with what it knows. */
  openLoops(rule: LoopGuardRule): LoopGuard {
    const before = this.#loops?.snapshot() ?? this.#parkedLoops
    this.#loops = new LoopGuard(rule)
    if (before !== undefined) this.#loops.restore(before)
    this.#parkedLoops = undefined
    return this.#loops
  }

  /** `nowMs` is monotonic. */
  snapshot(nowMs: number): LedgerState {
    const accounts: Record<string, AccountState> = Object.fromEntries(this.#parked)
    for (const [name, account] of this.#open) accounts[name] = account.snapshot(nowMs)
    const loops = this.#loops === undefined ? this.#parkedLoops : this.#loops.snapshot()
    return { version: 1, accounts, ...(loops && { loops }) }
  }

  /**
   * Puts a snapshot back; call it before any call is made.
   * @throws CaissonError `corrupted` when `state` is not what `snapshot` gives; nothing is changed then
   */
  restore(state: LedgerState, nowMs: number): void {
    if (state?.version !== 1 || !isRecord(state.accounts)) refuse('it is not a ledger of version 1')
    const entries = Object.entries(state.accounts)
    for (const [name, account] of entries) checkAccount(name, account)
    if (state.loops !== undefined && !isLoopGuardState(state.loops))
      refuse('what its loop guard knows is nothing of the kind')
    for (const [name, account] of entries) {
      const open = this.#open.get(name)
      if (open !== undefined) open.resume(account, nowMs)
      else this.#parked.set(name, account)
    }
    if (this.#loops !== undefined) this.#loops.restore(state.loops ?? {})
    else this.#parkedLoops = state.loops
  }
}

function checkAccount(name: string, state: unknown): void {
  if (!isRecord(state)) refuse(`the account of "${name.slice(0, 80)}" is not an object`)
  const amounts = [state.calls, state.bytesOut, state.bytesIn]
  if (!isRecord(state.units) || !Array.isArray(state.rateAgesMs)) {
    refuse(`the account of "${name.slice(0, 80)}" lacks fields`)
  }
  for (const amount of [...amounts, ...Object.values(state.units), ...state.rateAgesMs]) {
    if (typeof amount !== 'number' || !(amount >= 0 && amount < Number.POSITIVE_INFINITY)) {
      refuse(`the account of "${name.slice(0, 80)}" holds an impossible amount`)
    }
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function refuse(problem: string): never {
  throw new CaissonError('corrupted', `The ledger cannot be restored: ${problem}.`)
}
