/** Budgets in plans: a node can only spend what is around it. */
import type { Budget } from './plan.ts'

/** The parts of a budget that are one number. */
export const BUDGET_PARTS = ['fuel', 'calls', 'steps', 'activeMs', 'wallMs', 'bytes'] as const

/** Where a budget asks for more than the one around it. */
export function budgetProblems(
  own: Budget | undefined,
  around: Budget | undefined,
): readonly { readonly at: string; readonly problem: string }[] {
  if (own === undefined || around === undefined) return []
  const problems: { at: string; problem: string }[] = []
  const compare = (at: string, mine: number | undefined, most: number | undefined): void => {
    if (mine !== undefined && most !== undefined && mine > most)
      problems.push({ at, problem: `is ${mine}, and what is around it has ${most}` })
  }
  for (const part of BUDGET_PARTS) compare(`/${part}`, own[part], around[part])
  for (const [unit, amount] of Object.entries(own.units ?? {}))
    compare(`/units/${unit}`, amount, amountOf(around.units, unit))
  return problems
}

/** What a node has where its own budget leaves parts out: those of what is around it. */
export function budgetWithin(own: Budget | undefined, around: Budget | undefined): Budget | undefined {
  if (own === undefined || around === undefined) return own ?? around
  return { ...around, ...own, units: { ...around.units, ...own.units } }
}

/** The amount of a unit, whose name is its author's: of no use as a member of every object. */
export function amountOf(
  amounts: Readonly<Record<string, number>> | undefined,
  unit: string,
): number | undefined {
  return amounts !== undefined && Object.hasOwn(amounts, unit) ? amounts[unit] : undefined
}
