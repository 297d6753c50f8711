/** One granted capability as the gate sees it: definition, grant, account, and what follows from them. */
import type { Account } from '../account.ts'
import type { Capability } from '../capability.ts'
import { DEFAULT_TIMEOUT_MS } from '../capability.ts'
import type { HeldGrant } from '../grant-set.ts'
import { createWaitingLine, type WaitingLine } from './waiting-line.ts'

export interface Passage {
  readonly name: string
  readonly capability: Capability
  readonly grant: HeldGrant
  readonly account: Account
  readonly timeoutMs: number
  /** Where calls wait when the grant limits how many work at once. */
  readonly line: WaitingLine | undefined
}

export function createPassage(grant: HeldGrant, account: Account): Passage {
  const { capability, rule } = grant
  return {
    name: capability.name,
    capability,
    grant,
    account,
    timeoutMs: capability.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    line: rule.concurrent === undefined ? undefined : createWaitingLine(rule.concurrent),
  }
}
