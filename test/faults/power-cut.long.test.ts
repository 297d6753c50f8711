/** As `power-cut.test.ts`, with many draws of what is lost at each operation. */
import { expect, it } from 'vitest'
import { atEachOperation, problemsAfter } from './power-cut.ts'

it('1: whatever the disk loses, every acknowledged step is kept', { timeout: 900_000 }, async () => {
  const problems: string[] = []
  await atEachOperation(async (moment) => {
    const cuts = Array.from({ length: 20 }, (_, round) => ({
      seed: (round + 1) * 100_003 + moment.operation.number,
      goOn: round % 4 === 3,
    }))
    problems.push(...(await problemsAfter(moment, cuts)))
  })
  expect(problems.slice(0, 5)).toEqual([])
})
