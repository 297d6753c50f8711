/** Stage: take the call, its bytes, its cost and its place in the rate window, all or nothing. Never given back. */

import type { Shortage } from '../account.ts'
import { Refusal } from '../call.ts'
import type { Cost } from '../capability.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse, shortName } from './refuse.ts'

/** Units that one call may cost; more is a mistake. */
const MAX_UNITS = 16

/** Undefined when reserved. */
export function reserve(
  passage: Passage,
  final: FinalValue,
  bytesOut: number,
  callId: number,
  parts: GateParts,
): Refusal | undefined {
  const cost = costOf(passage, final, callId, parts)
  if (cost instanceof Refusal) return cost
  const shortage = passage.account.reserve(bytesOut, cost, parts.clock.monotonic(), callId)
  return shortage && refuseShort(passage, shortage)
}

/** What `reserve` would refuse now, or what the call would cost. Nothing is taken. */
export function wouldReserve(
  passage: Passage,
  final: FinalValue,
  bytesOut: number,
  callId: number,
  parts: GateParts,
): Refusal | { readonly cost: Cost | undefined } {
  const cost = costOf(passage, final, callId, parts)
  if (cost instanceof Refusal) return cost
  const shortage = passage.account.lacks(bytesOut, cost, parts.clock.monotonic(), callId)
  return shortage === undefined ? { cost } : refuseShort(passage, shortage)
}

function costOf(
  { name, capability }: Passage,
  final: FinalValue,
  callId: number,
  parts: GateParts,
): Cost | undefined | Refusal {
  if (capability.cost === undefined) return undefined
  try {
    return checkCost(capability.cost(final.view()))
  } catch (cause) {
    // Fails closed: a call of unknown cost is not made.
    parts.report({ callId, capability: name, code: 'capability_failed', cause })
    return refuse('capability_failed', `The cost of this call of "${name}" could not be told.`)
  }
}

function refuseShort({ name, account }: Passage, shortage: Shortage): Refusal {
  switch (shortage.kind) {
    case 'shared': {
      const { code, message, details } = shortage.shortfall
      return refuse(code, message, details)
    }
    case 'rate':
      return refuse(
        'rate_limited',
        `Too many calls of "${name}"; try again in ${shortage.retryAfterMs} ms.`,
        {
          retryAfterMs: shortage.retryAfterMs,
        },
      )
    case 'unit':
      return refuse(
        'budget_exhausted',
        `The budget "${shortName(shortage.unit)}" for "${name}" is used up.`,
        {
          unit: shortage.unit,
        },
      )
    case 'calls':
      return refuse('budget_exhausted', callsUsedUp(name, account.callsLimit), {
        unit: 'calls',
      })
    case 'bytes':
      return refuse(
        'budget_exhausted',
        `The ${account.bytesOutLimit} bytes of arguments for "${name}" are used up.`,
        {
          unit: 'bytesOut',
        },
      )
  }
}

function checkCost(cost: unknown): Cost {
  if (typeof cost !== 'object' || cost === null)
    throw new TypeError('A cost is an object of numbers by unit.')
  const units = Object.entries(cost)
  if (units.length > MAX_UNITS) throw new RangeError(`A cost has at most ${MAX_UNITS} units.`)
  for (const [unit, amount] of units) {
    if (typeof amount !== 'number' || !(amount >= 0 && amount < Number.POSITIVE_INFINITY)) {
      throw new RangeError(`The cost in "${unit.slice(0, 80)}" is not a finite number from 0.`)
    }
  }
  return Object.fromEntries(units)
}

function callsUsedUp(name: string, limit: number): string {
  return limit === 1
    ? `The one call of "${name}" is used up.`
    : `All ${limit} calls of "${name}" are used up.`
}
