/**
 * The power goes before any operation on the disk: what was acknowledged is there afterwards, and nothing is half.
 *
 * On a disk in memory that keeps what was synced and loses of the rest what it likes. What is lost is drawn: the long
 * test draws more often.
 */
import { describe, expect, it } from 'vitest'
import { atEachOperation, problemsAfter } from './power-cut.ts'

describe('a directory store when the power goes', { timeout: 300_000 }, () => {
  it('1: keeps every acknowledged step, and of the next one all or nothing, at each operation', async () => {
    let operations = 0
    const problems: string[] = []
    await atEachOperation(async (moment) => {
      operations += 1
      const { number } = moment.operation
      const found = await problemsAfter(moment, [
        // Going on to the end takes long; every third is enough here.
        { seed: number, goOn: number % 3 === 0 },
        // A draw seldom keeps the last of many changes and loses those before it.
        { seed: number, kept: 'newest' },
      ])
      problems.push(...found)
    })
    expect(operations).toBeGreaterThan(300)
    expect(problems.slice(0, 5)).toEqual([])
  })
})
