/** Sums of what was used up. */
import type { GrantUsed, Used } from './run-event.ts'

/** Parts that are summed up; `wallMs` of a budget runs from the start and is no sum. */
export const USED_PARTS = ['fuel', 'calls', 'steps', 'activeMs', 'bytes'] as const

type Sum = { -readonly [Part in keyof Used]: Used[Part] }

/** What was used before and now. */
export function addUsed(sum: Used, more: Used): Used {
  if (isNothing(sum)) return more
  // Part by part: several sums are made for every event, and names that are looked up cost five times as much.
  const total: Sum = {}
  const fuel = (sum.fuel ?? 0) + (more.fuel ?? 0)
  if (fuel !== 0) total.fuel = fuel
  const calls = (sum.calls ?? 0) + (more.calls ?? 0)
  if (calls !== 0) total.calls = calls
  const steps = (sum.steps ?? 0) + (more.steps ?? 0)
  if (steps !== 0) total.steps = steps
  const activeMs = (sum.activeMs ?? 0) + (more.activeMs ?? 0)
  if (activeMs !== 0) total.activeMs = activeMs
  const bytes = (sum.bytes ?? 0) + (more.bytes ?? 0)
  if (bytes !== 0) total.bytes = bytes
  const units = addUnits(sum.units, more.units)
  if (units !== undefined) total.units = units
  const by = addBy(sum.by, more.by)
  if (by !== undefined) total.by = by
  return total
}

/** One more of a part: what every attempt and every call is. */
export function oneMore(sum: Used, part: 'steps' | 'calls'): Used {
  return part === 'steps' ? { ...sum, steps: (sum.steps ?? 0) + 1 } : { ...sum, calls: (sum.calls ?? 0) + 1 }
}

/** Whether it says nothing. */
export function isNothing(used: Used): boolean {
  for (const _ in used) return false
  return true
}

/** What calls of a capability took before and now. */
export function addGrantUsed(sum: GrantUsed, more: GrantUsed): GrantUsed {
  const total: { -readonly [Part in keyof GrantUsed]: GrantUsed[Part] } = {}
  for (const part of GRANT_PARTS) {
    const amount = (sum[part] ?? 0) + (more[part] ?? 0)
    if (amount !== 0) total[part] = amount
  }
  const units = addUnits(sum.units, more.units)
  if (units !== undefined) total.units = units
  return total
}

/** Parts of what a call takes of a grant that are summed up. */
const GRANT_PARTS = ['calls', 'bytesIn', 'bytesOut'] as const

function addUnits(sum: Used['units'], more: Used['units']): Used['units'] {
  if (sum === undefined || more === undefined) return sum ?? more
  const units = new Map(Object.entries(sum))
  for (const [unit, amount] of Object.entries(more)) units.set(unit, (units.get(unit) ?? 0) + amount)
  return Object.fromEntries(units)
}

function addBy(sum: Used['by'], more: Used['by']): Used['by'] {
  if (sum === undefined || more === undefined) return sum ?? more
  const by = new Map(Object.entries(sum))
  for (const [name, used] of Object.entries(more)) by.set(name, addGrantUsed(by.get(name) ?? {}, used))
  return Object.fromEntries(by)
}

/** What is used less, where something that was set apart is given back. */
export function negated(used: Used): Used {
  const negative: Sum = {}
  for (const part of USED_PARTS) {
    const amount = used[part] ?? 0
    if (amount !== 0) negative[part] = -amount
  }
  const units = negatedUnits(used.units)
  if (units !== undefined) negative.units = units
  const by = Object.entries(used.by ?? {}).map(([name, { units: own, ...parts }]) => {
    const less = Object.entries(parts).map(([part, amount]) => [part, -amount] as const)
    const lessUnits = negatedUnits(own)
    return [name, { ...Object.fromEntries(less), ...(lessUnits && { units: lessUnits }) }] as const
  })
  if (by.length > 0) negative.by = Object.fromEntries(by)
  return negative
}

function negatedUnits(units: Used['units']): Used['units'] {
  if (units === undefined) return undefined
  return Object.fromEntries(Object.entries(units).map(([unit, amount]) => [unit, -amount]))
}
