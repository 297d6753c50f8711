/**
 * What is left for the parts of a run: a node can only spend what everything around it has left.
 *
 * Invariants
 * 1. What is used counts for the node and for all that is around it, up to the run.
 * 2. What work under way may use is set apart before it begins: two that run at once share what is left.
 * 3. Nothing resets what was used: it stands in the journal.
 * 4. What a person allows on top counts for every budget, and that of the plan is around them all.
 */
import type { Limits } from '../../machine/limits.ts'
import { amountOf } from '../plan/budget-share.ts'
import type { Budget } from '../plan/plan.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import type { GrantUsed, Used } from './run-event.ts'
import type { RunState } from './run-state.ts'
import { addGrantUsed, addUsed, negated, USED_PARTS } from './used.ts'

/** What is left; a part that is not there is not bounded. */
export type Left = Used

/** What is set apart for work that is under way. */
export class Reserve {
  #run: Used = {}
  readonly #nodes = new Map<string, Used>()
  /** Of rights, by places and capabilities. */
  readonly #rights = new Map<string, GrantUsed>()
  #waiting: (() => void)[] = []

  /**
   * @param places at which the node's rights are granted: what is set apart of them
   * @returns what gives it back
   */
  take(node: NodeState, used: Used, places: readonly string[] = []): () => void {
    this.#add(node, used, places)
    return () => {
      this.#add(node, negated(used), places)
      const waiting = this.#waiting
      this.#waiting = []
      for (const goOn of waiting) goOn()
    }
  }

  /** Resolves when something is given back, or the signal is raised. */
  freed(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting.push(resolve)
      signal.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** For a node and all in it; without one, for the run. */
  of(path: string | undefined): Used {
    return path === undefined ? this.#run : (this.#nodes.get(path) ?? {})
  }

  /** Of a right. */
  ofRight(place: string, capability: string): GrantUsed {
    return this.#rights.get(`${place}\n${capability}`) ?? {}
  }

  #add(node: NodeState, { by, ...used }: Used, places: readonly string[]): void {
    this.#run = addUsed(this.#run, used)
    for (let at: NodeState | undefined = node; at !== undefined; at = at.scope.owner) {
      const sum = addUsed(this.of(at.path), used)
      if (Object.keys(sum).length > 0) this.#nodes.set(at.path, sum)
      else this.#nodes.delete(at.path)
    }
    if (by === undefined) return
    for (const place of places) {
      for (const [capability, taken] of Object.entries(by)) {
        const key = `${place}\n${capability}`
        this.#rights.set(key, addGrantUsed(this.#rights.get(key) ?? {}, taken))
      }
    }
  }
}

/** Where only what is in the journal counts. */
export const NOTHING_RESERVED: Reserve = new Reserve()

/** What the nodes of a scope may still use, by everything around them. */
export function leftIn(state: RunState, scope: ScopeState, reserve: Reserve): Left {
  const { budget } = state.plan
  // Most things have no budget: nothing is summed up for them.
  if (!isBoundedIn(state, scope)) return {}
  const allowed = negated(state.more)
  let left: Left =
    budget === undefined ? {} : minus(budget, addUsed(addUsed(state.used, reserve.of(undefined)), allowed))
  for (let at = scope.owner; at !== undefined; at = at.scope.owner) {
    const within = at.node.kind === 'plan' ? at.node.plan.budget : undefined
    if (at.node.budget === undefined && within === undefined) continue
    const used = addUsed(addUsed(at.used, reserve.of(at.path)), allowed)
    left = least(least(left, minus(at.node.budget, used)), minus(within, used))
  }
  return left
}

/** Whether a budget around the nodes of a scope bounds them. */
function isBoundedIn({ plan }: RunState, { owner }: ScopeState): boolean {
  if (plan.budget !== undefined) return true
  for (let at = owner; at !== undefined; at = at.scope.owner)
    if (at.node.budget !== undefined || (at.node.kind === 'plan' && at.node.plan.budget !== undefined))
      return true
  return false
}

/** Whether a node has a budget, or something around it has. */
export function isBounded(state: RunState, { node, scope }: NodeState): boolean {
  return node.budget !== undefined || isBoundedIn(state, scope)
}

/** What a node may still use, by its own budget too. */
export function leftFor(state: RunState, node: NodeState, reserve: Reserve): Left {
  const around = leftIn(state, node.scope, reserve)
  if (node.node.budget === undefined) return around
  const used = addUsed(addUsed(node.used, reserve.of(node.path)), negated(state.more))
  return least(around, minus(node.node.budget, used))
}

/** The first of these parts that is used up, if one is. */
export function usedUp(left: Left, parts: readonly string[]): string | undefined {
  return USED_PARTS.find((part) => parts.includes(part) && (left[part] ?? 1) <= 0)
}

/** Limits of a program within what is left. Its calls are counted one by one, where they are made. */
export function limitsWithin(limits: Limits, left: Left): Limits {
  const within = (most: number, part: number | undefined): number =>
    part === undefined ? most : Math.max(1, Math.min(most, Math.floor(part)))
  // Both ways together have one budget.
  const share = limits.bytesIn / Math.max(1, limits.bytesIn + limits.bytesOut)
  const bytes = left.bytes === undefined ? undefined : Math.floor(left.bytes)
  const bytesIn = bytes === undefined ? limits.bytesIn : within(limits.bytesIn, bytes * share)
  return {
    ...limits,
    fuel: within(limits.fuel, left.fuel),
    wallMs: within(limits.wallMs, left.activeMs),
    bytesIn,
    bytesOut: bytes === undefined ? limits.bytesOut : Math.max(0, Math.min(limits.bytesOut, bytes - bytesIn)),
  }
}

/** When the wall time of a run is over, milliseconds since the epoch. */
export function wallEndMs({ plan, startedAtMs, more }: RunState): number | undefined {
  const { wallMs } = plan.budget ?? {}
  return wallMs === undefined || startedAtMs === undefined
    ? undefined
    : startedAtMs + wallMs + (more.wallMs ?? 0)
}

function minus(budget: Budget | undefined, used: Used): Left {
  if (budget === undefined) return {}
  const units = Object.entries(budget.units ?? {}).map(
    ([unit, amount]) => [unit, amount - (amountOf(used.units, unit) ?? 0)] as const,
  )
  const parts = USED_PARTS.flatMap((part) => {
    const most = budget[part]
    return most === undefined ? [] : [[part, most - (used[part] ?? 0)] as const]
  })
  return { ...Object.fromEntries(parts), ...(units.length > 0 && { units: Object.fromEntries(units) }) }
}

function least(a: Left, b: Left): Left {
  const units = new Map(Object.entries(a.units ?? {}))
  for (const [unit, amount] of Object.entries(b.units ?? {}))
    units.set(unit, Math.min(amount, units.get(unit) ?? amount))
  const parts = USED_PARTS.flatMap((part) => {
    const amounts = [a[part], b[part]].filter((amount) => amount !== undefined)
    return amounts.length === 0 ? [] : [[part, Math.min(...amounts)] as const]
  })
  return { ...Object.fromEntries(parts), ...(units.size > 0 && { units: Object.fromEntries(units) }) }
}
