/** As `killed-plan.test.ts`, each run in a process of its own: at 200 operations, and at 500 random moments. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type KilledPlans, openKilledPlans } from './killed-plan.ts'

const AT_ONCE = 3

let plans: KilledPlans
beforeAll(async () => {
  plans = await openKilledPlans()
})
afterAll(() => plans[Symbol.asyncDispose]())

it.each([
  ['each of the first 200 operations', 200, (i: number) => plans.problemsAt(i + 1)],
  ['500 random moments', 500, () => plans.problemsAfter(150 + 900 * Math.random())],
])(
  'nothing is lost and nothing is paid twice: killed at %s',
  { timeout: 2_400_000 },
  async (_, times, kill) => {
    const problems: string[] = []
    let next = 0
    const work = async (): Promise<void> => {
      while (next < times) {
        next += 1
        problems.push(...(await kill(next - 1)))
      }
    }
    await Promise.all(Array.from({ length: AT_ONCE }, work))
    expect(problems).toEqual([])
  },
)
