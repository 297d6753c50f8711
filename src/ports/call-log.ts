/**
 * Where the gate records every effect: an intent before it is invoked, a result after it.
 *
 * A log that cannot record an intent rejects, and then the call is not invoked. Values are the frozen,
 * final values: what is recorded is what was invoked. A later implementation makes this durable.
 */
export interface CallLog {
  /** Resolves when the intent is recorded. The effect happens only after that. */
  intent(record: CallIntent): void | Promise<void>
  /** Resolves when the result is recorded. The guest gets its answer only after that. */
  result(record: CallResult): void | Promise<void>
  /**
   * The calls of `sync` capabilities of one turn, in order, handed over when the turn has ended and before any
   * awaited call of it is invoked. They are read-only, so they have no intents. Left out: they are not recorded.
   */
  syncCalls?(records: readonly SyncCallRecord[]): void | Promise<void>
}

/** A call answered inside a turn. Values are frozen, or copies where freezing does not reach. */
export type SyncCallRecord =
  | { readonly capability: string; readonly args: unknown; readonly ok: true; readonly value: unknown }
  | {
      readonly capability: string
      readonly args: unknown
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly name?: string
      readonly details?: Readonly<Record<string, string | number | boolean>>
    }

export interface CallIntent {
  /** The call's id, unique within its guest. */
  readonly id: number
  readonly capability: string
  readonly effect: 'read' | 'write' | 'destructive'
  /** Derived by the host from guest and call; equal for every attempt at the same call. */
  readonly idempotencyKey: string
  /** The final, frozen arguments. */
  readonly args: unknown
  /** Logical time of the request in milliseconds since the epoch. */
  readonly askedAtMs: number
  /** Whether its capability was one that may be called again for the same call. Left out by earlier builds. */
  readonly repeatable?: boolean
  /** Whether a person approved exactly this. Left out by earlier builds. */
  readonly approved?: boolean
  /** Who did, and over which request; `edited` where they changed the arguments. Left out where an `Approver` did. */
  readonly decision?: {
    readonly request: string
    readonly by: string
    readonly comment: string
    readonly edited: boolean
  }
}

export type CallResult =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | {
      readonly id: number
      readonly ok: false
      readonly code: string
      readonly message: string
      readonly name?: string
      readonly details?: Readonly<Record<string, string | number | boolean>>
    }
