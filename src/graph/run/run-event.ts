/**
 * What happens to a run of a plan, in the order in which it happens: its journal.
 *
 * A decision is recorded when it is made (that a node is skipped, what it is given, which way a choice went), and not
 * made again. Events are small: values above some size are named by their digest.
 */
import type { Digest } from '../../base/digest.ts'
import type { ErrorClass } from '../plan/plan.ts'

/** A value in an event: itself where it is small, else the digest and the size of its canonical bytes. */
export type ValueRef =
  | { readonly value: unknown }
  | {
      readonly digest: Digest
      readonly bytes: number
      /** What the bytes consist of: digests of what is in the store, and between them bytes as base64. Default: the store has them whole. */
      readonly pieces?: readonly string[]
      /** Each piece is encrypted under the key of the run; `digest` and `bytes` are of the value itself. */
      readonly sealed?: true
    }

/** Why something failed. */
export interface Failure {
  readonly class: ErrorClass
  readonly code: string
  readonly message: string
  /** Milliseconds after which a service says it may be asked again. */
  readonly retryAfterMs?: number
}

/** What was used up. */
export interface Used {
  readonly fuel?: number
  readonly calls?: number
  /** Attempts of nodes. */
  readonly steps?: number
  readonly activeMs?: number
  readonly bytes?: number
  /** By units of the capabilities' costs. */
  readonly units?: Readonly<Record<string, number>>
  /** Of the rights to call, by capability: what counts against the conditions of grants. */
  readonly by?: Readonly<Record<string, GrantUsed>>
}

/** What calls of one capability took. */
export interface GrantUsed {
  readonly calls?: number
  /** Bytes of results. */
  readonly bytesIn?: number
  /** Bytes of arguments. */
  readonly bytesOut?: number
  readonly units?: Readonly<Record<string, number>>
}

/** How a call ended. */
export type CallAnswer =
  | { readonly ok: true; readonly value: ValueRef }
  | { readonly ok: false; readonly error: Failure }

/** Why a node did not start. */
export type SkipReason = 'condition' | 'not_chosen' | 'not_needed' | 'skipped_before' | 'decided'

/** What a person is asked: `shown` is the `PersonRequest`, and `request` its digest, to which decisions are bound. */
export interface Asked {
  readonly request: Digest
  readonly shown: ValueRef
  /** Nobody decides after it, and a decision that was not used by then counts no more. */
  readonly expiresAtMs?: number
}

/** A call of a program that may have taken effect, and whose answer nobody knows. */
export interface CallInDoubt {
  /** Its number in its program. */
  readonly call: number
  readonly capability: string
  readonly args: ValueRef
}

/** What a node waits for. */
export type Waiting =
  | {
      readonly for: 'person'
      /** Of a program there may be several, which are decided one by one or together. */
      readonly asked: readonly Asked[]
      /** Of a program: when it goes on by itself, because a timer of its own is due. */
      readonly wakeAtMs?: number
      /** Of a node that failed: why, and the number of the fallback that asks for a value to stand in for its output. */
      readonly instead?: { readonly error: Failure; readonly fallback: number }
    }
  | { readonly for: 'time'; readonly atMs: number }
  | { readonly for: 'event'; readonly name: string; readonly expiresAtMs?: number }

/** Why a run stands still at its last verified point. */
export type FreezeReason = 'interrupted' | 'in_doubt' | 'budget' | 'loop_guard' | 'asked'

/** Names the events of a journal, and their version. */
export const RUN_FORMAT = 'run/1'
/** The same, of a run whose values are encrypted under a key of its own. */
export const SEALED_RUN_FORMAT = 'run/2'

/** A run that another one is a fork of. */
export interface Origin {
  readonly run: string
  readonly id: string
  /** Events that were taken over from it, or through it: the first one is the fork's own all the same. */
  readonly events: number
  /** Where it stood then. */
  readonly point: Digest
}

export type RunEvent =
  | {
      readonly type: 'proposed'
      readonly format: typeof RUN_FORMAT | typeof SEALED_RUN_FORMAT
      /** Unique among all runs: idempotency keys and random streams are derived from it. */
      readonly id: string
      readonly plan: Digest
      readonly input: ValueRef
      /** Capabilities that the plan may call, and the digests of how they describe themselves. */
      readonly tools: Readonly<Record<string, Digest>>
      /** What they reach, in the words of the host: directories, hosts. Left out: nothing that it says. */
      readonly scope?: readonly string[]
      readonly by: string
      /** Of a fork: where it comes from, the oldest run first. */
      readonly from?: readonly Origin[]
    }
  /** `request` is the digest of exactly what was proposed. */
  | { readonly type: 'approved'; readonly request: Digest; readonly by: string; readonly comment?: string }
  | { readonly type: 'rejected'; readonly by: string; readonly reason: string }
  | { readonly type: 'started'; readonly by: string; readonly atMs: number }
  | {
      readonly type: 'frozen'
      readonly reason: FreezeReason
      readonly message: string
      /** Of the reason `budget`: the part of a budget, or the unit of it, that is used up. */
      readonly part?: string
    }
  /** A person, or a policy that says so, confirmed the digest of exactly the point it stands at. */
  | {
      readonly type: 'confirmed'
      readonly point: Digest
      readonly by: string
      /** On top of the budget of the plan. */
      readonly more?: Used & { readonly wallMs?: number }
    }
  | { readonly type: 'cancel_asked'; readonly by: string; readonly reason: string }
  /** Nothing more starts: what was done is undone next, if anything can be. `node` is empty where it is the output of the plan that cannot be made. */
  | { readonly type: 'failing'; readonly error: Failure; readonly node: string }
  | { readonly type: 'undoing' }
  | { readonly type: 'completed'; readonly output: ValueRef }
  | { readonly type: 'failed'; readonly error: Failure }
  | { readonly type: 'cancelled' }
  /** All that could be undone was; `left` names nodes that could not, the first hundred, and `more` counts the others. */
  | { readonly type: 'compensated'; readonly left: readonly string[]; readonly more?: number }
  | NodeEvent

