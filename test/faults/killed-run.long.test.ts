/** As `killed-run.test.ts`, each run in a process of its own: at 200 operations, and at 200 random moments. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KilledRuns, openKilledRuns } from './killed-run.ts'

const AT_ONCE = 3

let runs: KilledRuns
beforeAll(async () => {
  runs = await openKilledRuns()
})
afterAll(() => runs[Symbol.asyncDispose]())

it.each([
  ['each of the first 200 operations', (i: number) => runs.problemsAt(i + 1)],
  ['200 random moments', () => runs.problemsAfter(150 + 600 * Math.random())],
])('nothing is lost and nothing is paid twice: killed at %s', { timeout: 1_200_000 }, async (_, kill) => {
  const problems: string[] = []
  let next = 0
  const work = async (): Promise<void> => {
    while (next < 200) {
      next += 1
      problems.push(...(await kill(next - 1)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(problems).toEqual([])
})
