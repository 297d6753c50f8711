/** That a part of a budget is used up, for the person who decides whether there is more of it. */
import type { Standstill } from './run-state.ts'

const WORDS: ReadonlyMap<string, string> = new Map([
  ['fuel', 'None of the fuel of the budget is left'],
  ['activeMs', 'None of the time at work of the budget is left'],
  ['wallMs', 'None of the time from start to end of the budget is left'],
])

/** @param part of a budget, or a unit of it; @param what it is not left for, in words */
export function noneLeft(part: string, what?: string): Standstill & { readonly part: string } {
  const words = WORDS.get(part) ?? `None of the ${part.slice(0, 100)} of the budget are left`
  return { reason: 'budget', message: `${words}${what === undefined ? '' : ` ${what}`}.`, part }
}
