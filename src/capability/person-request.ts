/**
 * What a person is asked before something happens, whole: nothing that matters for the decision is left out, and the
 * decision is bound to the digest of all of it.
 *
 * Invariant: two requests have the same digest only if they are the same request. What was decided over one says nothing
 * about another run, node, call, argument, plan, policy or version of a tool.
 */
import type { Digest } from '../base/digest.ts'
import { digestValue } from '../values/digest-value.ts'
import type { ValueLimits } from '../values/limits.ts'
import type { Cost, Effect } from './capability.ts'

/** What is decided over: a call, whether to go on, or a value that somebody has to give. */
export type RequestKind = 'call' | 'question' | 'value'

/** All that a person is shown. Plain data: whoever shows it has to make texts safe, they may come from guests. */
export interface PersonRequest {
  /** Unique among the requests of its run. */
  readonly id: string
  readonly kind: RequestKind
  /** Name of the run. */
  readonly run: string
  /** Path of the node of its plan; empty for a run without one. */
  readonly node: string
  /** In the words of the plan. */
  readonly question?: string
  /** Name of the capability that is called. */
  readonly action?: string
  readonly effect?: Effect
  /** Of a call exactly what is invoked; of a question what it shows. */
  readonly args: unknown
  /** What the call takes from budgets, beside the call itself. */
  readonly cost?: Cost
  /** Digest of the plan. */
  readonly plan?: Digest
  /** The rule under which the call is allowed, as data. */
  readonly policy?: unknown
  /** Digest of how the capability describes itself: name, description, effect and schemas. */
  readonly tool?: Digest
  /** Of a call of a program in a plan: digest of the request as the run of the program has it. */
  readonly within?: Digest
  /** Why it is asked again, where an edit could not be taken. */
  readonly note?: string
}

/** What decisions over a request are bound to. @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep` */
export function requestDigest(request: PersonRequest): Digest {
  return digestValue(request, REQUEST_LIMITS)
}

/** Arguments within the bounds of any gate, and what is said about them. */
const REQUEST_LIMITS: ValueLimits = { bytes: 80 * 1024 * 1024, nodes: 4_000_000, depth: 600 }

/** What a person says to a request. `value` is what they put in the place of what was shown. */
export type PersonDecision = {
  /** Digest of exactly what they saw. */
  readonly request: Digest
  /** Who: as the host knows them. */
  readonly by: string
  readonly comment?: string
} & (
  | { readonly decision: 'approve'; readonly value?: unknown }
  | { readonly decision: 'reject'; readonly reason: string }
)
