/** How a call of a component's export ended, as data: expected ends are never thrown. */
import type { WaitingCall } from '../capability/approvals.ts'
import type { LimitName } from '../machine/limits.ts'
import type { GuestError } from '../machine/turn.ts'

export interface ComponentUsage {
  /** Of all calls of the instance, and of its start. */
  readonly fuel: number
  /** Bytes in all its memories now: they never shrink. */
  readonly memoryBytes: number
  /** Of this call, in milliseconds to the microsecond. */
  readonly wallMs: number
}

export type ComponentEnd =
  /** A `result` of WIT is a value: `{ tag: 'ok', val }` or `{ tag: 'err', val }`. */
  | { readonly status: 'completed'; readonly value: unknown }
  /** The guest ended itself (`wasi:cli/exit`). */
  | { readonly status: 'exited'; readonly exitCode: number }
  /** It trapped, or did what no guest may (code `trapped`), it was aborted, or an import broke (`capability_failed`). */
  | { readonly status: 'failed'; readonly error: GuestError }
  | { readonly status: 'exhausted'; readonly limit: LimitName; readonly message: string }

/** After any other end than `completed` and `suspended` the instance takes no further call. */
export type ComponentOutcome = (ComponentEnd | ComponentSuspended) & { readonly usage: ComponentUsage }

/**
 * It was parked where it waits (`stopAtCall`, a person who has to decide, a call in doubt), and can be checkpointed there and
 * gone on with.
 */
export interface ComponentSuspended {
  readonly status: 'suspended'
  /** What it waits for. None of it was invoked, but for what is in doubt. */
  readonly pending: readonly WaitingCall[]
  /** Ids of calls that may have taken effect before a restore: somebody has to decide. */
  readonly inDoubt: readonly number[]
}

/** Thrown by an import that ends the guest because the guest asked for it. */
export class GuestExit extends Error {
  override readonly name = 'GuestExit'
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`The guest exited with ${exitCode}.`)
    this.exitCode = exitCode
  }
}

/** Ends the guest that calls an import, as what it says. */
export class GuestStop extends Error {
  override readonly name = 'GuestStop'
  readonly end: ComponentEnd

  constructor(end: ComponentEnd) {
    super('The guest was stopped.')
    this.end = end
  }
}
