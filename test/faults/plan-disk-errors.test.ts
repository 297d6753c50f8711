/**
 * Changes of the disk fail while a plan runs, one in each run: whoever goes on with it afterwards finds everything that
 * was acknowledged, and pays nothing twice. Here at every twelfth change, in the long run at each.
 */
import { expect, it } from 'vitest'
import { FAILURES } from './disk-failures.ts'
import { planOperations, problemsOfPlan } from './failing-plan.ts'

const EVERY = 12

it.each(Object.entries(FAILURES))('a run that meets %s', { timeout: 120_000 }, async (name, failure) => {
  const problems: string[] = []
  const operations = (await planOperations()).filter((operation) => failure.meets(operation))
  for (const [i, { number }] of operations.entries())
    if (i % EVERY === 0) problems.push(...(await problemsOfPlan(name, number)))
  expect(problems.slice(0, 5)).toEqual([])
})
