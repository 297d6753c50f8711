/**
 * Where it is told what happens, for traces and metrics.
 *
 * The runtime stands between a sink and a run: what a sink throws or rejects with is dropped and counted, and nothing
 * that it returns is waited for. A method that computes for long keeps the thread of the host: queue, and export later.
 *
 * Invariants
 * 1. Without `content` a sink receives names, numbers and digests, and never a value of a guest, a model or a service.
 * 2. Names and codes that a guest can choose are told only where they are known ones: a guest makes no new series.
 */

export interface Telemetry {
  /**
   * Wants arguments and results of calls too. Default false. Of a guest with the label `secret` they are never told;
   * what else must not leave the host is for the sink to take out.
   */
  readonly content?: boolean
  /** Something happened. */
  event(name: TelemetryEvent, attributes: Readonly<Record<string, string | number | boolean>>): void
  /** Something that lasts begins. Left out, or undefined returned: nobody wants to know of it. */
  span?(start: SpanStart): TelemetrySpan | undefined
}

export type TelemetryEvent =
  /** A call failed: `capability`, `code`. */
  | 'capability.failed'
  /** Sync calls of one turn: `capability`, `count`, and `failed` of them. */
  | 'capability.sync_calls'
  /** A checkpoint could not be written: `code`. */
  | 'checkpoint.unwritten'
  /** A guest began or ended to live in this process: `change` is 1 or -1. */
  | 'guest.live'
  /** A guest waits for nothing but a timer, a second or more: `ms`. */
  | 'guest.sleeping'
  /** An image of the state of a run of a plan could not be used: `code`. Its journal was read instead. */
  | 'image.passed_over'
  /** A kept run goes on: `answersRepeated`, `callsUnanswered`. */
  | 'run.resumed'
  /** So much was not told, because the sink threw or rejected: `count`. */
  | 'telemetry.dropped'

/** `run` of a program or a plan in this process, until it ends or is put down; `node` with all its attempts. */
export type SpanKind = 'run' | 'node' | 'call' | 'approval' | 'checkpoint'

/** What spans say of themselves. */
export interface SpanAttributes {
  /** `program` or `plan`. */
  readonly form?: 'program' | 'plan'
  /** Name of a kept run, or of a run of a plan. */
  readonly run?: string
  /** It goes on with what an earlier process, or an earlier call of this one, put down. */
  readonly resumed?: boolean
  /** Id of the engine build. */
  readonly engine?: string
  readonly plan?: string
  readonly planVersion?: string
  readonly planDigest?: string
  /** Path of the node: ids, and between them numbers of items and rounds. */
  readonly node?: string
  readonly nodeKind?: string
  readonly capability?: string
  readonly effect?: string
  /** Number of the call in its guest, or of the call of a node in its run. */
  readonly callId?: number
  readonly attempts?: number
  /** All that it used, earlier processes included. */
  readonly fuel?: number
  readonly memoryBytes?: number
  readonly calls?: number
  readonly bytesIn?: number
  readonly bytesOut?: number
  /** Size of a checkpoint. */
  readonly bytes?: number
  /** Id of a checkpoint. */
  readonly checkpoint?: string
  readonly stateDigest?: string
  /** Digest of what a person is asked. */
  readonly request?: string
  /** The limit that ended it. */
  readonly limit?: string
}

export interface SpanStart {
  readonly kind: SpanKind
  /** Of few values: name of the plan, place of the node in it, name of the capability; empty for a program. */
  readonly name: string
  /** One that this sink gave. Left out: whatever the sink holds for current. */
  readonly parent?: TelemetrySpan | undefined
  /** `traceparent` of earlier spans that it goes on with. */
  readonly links?: readonly string[]
  /** When it began, milliseconds since the epoch. Default: now. */
  readonly atMs?: number
  readonly attributes: SpanAttributes
  /** The arguments of a call as they were asked for: where the sink wants content. Not to be changed. */
  readonly content?: { readonly args: unknown }
}

export interface TelemetrySpan {
  /** What names it in other processes: a `traceparent` of W3C Trace Context. Kept with a run, so that who goes on links to it. */
  readonly traceparent?: string | undefined
  /** Something happened in it. */
  event?(name: SpanEvent, attributes: SpanEventAttributes): void
  /** Does something as a part of it, and gives back what that gives. */
  within?<T>(work: () => T): T
  /** Called once. */
  end(end: SpanEnd): void
}

export type SpanEvent = 'retrying' | 'waiting' | 'frozen' | 'recovered'

export interface SpanEventAttributes {
  readonly attempt?: number
  readonly error?: SpanError | undefined
  /** What is waited for, or why it stands still. */
  readonly reason?: string
}

export interface SpanEnd {
  /**
   * `completed`, `failed` and so on as runs, nodes and calls end; of a call `refused` where it was not made, `asked`
   * where a person has to decide first; of an approval `approved`, `rejected` or `stopped`; `lost` where this process may not go on.
   */
  readonly outcome: string
  readonly error?: SpanError | undefined
  /** When it ended, milliseconds since the epoch. Default: now. */
  readonly atMs?: number
  readonly attributes?: SpanAttributes
  /** What was used up in this process, and not told by a span inside of it. */
  readonly spent?: { readonly fuel: number; readonly bytesIn: number; readonly bytesOut: number }
  /** The result of a call: where the sink wants content. Not to be changed. */
  readonly content?: { readonly result: unknown }
}

export interface SpanError {
  /** A code of ours, or `guest_error` for one that a guest made up. */
  readonly code: string
  /** Of nodes: the class of the failure. */
  readonly class?: string
}
