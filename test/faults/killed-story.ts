/** A process that tells stories and is killed when each is before an operation, and what must hold after that. */
import type { StoreChildren, Task } from './child-process.ts'
import { openStoreAt } from './store-place.ts'
import { lookInto, STORY, StoryTeller } from './store-story.ts'

/** Two cores, and a process that is killed waits for the disk most of its life. */
const AT_ONCE = 3

/**
 * Kills processes so that a story ends before each of these operations, each time in a place of its own. The next
 * process takes over at once, finds every acknowledged step, and goes on.
 * @param together so many stories are told by one process, each of which waits at its operation for the others. More
 * than one only where a store waits for its operations, as in a folder
 * @returns what was wrong
 */
export async function problemsWhenKilledAt(
  operations: readonly number[],
  children: StoreChildren,
  newPlace: () => string,
  together = 1,
): Promise<readonly string[]> {
  const problems: string[] = []
  const left = [...operations]
  const work = async (): Promise<void> => {
    while (left.length > 0) {
      const tasks = left.splice(0, together).map((number) => ({ place: newPlace(), number }))
      problems.push(...(await problemsAfterKill(tasks, children)))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return problems
}

async function problemsAfterKill(
  tasks: readonly Required<Task>[],
  children: StoreChildren,
): Promise<readonly string[]> {
  const child = children.start('story', ...tasks)
  const { signal, errors } = await child.ended
  const problems: string[] = []
  for (const [index, { place, number }] of tasks.entries()) {
    const problem =
      signal === 'SIGKILL'
        ? await problemIn(place, child.lines[index]?.length ?? 0)
        : `it ended by itself: ${errors}`
    if (problem !== undefined) problems.push(`operation ${number}: ${problem}`)
  }
  return problems
}

async function problemIn(place: string, acknowledged: number): Promise<string | undefined> {
  const store = await openStoreAt(place)
  try {
    const { problem, done } = await lookInto(store, acknowledged)
    if (problem !== undefined) return problem
    // Nobody has to wait for a lease whose holder is dead.
    const teller = new StoryTeller(store, (ms) => {
      throw new Error(`a lease of a dead process would last ${ms} ms more`)
    })
    const end = Math.min(done + 3, STORY.length)
    await teller.tell(done, end)
    return (await lookInto(store, end)).problem
  } catch (error) {
    return String((error as Error).stack)
  } finally {
    await store.close()
  }
}
