/**
 * What one node's calls take: asked at every call, in the middle of the gate, and of everything around the node at once.
 *
 * Invariants
 * 1. A call is let in only if every right and every budget around its node has what it takes, down from the plan; then
 *    it is set apart at all of them, and nobody else can take it.
 * 2. What was taken is given back only into the journal: an event says it, and from then on the journal counts it.
 * 3. A program that an earlier process began has what it took in it: that is taken before anybody else takes anything.
 * 4. Where nothing around a node bounds it, nothing is set apart; what it took is counted all the same. Of calls of nodes
 *    what counts at no right is not told: by rights.
 * 5. That a budget around it is used up is no end of a node: it stands still before the call, and can go on with more.
 */
import type { AccountState } from '../../capability/account-state.ts'
import type { Allowance, Shortfall, Taking } from '../../capability/allowance.ts'
import { RateWindow } from '../../capability/rate-window.ts'
import { amountOf } from '../plan/budget-share.ts'
import type { PlanGrantRule } from '../plan/plan.ts'
import { type Rights, rightsAt } from '../plan/rights-at.ts'
import { isBounded, leftFor, type Reserve } from './budgets.ts'
import { isCounted } from './grant-book.ts'
import type { NodeState } from './node-state.ts'
import type { GrantUsed, Used } from './run-event.ts'
import type { RunState } from './run-state.ts'
import { addGrantUsed, addUsed, isNothing } from './used.ts'

/** What purses of one runner have in common. */
export interface PurseRun {
  readonly state: RunState
  readonly reserve: Reserve
  /** Calls of rights with rates, by places and capabilities. */
  readonly rates: Map<string, RateWindow>
  /** Milliseconds since the epoch, never going back. */
  now(): number
}

export interface PurseOptions {
  /** Of a call node: its bytes count for budgets. Those of programs are counted with all that goes in and out of them. */
  readonly ofCall?: boolean
  /** What the journal has of the attempt already. */
  readonly counted?: Used
  /** Told when a call is not let in because a budget around the node is used up. */
  readonly onShort?: () => void
}

const PARTS = ['calls', 'bytesIn', 'bytesOut'] as const

const NOTHING: GrantUsed = {}
const UNCOUNTED: readonly (readonly [Rights, PlanGrantRule])[] = []

export class Purse implements Allowance {
  /** The part of a budget that was not there when it was needed. */
  short: string | undefined
  readonly #run: PurseRun
  readonly #node: NodeState
  readonly #rights: readonly Rights[]
  readonly #options: PurseOptions
  /** Whether a budget around the node bounds it. */
  readonly #bounded: boolean
  /** Taken, and in no event so far. */
  #held: Used = {}
  #giveBack: (() => void)[] = []
  #counted: Used

  /** @param path of the node, with `#undo` at its end where it is undone */
  constructor(run: PurseRun, node: NodeState, path: string, options: PurseOptions = {}) {
    this.#run = run
    this.#node = node
    this.#rights = rightsAt(run.state.plan, path)
    this.#options = options
    this.#bounded = isBounded(run.state, node)
    this.#counted = options.counted ?? {}
  }

