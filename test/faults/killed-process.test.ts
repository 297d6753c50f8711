/**
 * Real processes, killed with SIGKILL at each of their first 200 operations on a real file system, and at 200 random
 * moments: the next process takes over at once, finds every acknowledged step, and goes on.
 *
 * Here one process writes to twenty stores and is killed for all of them at once, as it takes longer to start than to
 * work; in the long run each has one of its own.
 */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { killedForEver } from './killed-for-ever.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

const TOGETHER = 20
const KILLS = 200

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const operations = Array.from({ length: KILLS }, (_, index) => index + 1)
  const problems = await problemsWhenKilledAt(operations, children, () => children.folder(), TOGETHER)
  expect(problems.slice(0, 5)).toEqual([])
})

it('1: nothing acknowledged is lost at any moment, crash after crash', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const places = Array.from({ length: TOGETHER }, () => children.folder())
  const rounds = KILLS / TOGETHER
  for (const entries of await killedForEver(children, places, rounds)) expect(entries).toBeGreaterThan(rounds)
})
