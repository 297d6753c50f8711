/** As whole-runs.test.ts, at each operation, with what reaches the disk drawn. */
import { describe, expect, it } from 'vitest'
import { SeededRandom } from '../seeded-random.ts'
import { FAILURES } from './disk-failures.ts'
import { operationsOf, problemsOfCut, problemsOfFailure, WHOLE, type Whole } from './whole-runs.ts'

describe.each(Object.keys(WHOLE) as Whole[])('%s', (what) => {
  it.each(Object.entries(FAILURES))('that meets %s', { timeout: 900_000 }, async (_name, failure) => {
    const problems: string[] = []
    for (const operation of await operationsOf(what))
      if (failure.meets(operation))
        problems.push(...(await problemsOfFailure(what, failure, operation.number)))
    expect(problems.slice(0, 5)).toEqual([])
  })

  it('before any operation of which the power goes', { timeout: 900_000 }, async () => {
    const problems: string[] = []
    for (const { number } of await operationsOf(what)) {
      const random = new SeededRandom(number)
      problems.push(...(await problemsOfCut(what, number, () => random.below(1_000) / 1_000)))
    }
    expect(problems.slice(0, 5)).toEqual([])
  })
})
