/** Sums of what was used up. */
import type { Used } from './run-event.ts'

/** Parts that are summed up; `wallMs` of a budget runs from the start and is no sum. */
export const USED_PARTS = ['fuel', 'calls', 'steps', 'activeMs', 'bytes'] as const

/** What was used before and now. */
export function addUsed(sum: Used, more: Used): Used {
  const units = new Map(Object.entries(sum.units ?? {}))
  for (const [unit, amount] of Object.entries(more.units ?? {}))
    units.set(unit, (units.get(unit) ?? 0) + amount)
  const parts = USED_PARTS.map((part) => [part, (sum[part] ?? 0) + (more[part] ?? 0)] as const)
  return {
    ...Object.fromEntries(parts.filter(([, amount]) => amount !== 0)),
    ...(units.size > 0 && { units: Object.fromEntries(units) }),
  }
}

/** What is used less, where something that was set apart is given back. */
export function negated(used: Used): Used {
  const parts = USED_PARTS.map((part) => [part, -(used[part] ?? 0)] as const)
  const units = Object.entries(used.units ?? {}).map(([unit, amount]) => [unit, -amount] as const)
  return { ...Object.fromEntries(parts), ...(units.length > 0 && { units: Object.fromEntries(units) }) }
}
