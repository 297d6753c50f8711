/**
 * The power goes before any operation on the disk: what was acknowledged is there afterwards, and nothing is half.
 *
 * On a disk in memory that keeps what was synced and loses of the rest what it likes. What is lost is drawn: the long
 * test draws more often.
 */
import { describe, expect, it } from 'vitest'
import { listOperations, problemsAt } from './power-cut.ts'

describe('a directory store when the power goes', { timeout: 300_000 }, () => {
  it('1: keeps every acknowledged step, and of the next one all or nothing, at each operation', async () => {
    const operations = await listOperations()
    expect(operations.length).toBeGreaterThan(300)
    const problems: string[] = []
    for (const { number } of operations) {
      // Going on to the end takes long; every third is enough here.
      problems.push(...(await problemsAt(number, number, number % 3 === 0)))
      // A draw seldom keeps the last of many changes and loses those before it.
      problems.push(...(await problemsAt(number, number, false, 'newest')))
    }
    expect(problems.slice(0, 5)).toEqual([])
  })
})
