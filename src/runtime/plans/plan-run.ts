/** What an embedder holds of one run of a plan. */
import type { Digest } from '../../base/digest.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import type { Plan } from '../../graph/plan/plan.ts'
import type { Decision, OpenRequest } from '../../graph/run/decisions.ts'
import type { DoubtAnswer, OpenDoubt } from '../../graph/run/doubts.ts'
import type { EventType, Failure, FreezeReason, RecordedEvent, Used } from '../../graph/run/run-event.ts'
import type { PlanGuest } from './plan-guests.ts'
import type { RunView } from './run-view.ts'

/** Options of a proposal. */
export interface ProposeOptions {
  /** Who proposes it: a person, a model, a program, as the host knows them. 1 to 200 characters. */
  readonly by: string
  /** Its name in the store: 1 to 90 characters of `A-Z a-z 0-9 . _ -`, not beginning with a dot. Default: of the plan, and random. */
  readonly run?: string
  /** What `input` refers to. Any structured-cloneable value. Default null. */
  readonly input?: unknown
  /**
   * The WebAssembly that nodes of the plan name by digest, at most 128 MiB each. What the store has already need not be
   * given again.
   */
  readonly wasm?: readonly Uint8Array[]
  /**
   * Whether its values (input, outputs, arguments, results) are encrypted under a key of the run, which `erase` destroys.
   * Default: where the host has an encryption key.
   */
  readonly erasable?: boolean
  /** Trust domain. Default `default`. */
  readonly domain?: string
  /** Who acts. Default "". */
  readonly principal?: string
}

/** The WebAssembly of a plan that is checked. What the store of the runtime has already need not be given. */
export type CheckPlanOptions = Pick<ProposeOptions, 'wasm'>

export interface EraseOptions extends PlanRunOptions, By {
  /**
   * Also where the run cannot be read (damaged, or sealed with a key that is not there): nobody can say then whether it has
   * ended. Default false: it is refused.
   */
  readonly unreadable?: boolean
}

/** Who cuts a run, and whose it is. */
export type CompactOptions = PlanRunOptions & By

/** Whose a run is. */
export type PlanRunOptions = Pick<ProposeOptions, 'domain' | 'principal'>

/** Who does something to a run. */
export interface By {
  /** As the host knows them: 1 to 200 characters. It is written down, and not checked here. */
  readonly by: string
}

export interface ApproveOptions extends By {
  /** Of exactly what was shown: `request` of the view. */
  readonly digest: Digest
  readonly comment?: string
}

export interface ReasonOptions extends By {
  readonly reason: string
}

export interface StartOptions extends By {
  /** Brings the run to rest: what is at work is told, and is taken up by whoever resumes it. */
  readonly signal?: AbortSignal
}

export interface ResumePlanOptions extends StartOptions {
  /** `point` of the view: needed for a run that was interrupted, or stands still (status `frozen`). */
  readonly point?: Digest
  /** Goes on from wherever it stands, by a policy that says so and is named in `by`. In place of `point`. */
  readonly unseen?: boolean
  /** What became of calls in doubt. */
  readonly answers?: readonly DoubtAnswer[]
  /** On top of the budget of the plan. */
  readonly more?: Used & { readonly wallMs?: number }
}

export interface EventsOptions {
  /** The first event wanted, from 0. Default 0. */
  readonly from?: number
  readonly types?: readonly EventType[]
  /** Paths of nodes: theirs, those of nodes inside of them, and none of the run itself. */
  readonly nodes?: readonly string[]
  /** Ends the iteration. */
  readonly signal?: AbortSignal
  /** `end`, the default: until the run has ended. `rest`: until it does nothing more by itself in this process. `now`: what there is. */
  readonly until?: 'end' | 'rest' | 'now'
}

export interface PositionedEvent {
  /** Its number in the journal, from 0. */
  readonly position: number
  readonly event: RecordedEvent
}

