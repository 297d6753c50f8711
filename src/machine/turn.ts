/**
 * A guest is a machine that takes turns: `start` or `settle` in, a `Turn` out.
 *
 * Invariants
 * 1. Between turns no wasm frame of the guest is live, or the engine holds them: what cannot be captured says so.
 * 2. A turn that exceeds a limit ends `exhausted` and delivers none of the calls that it asked for.
 * 3. After `completed`, `failed` or `exhausted` the machine takes no further turn.
 * 4. The only calls inside a turn are those of `sync` capabilities.
 * 5. Everything in a `Turn` is a fresh copy: no later act of the guest changes it.
 * 6. In the turn of a `settle` the answers come first, then the timers that are due at its time, one after the other.
 */
import type { Answer, GuestCapability, PendingCall } from '../capability/call.ts'
import type { LimitName, Limits } from './limits.ts'
import type { ModuleGraph } from './module-graph.ts'

// What passes between a guest and the gate is defined below this layer, and part of this contract.
export type { Answer, GuestCapability, GuestFailure, PendingCall, SyncCalls } from '../capability/call.ts'
export { Refusal } from '../capability/call.ts'

/** An error that a guest threw, copied out: hostile text, bounded. */
export interface GuestError {
  /** Name of the error class, or `"Error"` when something else than an error was thrown. */
  readonly name: string
  readonly message: string
  /** Code of a failed capability call, or of the runtime's own (`stalled`), else undefined. A guest may put any code on what it throws. */
  readonly code?: string
  /** The guest's stack, one frame a line, in positions of the guest's own source. */
  readonly stack?: string
  /** Where it was thrown, 1-based; undefined when the engine does not know. */
  readonly position?: { readonly file: string; readonly line: number; readonly column: number }
  readonly cause?: GuestError
}

export type LogLevel = 'debug' | 'log' | 'info' | 'warn' | 'error'

/** A captured console line: hostile text, bounded; show it escaped. */
export interface LogEntry {
  readonly level: LogLevel
  readonly text: string
  /** Logical time, milliseconds since the epoch. */
  readonly atMs: number
}

/** What a guest has used up so far. */
export interface Usage {
  readonly fuel: number
  /** High-water mark of the linear memory in bytes. */
  readonly memoryBytes: number
  readonly calls: number
  readonly bytesIn: number
  readonly bytesOut: number
  /** Console lines and bytes that did not fit into `logBytes`. */
  readonly logsDropped: number
}

export type TurnEnd =
  /** The guest waits for `calls` of this or earlier turns, or for a timer. With nothing pending at all it is stalled. */
  | {
      readonly status: 'waiting'
      /** Logical time at which its next timer is due; a `settle` at or after it fires that one. */
      readonly wakeAtMs?: number
      /** Its value is there: it waits only for what it has left pending. */
      readonly ready?: boolean
    }
  | {
      readonly status: 'completed'
      readonly value: unknown
      /** What was pending and is dropped, where there was something. */
      readonly left?: LeftBehind
      /** Why a value that only the guest can hold is not here, of a guest that goes on. */
      readonly unread?: string
    }
  | { readonly status: 'failed'; readonly error: GuestError }
  | { readonly status: 'exhausted'; readonly limit: LimitName; readonly message: string }

/** What a program that came to its end left pending. */
export interface LeftBehind {
  /** Calls without an answer. Those that had been made may have taken effect. */
  readonly calls: readonly PendingCall[]
  /** Timers that did not fire any more. */
  readonly timers: number
}

/** What becomes of timers and calls that are pending when the value of a program is there. */
export type AtEnd = 'wait' | 'drop'

export type Turn = TurnEnd & {
  /** Calls asked in this turn, in order. Empty unless `status` is `waiting`. */
  readonly calls: readonly PendingCall[]
  /** Console lines of this turn. */
  readonly logs: readonly LogEntry[]
  /** Promises rejected in this turn that nobody handled by its end, and what callbacks of timers threw. */
  readonly unhandledRejections: readonly GuestError[]
  /** Totals since the start. */
  readonly usage: Usage
}

/** How the source is to be read. `auto` decides by what the engine's own parser says. */
export type ProgramForm = 'auto' | 'script' | 'body' | 'module'

/** What an author wrote, where the machine is given something that was made of it. */
export interface WrittenSource {
  readonly language: 'js' | 'ts'
  /** Of the source as its author wrote it, as UTF-8. */
  readonly digest: string
  /** Digest of what made JavaScript of it: with the source's, it determines `MachineStart.source`. */
  readonly by: string
  /** Where places in `MachineStart.source` come from: see `program/original-place.ts`. */
  readonly places: readonly number[]
}