/** What executed an attempt of a program: with it, the attempt can be executed again. */
export interface Ran {
  /** Id of the engine build. */
  readonly engine: string
  /** Digest of the state that the program ended in, where the host takes it. */
  readonly state?: string
  /** Of a kept run: where its log ended. */
  readonly log?: { readonly entries: number; readonly digest: Digest }
}

/** `used` is what the node used up since its last event that says so; `ran` what executed a program that ended. */
export type NodeEvent = { readonly node: string; readonly used?: Used; readonly ran?: Ran } & (
  | { readonly type: 'node_started'; readonly attempt: number; readonly input: ValueRef }
  /** `by` where a person said that a call in doubt is left as it is: \`decided\`. */
  | { readonly type: 'node_skipped'; readonly reason: SkipReason; readonly by?: string }
  /** A call was let in: from here on its effect may have happened. `args` is the digest of the final arguments. */
  | {
      readonly type: 'node_called'
      readonly call: number
      readonly key: string
      readonly repeatable: boolean
      readonly args?: Digest
    }
  /**
   * How the call ended. The node has not, yet. `by` where a person says so of a call in doubt; without an answer, that it
   * did not happen, and is to be made again.
   */
  | {
      readonly type: 'node_answered'
      readonly call: number
      readonly answer?: CallAnswer
      readonly by?: string
    }
  /** Of an `each`: how many items it has. */
  | { readonly type: 'node_expanded'; readonly items: number }
  /** Of a `loop`: a round ended with this state. */
  | { readonly type: 'node_round'; readonly round: number; readonly state: ValueRef; readonly done: boolean }
  | { readonly type: 'node_waiting'; readonly waiting: Waiting }
  /**
   * What it waited for is there: the time, the event with its value, a decision. From here on decisions that were made
   * count as used.
   */
  | { readonly type: 'node_woken'; readonly value?: ValueRef; readonly by?: string }
  /** A person decided, on exactly what the request shows. `value` is what they put in its place. */
  | {
      readonly type: 'node_decided'
      readonly request: Digest
      readonly by: string
      readonly approved: boolean
      readonly comment?: string
      /** Of a rejection. */
      readonly reason?: string
      readonly value?: ValueRef
    }
  /** A decision that was not used yet was taken back. */
  | { readonly type: 'node_withdrawn'; readonly request: Digest; readonly by: string }
  /** `calls` are those of a program that are in doubt. */
  | { readonly type: 'node_frozen'; readonly reason: FreezeReason; readonly calls?: readonly CallInDoubt[] }
  /** Its call had no effect and is made again, or is taken as it was answered. */
  | { readonly type: 'node_thawed'; readonly again: boolean; readonly by?: string }
  | { readonly type: 'node_completed'; readonly output: ValueRef; readonly chosen?: readonly string[] }
  /** `standby` names the node that stands in for it, if one does. */
  | { readonly type: 'node_failed'; readonly error: Failure; readonly standby?: string }
  /** `jitter` is the share of the wait that was added to it, so that many runs do not come back at once. */
  | {
      readonly type: 'node_retrying'
      readonly atMs: number
      readonly error: Failure
      readonly jitter?: number
    }
  /** It failed, and the fallback of this number gave what stands in for its output: of an earlier run, so old. */
  | {
      readonly type: 'node_recovered'
      readonly error: Failure
      readonly fallback: number
      readonly output: ValueRef
      readonly ageMs?: number
    }
  | { readonly type: 'node_cancelled' }
  | { readonly type: 'node_undoing' }
  | { readonly type: 'node_undone' }
  | { readonly type: 'node_not_undone'; readonly error: Failure }
)

/** An event in a journal: `timeMs` is when it was written down, milliseconds since the epoch, and never goes back. */
export type RecordedEvent = RunEvent & { readonly timeMs: number }

export type EventType = RunEvent['type']
export type NodeEventType = NodeEvent['type']
