/** Tells the story to a store that fails on the way: what that may look like to whoever uses the store. */
import { CaissonError } from '../../src/base/errors.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { lookInto, pictureAfter, STORY, StoryTeller } from './store-story.ts'

/**
 * Each step that fails is looked up, and tried again unless it happened all the same. Nothing that was acknowledged may
 * be lost, and what fails says so with one of `codes`.
 * @param look another store on the same data, which does not fail
 * @returns what was wrong
 */
export async function problemsInStory(
  store: RunStore,
  look: RunStore,
  codes: readonly string[],
): Promise<readonly string[]> {
  const problems: string[] = []
  const teller = new StoryTeller(store, (ms) => {
    throw new Error(`a lease of this very process would last ${ms} ms more`)
  })
  let done = 0
  for (let attempt = 0; done < STORY.length && attempt < STORY.length + 5; attempt++) {
    const step = STORY[done]
    try {
      if (step !== undefined) await teller.perform(step, pictureAfter(done))
      done += 1
    } catch (error) {
      const known = [...codes, 'store_conflict', 'lease_lost']
      if (!CaissonError.is(error) || !known.includes(error.code))
        problems.push(String((error as Error).stack))
      const found = await lookInto(look, done)
      if (found.problem !== undefined) problems.push(found.problem)
      done = found.done
    }
  }
  if (done < STORY.length) problems.push(`the story ended at step ${done}`)
  const { problem } = await lookInto(look, done)
  if (problem !== undefined) problems.push(`at the end: ${problem}`)
  return problems
}
