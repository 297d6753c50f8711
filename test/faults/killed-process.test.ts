/**
 * A real process, killed with SIGKILL at each of its first 200 operations on a real disk: the next process takes over
 * at once, finds every acknowledged step, and goes on to the end.
 */
import { expect, it } from 'vitest'
import { openStoreChildren } from './child-process.ts'
import { problemsWhenKilledAt } from './killed-story.ts'

const OPERATIONS = 200

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 600_000 }, async () => {
  await using children = await openStoreChildren()
  const operations = Array.from({ length: OPERATIONS }, (_, index) => index + 1)
  const problems = await problemsWhenKilledAt(operations, children, () => children.folder())
  expect(problems.slice(0, 5)).toEqual([])
})
