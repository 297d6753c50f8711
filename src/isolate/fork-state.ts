/** A captured guest that goes on another way than the one that was captured. */
import { type IsolateState, parseIsolateState } from './isolate-state.ts'
import { RandomStreams } from './randomness.ts'

/**
 * Its state with random streams of its own, from here on.
 * @param label equal ones give equal streams, others independent ones (`randomness.ts`, invariant 3)
 * @throws CaissonError `corrupted`
 */
export function forkedState(state: unknown, label: string): IsolateState {
  const isolate = parseIsolateState(state)
  return { ...isolate, random: RandomStreams.fromState(isolate.random).fork(label).state() }
}
