/** Who does something to a run, as it is written down. */
import { userInfo } from 'node:os'
import type { Flag, GivenFlags } from '../command.ts'

export const BY: Flag = {
  name: 'by',
  value: 'WHO',
  help: 'Who does it, as it is written down; nobody checks it. Default: your login name.',
}

/** `--by`, or the login name of the person at the keyboard. */
export function readBy(given: GivenFlags): string {
  return given.value('by') ?? loginName()
}

function loginName(): string {
  try {
    return userInfo().username || 'unknown'
  } catch {
    // Some containers have users without a name.
    return `uid-${process.getuid?.() ?? 'unknown'}`
  }
}
