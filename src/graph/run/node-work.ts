/** What does the work of programs and calls: the runner decides when, and writes down how it ended. */

import type { Digest } from '../../base/digest.ts'
import type { Allowance } from '../../capability/allowance.ts'
import type { PersonDecision, PersonRequest } from '../../capability/person-request.ts'
import type { LimitName, Limits } from '../../machine/limits.ts'
import type { CallNode, Program, ProgramNode } from '../plan/plan.ts'
import type { NodeCall } from './node-state.ts'
import type { Failure, Ran, Used } from './run-event.ts'

/** How a piece of work ended, what it used up, and what executed it. */
export type WorkEnd = { readonly used?: Used; readonly ran?: Ran } & (
  | { readonly end: 'value'; readonly value: unknown }
  /** `repeatable`: whether doing it again cannot do twice what may have been done once. */
  | { readonly end: 'failure'; readonly error: Failure; readonly repeatable: boolean }
  /** Whether it took effect is not known, and it may not be made again without asking. */
  | { readonly end: 'in_doubt' }
  /** The runtime may not go on: it lost the run, or cannot write it down. */
  | { readonly end: 'lost'; readonly error: Error }
)

/** A piece of work, in whatever process. */
export interface Work {
  /** Path of its node; with `#undo` at its end for what undoes it. */
  readonly path: string
  readonly input: unknown
  /** Of one attempt, milliseconds. */
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
}

export interface CallWork extends Work {
  readonly node: Pick<CallNode, 'capability'>
  /** Number of the call in its run. */
  readonly call: number
  /** As it was let in by an earlier process, if it was. */
  readonly recorded: NodeCall | undefined
  /** Writes down that it is let in. Resolves when that is safe: the effect happens only after it. */
  admitted(call: Omit<NodeCall, 'id' | 'answer'>): Promise<void>
  /** Writes down how it ended. */
  answered(
    answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Failure },
  ): Promise<void>
}

export interface ProgramWork extends Work {
  readonly node: Program & Pick<ProgramNode, 'grants'>
  readonly attempt: number
  /** When the attempt began, milliseconds since the epoch: where the time of its guest begins. */
  readonly atMs: number
  /** Whether an earlier process may have begun this attempt. */
  readonly resumed: boolean
  /** Its own, within what is left of all budgets. */
  readonly limits: Limits
}

/** What a host brings to run the nodes of plans. Never rejects: whatever goes wrong is an end. */
export interface NodeWork {
  call(work: CallWork): Promise<WorkEnd>
  program(work: ProgramWork): Promise<WorkEnd>
}
