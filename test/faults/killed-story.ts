/** A process that tells the story and is killed at one of its operations, and what must hold after that. */
import type { StoreChildren } from './child-process.ts'
import { openStoreAt } from './store-place.ts'
import { lookInto, STORY, StoryTeller } from './store-story.ts'

/** Two cores, and a process that is killed waits for the disk most of its life. */
const AT_ONCE = 3

/**
 * Kills a process at each of these operations, each time in a place of its own. The next process takes over at once,
 * finds every acknowledged step, and goes on.
 * @returns what was wrong
 */
export async function problemsWhenKilledAt(
  operations: readonly number[],
  children: StoreChildren,
  newPlace: () => string,
): Promise<readonly string[]> {
  const problems: string[] = []
  const left = [...operations]
  const work = async (): Promise<void> => {
    for (let number = left.shift(); number !== undefined; number = left.shift()) {
      problems.push(...(await problemsAfterKill(number, children, newPlace())))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return problems
}

async function problemsAfterKill(
  number: number,
  children: StoreChildren,
  place: string,
): Promise<readonly string[]> {
  const child = children.start('story', place, number)
  const { signal, errors } = await child.ended
  if (signal !== 'SIGKILL') return [`operation ${number}: it ended by itself: ${errors}`]
  const acknowledged = child.lines.length
  const store = await openStoreAt(place)
  try {
    const { problem, done } = await lookInto(store, acknowledged)
    // Nobody has to wait for a lease whose holder is dead.
    const teller = new StoryTeller(store, (ms) => {
      throw new Error(`a lease of a dead process would last ${ms} ms more`)
    })
    const end = Math.min(done + 3, STORY.length)
    await teller.tell(done, end)
    const later = await lookInto(store, end)
    return [problem, later.problem].flatMap((one) =>
      one === undefined ? [] : [`operation ${number}: ${one}`],
    )
  } catch (error) {
    return [`operation ${number}: ${String((error as Error).stack)}`]
  } finally {
    await store.close()
  }
}
