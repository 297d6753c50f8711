/**
 * Real processes that run plans, killed with SIGKILL before operations on a real file system: another process shows
 * where each stands, goes on from exactly there, comes to the right end, and every payment went out exactly once. At every
 * ninth of the first 200 operations, all of these runs in one process; in the long run at each, and at 500 random moments.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KilledPlans, openKilledPlans } from './killed-plan.ts'

const OPERATIONS = 200
const EVERY = 9

let plans: KilledPlans
beforeAll(async () => {
  plans = await openKilledPlans()
})
afterAll(() => plans[Symbol.asyncDispose]())

it('nothing is lost and nothing is paid twice, wherever a run is killed', { timeout: 300_000 }, async () => {
  const operations: number[] = []
  for (let operation = 1; operation <= OPERATIONS; operation += EVERY) operations.push(operation)
  expect(await plans.problemsAt(...operations)).toEqual([])
})
