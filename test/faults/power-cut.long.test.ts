/** As `power-cut.test.ts`, with many draws of what is lost at each operation. */
import { expect, it } from 'vitest'
import { listOperations, problemsAt } from './power-cut.ts'

it('1: whatever the disk loses, every acknowledged step is kept', { timeout: 900_000 }, async () => {
  const operations = await listOperations()
  const problems: string[] = []
  for (let round = 1; round <= 20; round++) {
    for (const { number } of operations) {
      problems.push(...(await problemsAt(number, round * 100_003 + number, round % 4 === 0)))
    }
  }
  expect(problems.slice(0, 5)).toEqual([])
})
