/**
 * What several grants share: whatever one of them takes is taken here too, or it is not taken at all.
 *
 * A host gives one to the grants of several guests (`within` of a grant), and counts over all of them: plans bound so
 * what their parts may use together.
 */
import type { AccountState } from './account-state.ts'
import type { Cost } from './capability.ts'

/** What one call takes. */
export interface Taking {
  readonly capability: string
  /** Id of the call in its guest; 0 for a sync call. */
  readonly call: number
  /** Bytes of its arguments. */
  readonly bytesOut: number
  /** By the units of its capability. */
  readonly cost: Cost | undefined
}

/** Why a call is not let in, as the guest is told. */
export interface Shortfall {
  readonly code: 'budget_exhausted' | 'rate_limited'
  /** One sentence. */
  readonly message: string
  readonly details: Readonly<Record<string, string | number>>
}

/** Nothing in it may throw or wait: it is asked at every call, in the middle of the gate. */
export interface Allowance {
  /** Takes all that the call needs, or nothing: then it says why. What was taken is not given back when the call fails. */
  reserve(taking: Taking): Shortfall | undefined
  /** Whether it would be left, with nothing taken: asked before a person decides. Left out: it is only asked after. */
  lacks?(taking: Taking): Shortfall | undefined
  /** Takes bytes of a result. False, with nothing taken, when they do not fit any more. */
  receive(result: Pick<Taking, 'capability' | 'call'> & { readonly bytes: number }): boolean
  /** The guest was taken up, and its grant had used so much in earlier lives. */
  resumed?(capability: string, used: AccountState): void
}
