/**
 * Real processes, killed with SIGKILL at every third of their first 200 operations on a real file system, and at 100
 * random moments: the next process takes over at once, finds every acknowledged step, and goes on.
 *
 * Here one process writes to twenty stores and is killed for all of them at once, as it takes longer to start than to
 * work; in the long run each has one of its own, and it is each operation.
 */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

const TOGETHER = 20
const OPERATIONS = 200
const EVERY = 3
const ROUNDS = 5

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const operations = Array.from({ length: Math.ceil(OPERATIONS / EVERY) }, (_, index) => index * EVERY + 1)
  const problems = await problemsWhenKilledAt(operations, children, () => children.folder(), TOGETHER)
  expect(problems.slice(0, 5)).toEqual([])
})

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const places = Array.from({ length: TOGETHER }, () => children.folder())
  for (const entries of await killedForEver(children, places, ROUNDS)) expect(entries).toBeGreaterThan(ROUNDS)
})
