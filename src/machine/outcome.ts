/** How a run ended, as data: expected ends are never thrown. */
import type { WaitingCall } from '../capability/approvals.ts'
import type { LimitName } from './limits.ts'
import type { Answer, GuestError, LeftBehind, LogEntry, Usage } from './turn.ts'

export type RunEnd =
  | {
      readonly status: 'completed'
      readonly value: unknown
      /** What was pending and was dropped, where the program was not waited for to the end (`atEnd: 'drop'`). */
      readonly left?: LeftBehind
      /** Why a value that only the guest can hold is not here, of a guest that goes on. */
      readonly unread?: string
    }
  /** The guest threw, or could not go on. Codes of the runtime's own: `aborted`, `stalled`, `not_recorded`, `lease_lost`, `machine_lost`, `corrupted`. */
  | { readonly status: 'failed'; readonly error: GuestError }
  | { readonly status: 'exhausted'; readonly limit: LimitName; readonly message: string }
  | {
      readonly status: 'suspended'
      /** Calls that were asked and not settled, those of `answered` included. None of the others was invoked. */
      readonly pending: readonly WaitingCall[]
      /** Answers that arrived and were not delivered any more, in order of arrival. */
      readonly answered: readonly Answer[]
      /** Ids of pending calls that may have taken effect before a restore: somebody has to decide. */
      readonly inDoubt: readonly number[]
      /** Logical time at which its next timer is due, milliseconds since the epoch; left out where it has none. */
      readonly wakeAtMs?: number
    }

/** What a run used up, time included. */
export interface RunUsage extends Usage {
  /** Milliseconds, to the microsecond, during which the guest computed or a capability worked for it. */
  readonly wallMs: number
  /** Milliseconds, to the microsecond, during which only people or timers were waited for. */
  readonly idleMs: number
}

export type Outcome = RunEnd & {
  readonly usage: RunUsage
  /** Console lines, up to `limits.logBytes`; `usage.logsDropped` counts the others. */
  readonly logs: readonly LogEntry[]
  /** Promises rejected that nobody handled by the end of their turn, and what callbacks of timers threw; the first 100. */
  readonly unhandledRejections: readonly GuestError[]
}
