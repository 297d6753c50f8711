/**
 * What was taken of every right of a plan: a fold over the events of its run, so that no process begins to count anew.
 *
 * Invariants
 * 1. What a call takes counts at every place around it that has conditions on its capability, up to the plan.
 * 2. Nothing is ever taken back.
 */
import type { Plan, PlanGrantRule } from '../plan/plan.ts'
import { rightsAt } from '../plan/rights-at.ts'
import type { GrantUsed, Used } from './run-event.ts'
import { addGrantUsed } from './used.ts'

interface GrantUse {
  used: GrantUsed
  /** When the newest calls were made, as far as the rate of the right looks back: milliseconds since the epoch. */
  readonly times: number[]
}

const NOTHING: GrantUsed = {}

/** What was taken of one right: of the capability, at the place. */
export interface GrantTaken {
  readonly place: string
  readonly capability: string
  readonly used: GrantUsed
  readonly times: readonly number[]
}

export class GrantBook {
  readonly #plan: Plan
  readonly #uses = new Map<string, GrantUse>()

  constructor(plan: Plan) {
    this.#plan = plan
  }

  /**
   * @param path of the node, with `#undo` at its end where it is undone
   * @param timeMs when it was written down: calls of programs count as if they were made then
   */
  note(path: string, by: NonNullable<Used['by']>, timeMs: number): void {
    for (const { place, rules } of rightsAt(this.#plan, path)) {
      for (const [capability, used] of Object.entries(by)) {
        const rule = rules.get(capability)
        if (rule === undefined || !isCounted(rule)) continue
        const key = keyOf(place, capability)
        const use = this.#uses.get(key) ?? { used: NOTHING, times: [] }
        use.used = addGrantUsed(use.used, used)
        this.#uses.set(key, use)
        if (rule.rate === undefined) continue
        const most = rule.rate.calls
        for (let i = Math.min(used.calls ?? 0, most); i > 0; i -= 1) use.times.push(timeMs)
        if (use.times.length > 2 * most) use.times.splice(0, use.times.length - most)
      }
    }
  }

  /** All of it, in the order in which each right was first used. */
  get taken(): readonly GrantTaken[] {
    return [...this.#uses].map(([key, { used, times }]) => {
      const [place = '', capability = ''] = key.split('\n')
      return { place, capability, used, times: [...times] }
    })
  }

  recall(taken: readonly GrantTaken[]): void {
    this.#uses.clear()
    for (const { place, capability, used, times } of taken)
      this.#uses.set(keyOf(place, capability), { used, times: [...times] })
  }

  used(place: string, capability: string): GrantUsed {
    return this.#uses.get(keyOf(place, capability))?.used ?? NOTHING
  }

  times(place: string, capability: string): readonly number[] {
    return this.#uses.get(keyOf(place, capability))?.times ?? []
  }
}

/** Whether a right has a condition that is counted over all calls. */
export function isCounted({ calls, bytesIn, bytesOut, rate, budgets }: PlanGrantRule): boolean {
  return (
    calls !== undefined ||
    bytesIn !== undefined ||
    bytesOut !== undefined ||
    rate !== undefined ||
    budgets !== undefined
  )
}

function keyOf(place: string, capability: string): string {
  return `${place}\n${capability}`
}
