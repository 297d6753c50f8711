/** Processes on a file of SQLite, killed at each of their first 200 statements, and at 200 random moments. */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

it('1: every acknowledged step survives, at whichever statement', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  const operations = Array.from({ length: 200 }, (_, index) => index + 1)
  const newPlace = (): string => `sqlite:${children.folder()}/runs.db`
  const problems = await problemsWhenKilledAt(operations, children, newPlace)
  expect(problems.slice(0, 5)).toEqual([])
})

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  const [entries] = await killedForEver(children, [`sqlite:${children.folder()}/runs.db`], 200)
  expect(entries).toBeGreaterThan(200)
})
