/**
 * A real process that runs a kept program, killed with SIGKILL before operations on a real disk: another process goes
 * on, comes to the right end, and every payment went out exactly once. Every operation in turn in the long run.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KilledRuns, openKilledRuns } from './killed-run.ts'

const OPERATIONS = 200
const EVERY = 28
const AT_ONCE = 2

let runs: KilledRuns
beforeAll(async () => {
  runs = await openKilledRuns()
})
afterAll(() => runs[Symbol.asyncDispose]())

it('nothing is lost and nothing is paid twice, wherever a run is killed', { timeout: 300_000 }, async () => {
  const problems: string[] = []
  let next = 4
  const work = async (): Promise<void> => {
    while (next <= OPERATIONS) {
      const operation = next
      next += EVERY
      problems.push(...(await runs.problemsAfter({ operation })))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(problems).toEqual([])
})
