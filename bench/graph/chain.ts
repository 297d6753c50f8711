/**
 * What every subject of the graph suite does: a chain of steps, each of which takes the number of the one before and
 * gives one more, in a function of the host that awaits nothing. What is made once for all runs (a compiled graph, a
 * machine, a registered workflow, a plan that was proposed and approved) is made before the clock starts.
 */
import type { Trial } from '../harness/trial.ts'

/** Steps of a short and a long chain. */
export const SHORT = 200
export const LONG = 1_000
/** Steps against which the growth of the time per step is measured. */
export const LONGEST = 5_000

/** Names of the steps of a chain, in its order. */
export function stepNames(length: number): string[] {
  return Array.from({ length }, (_, i) => `s${i}`)
}

/** What one step does. */
export async function step(n: number): Promise<number> {
  return n + 1
}

/** What is left to do when a chain is ready: a run of it, and what forgets that run. */
export interface Chain {
  /** Gets a chain that did not run yet ready; not timed. */
  readonly prepare?: () => Promise<void>
  /** Runs it from the number 0, up to its result. */
  readonly run: () => Promise<unknown>
  readonly forget?: () => Promise<void>
  readonly dispose?: () => Promise<void>
}

/** Time per step. */
export function chainTrial(length: number, { prepare, run, forget, dispose }: Chain): Trial {
  return {
    operations: length,
    run: async () => {
      const result = await run()
      if (result !== length) throw new Error(`a chain of ${length} gave ${String(result)}`)
      return undefined
    },
    ...(prepare && { before: prepare }),
    ...(forget && { after: forget }),
    ...(dispose && { dispose }),
  }
}

/** Characters of a state that no step changes. */
const STATE_CHARACTERS = 100_000
/** Steps that have it. */
export const STATE_STEPS = 30

/** Text that does not compress to nothing. */
export function constantState(): string {
  let seed = 1
  let text = ''
  while (text.length < STATE_CHARACTERS) {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31
    text += seed.toString(36)
  }
  return text.slice(0, STATE_CHARACTERS)
}
