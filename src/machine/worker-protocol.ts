/**
 * What a host and the Worker that runs its guest say to each other. Plain structured-cloneable data; where
 * values of guests or capabilities are among it, `errors` says what clones of errors lose.
 *
 * The Worker runs code of ours around a guest that it treats as hostile; the host trusts the Worker's code as
 * it trusts its own, and still checks what the session checks of every machine.
 */

import type { ErrorDetails } from '../base/errors.ts'
import type { Answer, PendingCall } from '../capability/call.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import type { CarriedError } from '../values/carried-errors.ts'
import type { MachineCapture, MachineRestore, MachineStart, MemoryChange, Turn } from './turn.ts'

export type HostMessage =
  | {
      readonly type: 'open'
      readonly engine: LoadedEngine
      readonly maxPages: number
      /** Shared with the Worker where the runtime has shared memory: see `SharedControl`. */
      readonly control?: SharedArrayBuffer
    }
  | {
      readonly type: 'start'
      readonly start: MachineStart
      readonly remainingMs: number
      readonly errors: readonly CarriedError[]
    }
  | {
      readonly type: 'settle'
      readonly answers: readonly Answer[]
      readonly nowMs: number
      readonly remainingMs: number
      readonly errors: readonly CarriedError[]
    }
  | { readonly type: 'digest' }
  | { readonly type: 'capture' }
  | {
      readonly type: 'restore'
      readonly from: Omit<MachineRestore, 'changes'> & { readonly changes: readonly MemoryChange[] }
      readonly errors: readonly CarriedError[]
    }
  | { readonly type: 'dispose' }

export type WorkerMessage =
  /** The guest of `open` can start. */
  | { readonly type: 'ready' }
  | { readonly type: 'turn'; readonly turn: Turn; readonly errors: readonly CarriedError[] }
  | { readonly type: 'digest'; readonly digest: string }
  /** The guest of `restore` can go on. */
  | {
      readonly type: 'restored'
      readonly pending: readonly PendingCall[]
      readonly wakeAtMs: number | undefined
      readonly errors: readonly CarriedError[]
    }
  | {
      readonly type: 'captured'
      readonly capture: MachineCapture
      readonly errors: readonly CarriedError[]
    }
  | {
      readonly type: 'sync'
      readonly index: number
      readonly args: unknown
      readonly bytes: number
      readonly errors: readonly CarriedError[]
    }
  | {
      readonly type: 'error'
      readonly code: string
      readonly message: string
      readonly details: ErrorDetails
    }

/**
 * Layout of the shared control block: word 0 is 1 when the turn is to stop, word 1 is the state of a sync
 * call (0 none, 1 answered), word 2 the length of the answer; bytes follow from `ANSWER_OFFSET`.
 */
export const CONTROL = { abort: 0, state: 1, length: 2 } as const
export const ANSWER_OFFSET = 16
/** An answer to a sync call inside a Worker may take so many bytes encoded. */
export const MOST_ANSWER_BYTES = 1_048_576
