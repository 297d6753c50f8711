/** Where the events of a fork come from: the run in which each of them happened. */
import type { RunState } from '../../graph/run/run-state.ts'
import type { RunOwner } from '../run-owner.ts'

export interface Ancestor {
  readonly owner: RunOwner
  /** What keys, seeds and names of programs were derived from. */
  readonly id: string
  /** Whether it happened in another run, of which this one is a fork. */
  readonly isInherited: boolean
}

/** @param at number of the event */
export function happenedIn(owner: RunOwner, { proposal }: Pick<RunState, 'proposal'>, at: number): Ancestor {
  // The first event is the fork's own.
  const origin = at === 0 ? undefined : proposal?.from?.find(({ events }) => at < events)
  return origin === undefined
    ? { owner, id: proposal?.id ?? owner.run, isInherited: false }
    : { owner: { ...owner, run: origin.run }, id: origin.id, isInherited: true }
}
