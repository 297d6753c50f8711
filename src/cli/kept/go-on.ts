/**
 * How to go on with a run that is kept and has come to rest.
 *
 * Invariants
 * 1. Whether it can be gone on with is what the runtime says (`resumable`): the codes of errors are the program's own.
 */
import type { LimitName } from '../../machine/limits.ts'
import type { Outcome } from '../../runtime/outcome.ts'
import type { GoOn } from '../render/next-step.ts'

/** Limits that a run can be gone on with more of: the flag, and an example of its value. */
const MORE: Readonly<Record<string, readonly [flag: string, value: string]>> = {
  fuel: ['--add-fuel', '2_000_000_000'],
  memory: ['--memory', '128MiB'],
  wall: ['--timeout', '60s'],
  idle: ['--idle', '1d'],
  calls: ['--calls', '2_000'],
  timers: ['--timers', '20_000'],
}

/** Flag and value that give more of what ran out; none of a limit that cannot be raised on the way. */
export function moreOf(limit: LimitName): readonly string[] {
  return MORE[limit] ?? []
}

/** @param command goes on with it, with these flags and values more */
export function goOnAfter(outcome: Outcome, command: (more: readonly string[]) => string): GoOn | undefined {
  switch (outcome.status) {
    case 'suspended': {
      const [doubtful] = outcome.inDoubt
      if (doubtful === undefined) return { text: 'go on', command: command([]) }
      return {
        text: `find out whether ${outcome.inDoubt.length === 1 ? `call ${doubtful}` : 'they'} took effect. If so, say with what it was answered: --answer ${doubtful}=JSON. If not, let it be made again`,
        command: command(outcome.inDoubt.flatMap((id) => ['--confirm', String(id)])),
      }
    }
    case 'exhausted': {
      const more = moreOf(outcome.limit)
      if (more.length === 0) return undefined
      return { text: 'go on with more of it', command: command(more) }
    }
    case 'failed':
      if (outcome.resumable !== true) return undefined
      return outcome.error.code === 'diverged'
        ? { text: 'nothing was changed; go on with the engine that it was parked on', command: command([]) }
        : { text: 'go on', command: command([]) }
    default:
      return undefined
  }
}
