/**
 * A real process, killed with SIGKILL at each of its first 200 operations on a real disk: the next process takes over
 * at once, finds every acknowledged step, and goes on to the end.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openDirectoryRunStore } from '../../host-bindings/store/node/directory-run-store.node.ts'
import { openStoreChildren, type StoreChildren } from './child-process.ts'
import { happened, pictureAfter, problemOf, STORY, StoryTeller } from './store-story.ts'

const OPERATIONS = 200
/** Two cores, and a process that is killed waits for the disk most of its life. */
const AT_ONCE = 3

let children: StoreChildren
beforeAll(async () => {
  children = await openStoreChildren()
})
afterAll(() => children[Symbol.asyncDispose]())

async function problemsAfterKill(number: number): Promise<readonly string[]> {
  const folder = children.folder()
  const child = children.start('story', folder, number)
  const { signal, errors } = await child.ended
  if (signal !== 'SIGKILL') return [`operation ${number}: it ended by itself: ${errors}`]
  const acknowledged = child.lines.length
  const store = await openDirectoryRunStore(folder)
  try {
    const problem = await problemOf(store, STORY, acknowledged)
    const done = await happened(store, STORY, acknowledged)
    // Nobody has to wait for a lease whose holder is dead.
    const teller = new StoryTeller(store, (ms) => {
      throw new Error(`a lease of a dead process would last ${ms} ms more`)
    })
    for (let index = done; index < Math.min(done + 3, STORY.length); index++) {
      const step = STORY[index]
      if (step !== undefined) await teller.perform(step, pictureAfter(STORY.slice(0, index)))
    }
    const later = await problemOf(store, STORY, Math.min(done + 3, STORY.length))
    return [problem, later].flatMap((one) => (one === undefined ? [] : [`operation ${number}: ${one}`]))
  } catch (error) {
    return [`operation ${number}: ${String((error as Error).stack)}`]
  } finally {
    await store.close()
  }
}

it('1: every acknowledged step survives, whenever the process is killed', { timeout: 600_000 }, async () => {
  const problems: string[] = []
  let next = 1
  const work = async (): Promise<void> => {
    while (next <= OPERATIONS) {
      const number = next
      next += 1
      problems.push(...(await problemsAfterKill(number)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  expect(problems.slice(0, 5)).toEqual([])
})
