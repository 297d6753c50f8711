/**
 * Real processes that run kept programs, killed with SIGKILL before operations on a real file system: another process
 * goes on, comes to the right end, and every payment went out exactly once. At every tenth of the first 200 operations,
 * all of these runs in one process; in the long run at each, and each run in one of its own.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KilledRuns, openKilledRuns } from './killed-run.ts'

const OPERATIONS = 200
const EVERY = 10

let runs: KilledRuns
beforeAll(async () => {
  runs = await openKilledRuns()
})
afterAll(() => runs[Symbol.asyncDispose]())

it('nothing is lost and nothing is paid twice, wherever a run is killed', { timeout: 300_000 }, async () => {
  const operations: number[] = []
  for (let operation = 1; operation <= OPERATIONS; operation += EVERY) operations.push(operation)
  expect(await runs.problemsAt(...operations)).toEqual([])
})
