/**
 * One definition of a named host function: what it takes and gives, what it does to the world, and how it
 * may be used. Every guest kind sees the same definition, through the same gate.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import type { CaissonError, ErrorCode } from '../base/errors.ts'

/** What a call does to the world. `write` can be repeated without harm only if also `idempotent`; `destructive` cannot be undone. */
export type Effect = 'read' | 'write' | 'destructive'

/**
 * A guest from its start, or from where it was taken up, to its end in this process: completed, parked, at a limit or
 * aborted. A turn of a session has one of its own. One object for all its calls, and nobody else's: a key for what is
 * held for it.
 */
export interface GuestLife {
  readonly ended: boolean
  /** Calls `listener` when it ends; never where it has ended already. It must not throw. @returns what takes it back */
  onEnd(listener: () => void): () => void
}

/** What a person decided over a call of a guest that was let in. */
export interface CallDecision {
  /** Number of the call in its guest, from 1, in the order in which calls were asked. */
  readonly call: number
  readonly capability: string
  /** What was invoked. */
  readonly args: unknown
  /** Whether the person wrote that in the place of what the guest asked for. */
  readonly edited: boolean
  readonly by: string
  /** Empty where there is none. */
  readonly comment: string
}

/** What an implementation gets beside its input. */
export interface InvokeContext {
  /** Aborted at the timeout, at the guest's deadline and when the run is aborted. Pass it on. */
  readonly signal: AbortSignal
  /** Equal for every attempt at the same call; hand it to services that deduplicate. */
  readonly idempotencyKey: string
  /** 1 for the first attempt, 2 for the first retry that the policy allows. */
  readonly attempt: number
  /** Of the guest that calls. */
  readonly life: GuestLife
  /**
   * What people decided over calls of this guest that were let in, in that order. Of guests that are kept in a store,
   * programs of plans among them; of others none.
   */
  decisions(): Promise<readonly CallDecision[]>
}

/** When the gate may try again by itself. Only for awaited capabilities that are `read` or `idempotent`. */
export interface RetryPolicy {
  /** Attempts in all, the first included: 2 to 5. */
  readonly attempts: number
  /** Decides by the error. Default: only `timeout` of the attempt and `network_failed`. */
  readonly when?: (error: unknown) => boolean
  /** Milliseconds before attempt `n` (2 = first retry), 0 to 600,000. Default 100 * 2^(n-2), at most 5,000. */
  readonly delayMs?: (n: number, error: unknown) => number
}

/**
 * When a person has to decide over a call, whatever its grant says. Of `when` and `above` one is enough; without both, it
 * is every call.
 */
export interface ApprovalDemand<Input = unknown> {
  /** By the final arguments: only `false` lets the call pass without a person, and so does no throw. */
  when?(input: Input): boolean
  /** By what the call costs: more than so much of a unit. */
  readonly above?: Readonly<Record<string, number>>
  /** Milliseconds after which a request is over: nobody decides any more, and the call is refused. Default: never. */
  readonly expiresMs?: number
}

/** What one call takes from the budgets of its grant, beside the call itself. Units are the embedder's (cents, tokens, rows). */
export type Cost = Readonly<Record<string, number>>

// `invoke` and `cost` are declared as methods so that a `Capability<{ sku: string }, number>` can stand in a
// list of `Capability`: the gate calls them only with what their own schema let through.
interface CapabilityBase<Input, Output> {
  /** Dotted path of 1 to 4 lower-camel identifiers: `prices.lookup` becomes `globalThis.prices.lookup` in a guest. */
  readonly name: string
  /** One or two sentences for people and models. */
  readonly description: string
  readonly effect: Effect
  /** The same call twice does what one does. Default: true for `read`, else false. */
  readonly idempotent?: boolean
  /** Milliseconds for one attempt, 1 to 86,400,000. Default 30,000. */
  readonly timeoutMs?: number
  /** Gets the final input. What it returns must be finite and not negative, else the call is refused. */
  cost?(input: Input): Cost
  /** Not for sync capabilities. */
  readonly approve?: true | ApprovalDemand<Input>
  readonly retry?: RetryPolicy
  /** Codes of `CaissonError` whose message and `details` may be shown to the guest as they are. Other causes are redacted. */
  readonly expose?: readonly ErrorCode[] | ((error: unknown) => CaissonError | undefined)
  /**
   * Name of an awaited capability whose answers this one goes on with, such as reading what that one opened. Who grants
   * that one grants this one too, unless a grant of its own says otherwise; who takes that one back takes both; and the
   * bytes of its results count for both grants.
   */
  readonly continues?: string
  /** JSON Schema of the input, for people and models, where the schema cannot give one by itself. */
  readonly inputJsonSchema?: Readonly<Record<string, unknown>>
  readonly outputJsonSchema?: Readonly<Record<string, unknown>>
  readonly _types?: { readonly input: Input; readonly output: Output }
}

/** Answered later; the guest awaits it. */
export interface AsyncCapability<Input = unknown, Output = unknown> extends CapabilityBase<Input, Output> {
  readonly sync?: false
  readonly input?: StandardSchemaV1<unknown, Input>
  readonly output?: StandardSchemaV1<Output, unknown>
  /** Called without `this`. Gets a copy of its own, which it may change. */
  invoke(input: Input, context: InvokeContext): Output | Promise<Output>
}

/** Answered inside the guest's turn: read-only, with schemas that validate synchronously. Counted and budgeted like any other. */
export interface SyncCapability<Input = unknown, Output = unknown> extends CapabilityBase<Input, Output> {
  readonly sync: true
  readonly effect: 'read'
  readonly input?: StandardSchemaV1<unknown, Input>
  readonly output?: StandardSchemaV1<Output, unknown>
  /** Called without `this`, inside the guest's turn: keep it short. A promise as result is refused. */
  invoke(input: Input): Output
}

export type Capability<Input = unknown, Output = unknown> =
  | AsyncCapability<Input, Output>
  | SyncCapability<Input, Output>

/** What a capability does without being told otherwise. */
export const DEFAULT_TIMEOUT_MS = 30_000
