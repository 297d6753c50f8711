/**
 * What several requests come to together: for whoever decides over an action list. One large right that is split into
 * many small calls is shown as what it is.
 */
import type { Effect } from './capability.ts'
import type { PersonRequest } from './person-request.ts'

/** Sums over requests. */
export interface RequestAggregate {
  readonly requests: number
  /** How many calls of each capability, by its name. */
  readonly actions: Readonly<Record<string, number>>
  /** How many calls have which effect. */
  readonly effects: Readonly<Partial<Record<Effect, number>>>
  /** What all of them cost together, by units. */
  readonly cost: Readonly<Record<string, number>>
  /** Calls of capabilities that do not say what they cost. */
  readonly withoutCost: number
}

/** Questions and values that are asked for count as requests, and as nothing else. */
export function aggregateOf(
  requests: readonly Pick<PersonRequest, 'kind' | 'action' | 'effect' | 'cost'>[],
): RequestAggregate {
  const actions = new Map<string, number>()
  const effects = new Map<Effect, number>()
  const cost = new Map<string, number>()
  let withoutCost = 0
  for (const request of requests) {
    if (request.kind !== 'call') continue
    add(actions, request.action ?? '', 1)
    if (request.effect !== undefined) add(effects, request.effect, 1)
    if (request.cost === undefined) withoutCost += 1
    for (const [unit, amount] of Object.entries(request.cost ?? {})) add(cost, unit, amount)
  }
  return {
    requests: requests.length,
    actions: Object.fromEntries(actions),
    effects: Object.fromEntries(effects),
    cost: Object.fromEntries(cost),
    withoutCost,
  }
}

function add<Key>(sums: Map<Key, number>, key: Key, amount: number): void {
  sums.set(key, (sums.get(key) ?? 0) + amount)
}
