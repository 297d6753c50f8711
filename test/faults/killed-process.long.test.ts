/** As `killed-process.test.ts`, each store in a process of its own. */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  const operations = Array.from({ length: 200 }, (_, index) => index + 1)
  const problems = await problemsWhenKilledAt(operations, children, () => children.folder())
  expect(problems.slice(0, 5)).toEqual([])
})

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 900_000 }, async () => {
  await using children = await openStoreChildren()
  const [entries] = await killedForEver(children, [children.folder()], 200)
  expect(entries).toBeGreaterThan(200)
})