  reserve(taking: Taking): Shortfall | undefined {
    const shortfall = this.lacks(taking)
    if (shortfall !== undefined) return shortfall
    const { capability, bytesOut } = taking
    for (const [{ place }, rule] of this.#rulesFor(capability))
      this.#rateOf(place, capability, rule)?.take(this.#run.now())
    this.#take(capability, takenBy(taking), this.#options.ofCall === true ? bytesOut : 0)
    return undefined
  }

  lacks(taking: Taking): Shortfall | undefined {
    const { capability } = taking
    const taken = takenBy(taking)
    for (const [{ place }, rule] of this.#rulesFor(capability)) {
      const missing = this.#missing(place, capability, rule, taken)
      if (missing !== undefined) return missing
    }
    const part = this.#missingOfBudgets(taken)
    if (part !== undefined) {
      this.short = part
      this.#options.onShort?.()
      return {
        code: 'budget_exhausted',
        message: `The budget for ${part} is used up.`,
        details: { unit: part },
      }
    }
    return undefined
  }

  receive({ capability, bytes }: { readonly capability: string; readonly bytes: number }): boolean {
    for (const [{ place }, { bytesIn }] of this.#rulesFor(capability)) {
      if (bytesIn !== undefined && (this.#used(place, capability).bytesIn ?? 0) + bytes > bytesIn)
        return false
    }
    const counts = this.#options.ofCall === true && this.#isOfNode(capability)
    if (counts && this.#bounded && bytes > (this.#left().bytes ?? Number.POSITIVE_INFINITY)) return false
    this.#take(capability, { bytesIn: bytes }, counts ? bytes : 0)
    return true
  }

  resumed(capability: string, account: AccountState): void {
    this.recall({ [capability]: account })
  }

  /** Takes what earlier lives of the attempt took, as far as it is not taken or counted already. */
  recall(by: NonNullable<Used['by']>): void {
    for (const [capability, total] of Object.entries(by)) {
      const known = addGrantUsed(
        ofCapability(this.#held, capability),
        ofCapability(this.#counted, capability),
      )
      const more = beyond(total, known)
      if (Object.keys(more).length === 0) continue
      for (const [{ place }, rule] of this.#rulesFor(capability)) {
        const window = this.#rateOf(place, capability, rule)
        for (let i = Math.min(more.calls ?? 0, rule.rate?.calls ?? 0); i > 0; i -= 1)
          window?.take(this.#run.now())
      }
      this.#take(capability, more, 0)
    }
  }

  /** What was taken since the last time: for the event that says so, before which nothing else may happen. */
  spent(): Used {
    const held = this.#held
    if (isNothing(held)) return held
    this.#held = {}
    // A call is made in one life of its attempt: nobody recalls what it took.
    if (this.#options.ofCall !== true) this.#counted = addUsed(this.#counted, held)
    const giveBack = this.#giveBack
    if (giveBack.length > 0) this.#giveBack = []
    for (const one of giveBack) one()
    return held
  }

  #take(capability: string, { calls, units, ...taken }: GrantUsed, bytes: number): void {
    const amounts: GrantUsed =
      units !== undefined
        ? { ...(calls !== undefined && { calls }), units }
        : calls !== undefined
          ? { calls }
          : NOTHING
    const places = this.#rulesFor(capability).map(([{ place }]) => place)
    const byRight = places.length > 0 || this.#options.ofCall !== true
    const used: Used = {
      ...amounts,
      ...(bytes > 0 && { bytes }),
      ...(byRight && { by: { [capability]: { ...amounts, ...taken } } }),
    }
    this.#held = addUsed(this.#held, used)
    if (this.#bounded || places.length > 0)
      this.#giveBack.push(this.#run.reserve.take(this.#node, used, places))
  }

  #rulesFor(capability: string): readonly (readonly [Rights, PlanGrantRule])[] {
    let counted: (readonly [Rights, PlanGrantRule])[] | undefined
    for (const rights of this.#rights) {
      const rule = rights.rules.get(capability)
      if (rule === undefined || !isCounted(rule)) continue
      counted ??= []
      counted.push([rights, rule])
    }
    return counted ?? UNCOUNTED
  }

  #missing(place: string, capability: string, rule: PlanGrantRule, taken: GrantUsed): Shortfall | undefined {
    const used = this.#used(place, capability)
    for (const part of ['calls', 'bytesOut'] as const) {
      const most = rule[part]
      if (most !== undefined && (used[part] ?? 0) + (taken[part] ?? 0) > most)
        return usedUp(place, capability, part, `${most} ${part === 'calls' ? 'calls' : 'bytes of arguments'}`)
    }
    for (const [unit, amount] of Object.entries(taken.units ?? {})) {
      const most = amountOf(rule.budgets, unit)
      if (most !== undefined && (amountOf(used.units, unit) ?? 0) + amount > most)
        return usedUp(place, capability, unit, `${most} ${unit.slice(0, 80)}`)
    }
    const retryAfterMs = this.#rateOf(place, capability, rule)?.waitMs(this.#run.now()) ?? 0
    if (retryAfterMs <= 0) return undefined
    return {
      code: 'rate_limited',
      message: `Too many calls of "${capability}" ${whereOf(place)}; try again in ${Math.ceil(retryAfterMs)} ms.`,
      details: { retryAfterMs: Math.ceil(retryAfterMs) },
    }
  }

  #missingOfBudgets({ calls = 0, bytesOut = 0, units = {} }: GrantUsed): string | undefined {
    if (!this.#bounded) return undefined
    const left = this.#left()
    if (left.calls !== undefined && left.calls < calls) return 'calls'
    if (this.#options.ofCall === true && left.bytes !== undefined && left.bytes < bytesOut) return 'bytes'
    for (const [unit, amount] of Object.entries(units))
      if ((amountOf(left.units, unit) ?? Number.POSITIVE_INFINITY) < amount) return unit
    return undefined
  }

  #left(): Used {
    return leftFor(this.#run.state, this.#node, this.#run.reserve)
  }

  #used(place: string, capability: string): GrantUsed {
    const { state, reserve } = this.#run
    return addGrantUsed(state.grants.used(place, capability), reserve.ofRight(place, capability))
  }

  #isOfNode(capability: string): boolean {
    const { node } = this.#node
    if (node.kind === 'call' && node.capability === capability) return true
    return (
      'compensate' in node && node.compensate?.kind === 'call' && node.compensate.capability === capability
    )
  }

  #rateOf(place: string, capability: string, { rate }: PlanGrantRule): RateWindow | undefined {
    if (rate === undefined) return undefined
    const key = `${place}\n${capability}`
    const known = this.#run.rates.get(key)
    if (known !== undefined) return known
    const window = new RateWindow(rate.calls, rate.perMs)
    for (const time of this.#run.state.grants.times(place, capability).slice(-rate.calls)) window.take(time)
    this.#run.rates.set(key, window)
    return window
  }
}

function usedUp(place: string, capability: string, unit: string, what: string): Shortfall {
  return {
    code: 'budget_exhausted',
    message: `The ${what} that "${capability}" has ${whereOf(place)} are used up.`,
    details: { unit },
  }
}

function whereOf(place: string): string {
  return place === '' ? 'in the plan' : `at "${place.slice(0, 200)}"`
}

function ofCapability({ by }: Used, capability: string): GrantUsed {
  return by !== undefined && Object.hasOwn(by, capability) ? (by[capability] ?? {}) : {}
}

/** What of a total is more than what is known. */
function beyond(total: GrantUsed, known: GrantUsed): GrantUsed {
  const more: { -readonly [Part in keyof GrantUsed]: GrantUsed[Part] } = {}
  for (const part of PARTS) {
    const amount = (total[part] ?? 0) - (known[part] ?? 0)
    if (amount > 0) more[part] = amount
  }
  const units = Object.entries(total.units ?? {})
    .map(([unit, amount]) => [unit, amount - (amountOf(known.units, unit) ?? 0)] as const)
    .filter(([, amount]) => amount > 0)
  if (units.length > 0) more.units = Object.fromEntries(units)
  return more
}

function takenBy({ bytesOut, cost }: Taking): GrantUsed {
  return { calls: 1, bytesOut, ...(cost !== undefined && { units: cost }) }
}