/** How a run of a plan came to rest. */
export type PlanOutcome = { readonly run: string; readonly used: Used } & (
  | { readonly status: 'completed'; readonly output: unknown }
  /** `node` is empty where the output of the plan could not be made. */
  | { readonly status: 'failed'; readonly error: Failure; readonly node: string }
  | { readonly status: 'cancelled' }
  /** What was done was undone, but for the nodes in `left`. `error` is why, where it was not cancelled. */
  | { readonly status: 'compensated'; readonly left: readonly string[]; readonly error: Failure | undefined }
  | { readonly status: 'rejected'; readonly reason: string }
  | { readonly status: 'proposed' | 'approved' }
  /** For people, for times or for events: see the view. */
  | { readonly status: 'waiting'; readonly requests: number; readonly untilMs: number | undefined }
  | {
      readonly status: 'frozen'
      readonly reason: FreezeReason
      readonly message: string
      readonly point: Digest
    }
  /** It was brought to rest in the middle of its work. */
  | { readonly status: 'interrupted'; readonly point: Digest }
)

/**
 * One run of a plan. It can be held by many at once, in whatever process: who changes something takes the lease of the
 * run for as long as that takes, and reads again what there is before.
 *
 * A run that was started or resumed by this object goes on by itself after each of its changes.
 *
 * Methods reject with a CaissonError: `invalid_argument` with `details: { option }`, `invalid_transition`, `store_conflict` while another process
 * holds the run, `lease_lost`, `corrupted`, `checkpoint_refused`, `not_found`, `store_failed`, and what they say. Nothing
 * was changed then.
 */
export interface PlanRun {
  readonly run: string
  readonly plan: Plan
  /** Of the plan. */
  readonly digest: Digest
  /** What is done, pending and in doubt, what it cost, and who is asked what. */
  view(): Promise<RunView>
  /** What it was proposed with. @throws CaissonError `erased` */
  input(): Promise<unknown>
  /** The WebAssembly that its plan names: what whoever approves the run says yes to, beside the plan. Nothing of it is run. */
  guests(): Promise<readonly PlanGuest[]>
  /** What waits for people, with all that they are to be shown. */
  requests(): Promise<readonly OpenRequest[]>
  /** Calls of which nobody knows whether they took effect. */
  doubts(): Promise<readonly OpenDoubt[]>
  /** @throws CaissonError `approval_mismatch` for the digest of anything else */
  approve(options: ApproveOptions): Promise<void>
  /** Rejects what was proposed; takes an approval back as long as the run has not started. */
  reject(options: ReasonOptions): Promise<void>
  /** Starts what was approved. @throws CaissonError `tool_changed`, `approval_mismatch` where tools reach further than was approved */
  start(options: StartOptions): Promise<void>
  /**
   * Goes on with a run that was interrupted, stands still, or waits.
   * @throws CaissonError `confirmation_required` with `details: { point }`, `in_doubt` with `details: { nodes }`, `tool_changed`,
   *   `approval_mismatch` as `start`
   */
  resume(options: ResumePlanOptions): Promise<void>
  /** Decides over requests, all of them or none. @throws CaissonError `approval_mismatch`, `approval_expired` */
  decide(decisions: Decision | readonly Decision[]): Promise<void>
  /** Says what became of calls in doubt, all of them or none. */
  answer(answers: DoubtAnswer | readonly DoubtAnswer[]): Promise<void>
  /** An event from outside, for the nodes that wait for it. @throws CaissonError `invalid_transition` where none does */
  send(event: string, value: unknown, options: By): Promise<void>
  /** Ends it, and undoes what can be undone. Resolves when that is written down: `outcome` tells what became of it. */
  cancel(options: ReasonOptions): Promise<void>
  /** Everything that happened, and what happens, in order. Whoever reads slowly holds up nobody. */
  events(options?: EventsOptions): AsyncIterable<PositionedEvent>
  /** Resolves when it is at rest in this process. @throws what kept it from going on */
  outcome(): Promise<PlanOutcome>
}

/** What is proposed: a plan, checked already or not. */
export type Proposed = Plan | DefinedPlan
