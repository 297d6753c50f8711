/**
 * What passes between a guest and the gate: calls asked, answers given, failures as a guest sees them.
 *
 * It stands here, below the machines, because the gate answers calls without knowing what kind of machine
 * asked. `machine/turn` re-exports it as part of its contract.
 */

/** What a guest asked for and waits for. */
export interface PendingCall {
  /** Counts from 1 within a guest, in the order in which calls were asked. */
  readonly id: number
  readonly capability: string
  /** The argument as a host value; `undefined` when there was none. A copy, not yet validated. */
  readonly args: unknown
  /** Bytes that the argument takes in its canonical size; counted against `bytesOut`. */
  readonly bytes: number
  /** Logical time of the request, milliseconds since the epoch. */
  readonly askedAtMs: number
}

/** The host's answer to a pending call. */
export type Answer =
  | { readonly id: number; readonly ok: true; readonly value: unknown }
  | { readonly id: number; readonly ok: false; readonly error: GuestFailure }

/** A failure as a guest sees it: an `Error` with `name`, `message` and a stable `code`. Redacted and bounded. */
export interface GuestFailure {
  readonly code: string
  readonly message: string
  readonly name?: string
  /** Plain data for the guest to act on, e.g. `{ retryAfterMs: 1200 }`. */
  readonly details?: Readonly<Record<string, string | number | boolean>>
  /**
   * The stack that it has in the guest, in lines as the engine writes them; "" for none. Left out, the engine writes one
   * where the guest awaits the call. (Not called `stack`: no error of the host's is a failure with a stack.)
   */
  readonly frames?: string
}

/** Answers the calls of `sync` capabilities inside a turn. Never throws: the frames below it are the guest's. */
export interface SyncCalls {
  /**
   * `index` counts in the order of `MachineStart.capabilities`. Returns the value, or a `Refusal`.
   * @param args a fresh copy, to which the machine keeps no reference
   */
  call(index: number, args: unknown, argBytes: number): unknown
}

/** A sync call that failed. A class, so that the successful path needs no wrapper. */
export class Refusal {
  readonly failure: GuestFailure
  constructor(failure: GuestFailure) {
    this.failure = failure
  }
}

/** A capability as the guest sees it. `name` is dotted: `prices.lookup` becomes `globalThis.prices.lookup`. */
export interface GuestCapability {
  readonly name: string
  readonly sync: boolean
  /** It came with the grant of another one: a guest that was captured before there was it goes on without. */
  readonly continues?: string
}
