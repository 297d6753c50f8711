/** How to go on with a run that is kept and has come to rest. */
import type { Outcome } from '../../runtime/outcome.ts'
import type { GoOn } from '../render/next-step.ts'

/** Limits that a run can be gone on with more of: the flag, and an example of its value. */
const MORE: Readonly<Record<string, readonly [flag: string, value: string]>> = {
  fuel: ['--add-fuel', '2_000_000_000'],
  memory: ['--memory', '128MiB'],
  wall: ['--timeout', '60s'],
  calls: ['--calls', '2_000'],
}

/** The host broke these off; the program could go on. */
const BROKEN_OFF: ReadonlySet<string> = new Set(['aborted', 'lease_lost', 'not_recorded'])

/** @param command goes on with it, with these flags and values more */
export function goOnAfter(outcome: Outcome, command: (more: readonly string[]) => string): GoOn | undefined {
  switch (outcome.status) {
    case 'suspended': {
      const [doubtful] = outcome.inDoubt
      if (doubtful === undefined) return { text: 'Go on with:', command: command([]) }
      return {
        text: `Find out whether ${outcome.inDoubt.length === 1 ? `call ${doubtful}` : 'they'} took effect. If so, say with what it was answered: --answer ${doubtful}=JSON. If not, let it be made again:`,
        command: command(outcome.inDoubt.flatMap((id) => ['--confirm', String(id)])),
      }
    }
    case 'exhausted': {
      const more = MORE[outcome.limit]
      return more && { text: 'Go on with more of it:', command: command(more) }
    }
    case 'failed':
      return BROKEN_OFF.has(outcome.error.code ?? '')
        ? { text: 'Go on with:', command: command([]) }
        : undefined
    default:
      return undefined
  }
}
