/**
 * A real process on a file of SQLite, killed with SIGKILL at statements: each of the first 200 in the long run.
 */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

const OPERATIONS = 200
const EVERY = 37

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const operations: number[] = []
  for (let number = 4; number <= OPERATIONS; number += EVERY) operations.push(number)
  const newPlace = (): string => `sqlite:${children.folder()}/runs.db`
  expect(await problemsWhenKilledAt(operations, children, newPlace)).toEqual([])
})
