/** What does the work of programs and calls: the runner decides when, and writes down how it ended. */

import type { Digest } from '../../base/digest.ts'
import type { Allowance } from '../../capability/allowance.ts'
import type { PersonDecision, PersonRequest } from '../../capability/person-request.ts'
import type { Stop } from '../../capability/stop.ts'
import type { LimitName, Limits } from '../../machine/limits.ts'
import { type GuestNode, grantsOf } from '../plan/node-kinds.ts'
import type { CallNode, Compensation } from '../plan/plan.ts'
import type { NodeCall } from './node-state.ts'
import type { Failure, Ran, Used } from './run-event.ts'

/** How a piece of work ended, what it used up, and what executed it. */
export type WorkEnd = { readonly used?: Used; readonly ran?: Ran } & (
  | { readonly end: 'value'; readonly value: unknown }
  /** `repeatable`: whether doing it again cannot do twice what may have been done once. */
  | {
      readonly end: 'failure'
      readonly error: Failure
      readonly repeatable: boolean
      /** Of a program: the limit that ended it. */
      readonly limit?: LimitName
    }
  /** A budget around it is used up: it stands still where it is, and can go on with more. */
  | { readonly end: 'short'; readonly part: string }
  /** Whether it took effect is not known, and it may not be made again without asking. `calls` are those of a program. */
  | { readonly end: 'in_doubt'; readonly calls?: readonly DoubtfulCall[] }
  /** People are asked. Nothing of what they are asked about was begun; what was begun before is kept. */
  | {
      readonly end: 'asks'
      readonly asked: readonly WantedRequest[]
      /** When a program goes on by itself, milliseconds since the epoch. */
      readonly wakeAtMs?: number
    }
  /** The runtime may not go on: it lost the run, or cannot write it down. */
  | { readonly end: 'lost'; readonly error: Error }
)

/** A call of a program that may have taken effect. */
export interface DoubtfulCall {
  /** Its number in its program. */
  readonly call: number
  readonly capability: string
  readonly args: unknown
}

/** What people are to be asked, or are asked already. */
export interface WantedRequest {
  readonly request: PersonRequest
  readonly expiresAtMs?: number | undefined
}

/** What people were asked before, and what they decided. */
export interface AskedBefore {
  readonly digest: Digest
  readonly request: PersonRequest
  /** One that the work may go on with. */
  readonly decision: PersonDecision | undefined
}

/** What a piece of work asks people. */
export interface WorkRequests {
  readonly before: readonly AskedBefore[]
  /** What names a new request: the first one of a rest is number 0. */
  about(number: number): Pick<PersonRequest, 'id' | 'run' | 'node' | 'plan'>
}

/** A piece of work, in whatever process. */
export interface Work {
  readonly requests: WorkRequests
  /** Path of its node; with `#undo` at its end for what undoes it. */
  readonly path: string
  readonly input: unknown
  /** Of one attempt, milliseconds. */
  readonly timeoutMs: number | undefined
  /** What its calls take: asked at each of them, by whoever makes them. */
  readonly allowance: Allowance
}

export interface CallWork extends Work {
  readonly stop: Stop
  readonly node: Pick<CallNode, 'capability'>
  /** Number of the call in its run. */
  readonly call: number
  /** As it was let in by an earlier process, if it was. */
  readonly recorded: NodeCall | undefined
  /** Writes down that it is let in. Resolves when that is safe: the effect happens only after it. */
  admitted(call: Omit<NodeCall, 'id' | 'answer'> & { readonly args?: Digest }): Promise<void>
  /** Writes down how it ended. */
  answered(
    answer: { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: Failure },
  ): Promise<void>
}

/** What a guest does: a node, or a program that undoes one. */
export type GuestWork = GuestNode | UndoingProgram

type UndoingProgram = Extract<Compensation, { readonly kind: 'program' }>

export interface ProgramWork extends Work {
  readonly signal: AbortSignal
  /** What a person said of its calls in doubt: how one ended, or, without an answer, that it did not happen. */
  readonly settled: readonly { readonly call: number; readonly answer?: { readonly value: unknown } }[]
  readonly node: GuestWork
  readonly attempt: number
  /** When the attempt began, milliseconds since the epoch: where the time of its guest begins. */
  readonly atMs: number
  /** Whether an earlier process may have begun this attempt. */
  readonly resumed: boolean
  /** Its own, within what is left of all budgets: from its beginning on, where it goes on. */
  readonly limits: Limits
  /** Of one that goes on: what the journal has of it already. `used` of its end is what comes on top. */
  readonly counted: Used
}

/**
 * Whether a program goes on where an earlier process left it. Else it is begun anew, and uses then exactly what it used
 * before: that counts once.
 */
export function isKept(node: GuestWork): boolean {
  return grantsOf(node).length > 0
}

/** What a node gave in an earlier run. */
export interface EarlierOutput {
  readonly value: unknown
  readonly ageMs: number
}

/** What a host brings to run the nodes of plans. Never rejects: whatever goes wrong is an end. */
export interface NodeWork {
  call(work: CallWork): Promise<WorkEnd>
  program(work: ProgramWork): Promise<WorkEnd>
  /**
   * What the calls of an attempt at a program took of its rights by the record that an earlier process left; undefined
   * where there is none.
   */
  tookBefore?(path: string, attempt: number): Promise<Used['by']>
  /**
   * What the node at this path gave over an input with this digest in an earlier run of the plan, and how old that is;
   * undefined where there is none that is young enough. Left out: there never is.
   */
  cached?(path: string, input: Digest, mostAgeMs: number): Promise<EarlierOutput | undefined>
}