export interface MachineStart {
  /** JavaScript. */
  readonly source: string
  /**
   * What a machine starts that runs no JavaScript (`source` is empty then): a plain value of its own, which `values/`
   * can encode and which names its code by digest. The machine checks it.
   */
  readonly program?: unknown
  /** Left out where the author wrote `source`. */
  readonly written?: WrittenSource | undefined
  /** The end of a program that cannot begin: there is no JavaScript of its source, which `source` is then. */
  readonly ended?: Extract<TurnEnd, { status: 'failed' | 'exhausted' }> | undefined
  readonly form: ProgramForm
  /** Shown in stacks. */
  readonly fileName: string
  /** Given to the program as `input`. */
  readonly input: unknown
  readonly capabilities: readonly GuestCapability[]
  readonly limits: Limits
  /** 32 bytes. Secret from the guest. */
  readonly seed: Uint8Array
  /** Logical time of the first turn, milliseconds since the epoch. */
  readonly nowMs: number
  /** What the program imports; left out where it imports nothing. */
  readonly modules?: ModuleGraph
  /** Default `wait`: it has completed when nothing is pending any more. */
  readonly atEnd?: AtEnd | undefined
  /**
   * The guest in which the program begins: one that an earlier program left, with its globals, its time and its random
   * streams; `seed` is not used then. Left out, a new guest.
   */
  readonly after?: MachineImage
  /** Whether the guest can be captured once the program has completed. */
  readonly keep?: boolean
}

/** What decides about time inside a turn. Checked at the end of every slice of fuel, in the host's own thread. */
export interface TurnControl {
  /** Monotonic milliseconds after which the turn must stop as `wall`; `Infinity` for none. */
  readonly deadline: number
  /** Set to stop the turn at the end of the current slice. */
  readonly aborted?: () => boolean
}

/** What a part of the memory became: a page of `PAGE_BYTES`, or undefined for zeros, and its number from 0. */
export type MemoryChange = readonly [page: number, bytes: Uint8Array | undefined]

/** A machine between two turns as data. */
export interface MachineCapture {
  /** Size of the linear memory. */
  readonly memoryBytes: number
  /** Pages that changed since the last capture or restore, else since the machine's base image; ascending, copies. */
  readonly changes: readonly MemoryChange[]
  /** Everything beside the memory: a plain value of the machine's own, which `values/` can encode. */
  readonly state: unknown
}

/** A guest whose program has completed: another one can begin in it. `state` is as in the capture. */
export type MachineImage = Pick<MachineRestore, 'memoryBytes' | 'changes' | 'state'>

export interface MachineRestore {
  readonly memoryBytes: number
  /** Every page that differs from the machine's base image. */
  readonly changes: Iterable<MemoryChange>
  /** As in the capture; hostile where it was outside of the process. */
  readonly state: unknown
  /** The same names as at the capture, in any order: what `SyncCalls` counts by. */
  readonly capabilities: readonly GuestCapability[]
  readonly limits: Limits
}

/** The common contract of all guests. In-thread machines answer at once, Worker machines with a promise. */
export interface Machine {
  start(start: MachineStart, control: TurnControl): Turn | Promise<Turn>
  /**
   * Delivers answers, fires the timers that are due at `nowMs`, and lets the guest go on.
   * @throws CaissonError `unknown_call` for an id that is not pending, `isolate_destroyed` after an end
   */
  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn | Promise<Turn>
  /**
   * The machine as data. It stays as it is, and can go on.
   * @throws CaissonError `busy` inside a turn, `isolate_destroyed` unless it waits, or has completed a program that was
   *   started with `keep`
   */
  capture(): MachineCapture | Promise<MachineCapture>
  /**
   * Instead of `start`: puts a captured machine into this fresh one, which then waits as the captured one did.
   * @throws CaissonError `corrupted` when the data contradicts itself, `checkpoint_refused` for other capabilities
   */
  restore(from: MachineRestore): void | Promise<void>
  /** Calls that were asked and not yet settled. */
  readonly pending: readonly PendingCall[]
  /** Logical time at which the next timer of a waiting guest is due; undefined where it has none. */
  readonly wakeAtMs: number | undefined
  /** Digest of the guest's whole live state, equal on every runtime for equal histories. */
  stateDigest(): string | Promise<string>
  /** Gives the memory back, overwritten. Late answers are dropped. */
  dispose(): void
}
