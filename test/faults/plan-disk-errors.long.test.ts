/** As `plan-disk-errors.test.ts`, at each change of the disk. */
import { expect, it } from 'vitest'
import { FAILURES } from './disk-failures.ts'
import { planOperations, problemsOfPlan } from './failing-plan.ts'

it.each(Object.entries(FAILURES))('a run that meets %s', { timeout: 3_600_000 }, async (name, failure) => {
  const problems: string[] = []
  const operations = (await planOperations()).filter((operation) => failure.meets(operation))
  for (const { number } of operations) problems.push(...(await problemsOfPlan(name, number)))
  expect(problems.slice(0, 5)).toEqual([])
})
