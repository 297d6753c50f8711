/** What is left of a budget, and what was used, for people. */
import { showCount } from '../../base/show-count.ts'
import { BUDGET_PARTS } from '../../graph/plan/budget-share.ts'
import type { Budget } from '../../graph/plan/plan.ts'
import type { Used } from '../../graph/run/run-event.ts'
import { shownText } from '../render/shown-text.ts'
import { showDuration } from '../units/parse-duration.ts'
import { showSize } from '../units/parse-size.ts'

type Part = (typeof BUDGET_PARTS)[number]
type Amounts = Used & { readonly wallMs?: number }

/**
 * What is left of each part that has a bound: `988,000 fuel`, `3 calls`.
 * @param more was allowed on top
 */
export function budgetTexts(
  budget: Budget | undefined,
  used: Amounts,
  more: Amounts = {},
): readonly string[] {
  if (budget === undefined) return []
  const parts = BUDGET_PARTS.flatMap((part) => {
    const most = budget[part]
    if (most === undefined) return []
    return [partText(part, Math.max(0, most + (more[part] ?? 0) - (used[part] ?? 0)))]
  })
  const units = Object.entries(budget.units ?? {}).map(([unit, most]) =>
    unitText(unit, Math.max(0, most + ownAmount(more.units, unit) - ownAmount(used.units, unit))),
  )
  return [...parts, ...units]
}

/** What was used, part by part. */
export function usedTexts(used: Amounts): readonly string[] {
  const parts = BUDGET_PARTS.flatMap((part) => {
    const amount = used[part]
    return amount === undefined || amount === 0 ? [] : [partText(part, amount)]
  })
  return [...parts, ...Object.entries(used.units ?? {}).map(([unit, amount]) => unitText(unit, amount))]
}

function partText(part: Part, amount: number): string {
  switch (part) {
    case 'fuel':
      return `${showCount(Math.round(amount))} fuel`
    case 'calls':
      return amount === 1 ? '1 call' : `${showCount(amount)} calls`
    case 'steps':
      return amount === 1 ? '1 step' : `${showCount(amount)} steps`
    case 'bytes':
      return showSize(amount)
    case 'activeMs':
      return `${showDuration(amount)} of work`
    case 'wallMs':
      return `${showDuration(amount)} of time`
  }
}

function unitText(unit: string, amount: number): string {
  return `${amount} ${shownText(unit, 60)}`
}

/** Units have names that their authors chose: of no use as members of every object. */
function ownAmount(units: Readonly<Record<string, number>> | undefined, unit: string): number {
  return units !== undefined && Object.hasOwn(units, unit) ? (units[unit] ?? 0) : 0
}
