/** A component that was opened, as its embedder holds it. What it does, and its invariants: `component-instance.ts`. */

import type { WasiOutput } from '../ports/wasi-host.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentOutcome } from './component-outcome.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
  /** Parks the call when it has asked for so many capabilities that are answered later: that one is not invoked. From 1. */
  readonly stopAtCall?: number
}

export interface GoOnOptions extends Pick<CallOptions, 'signal'> {
  /** Answers to pending calls, by hand: for calls in doubt of which somebody knows how they ended. They pass the gate. */
  readonly answers?: readonly ({ readonly id: number } & (
    | { readonly value: unknown }
    | { readonly error: unknown }
  ))[]
  /** Ids of calls in doubt that are to be made again. */
  readonly confirm?: readonly number[]
}

export interface OpenComponent extends Disposable {
  /** Names of functions as `call` takes them, with their types. */
  readonly exports: readonly { readonly name: string; readonly type: FunctionType }[]
  /** Whether it takes a call now. */
  readonly state: 'idle' | 'busy' | 'over'
  /** Bytes in all memories of the instance. */
  readonly memoryBytes: number
  /** What the last fault was, for the host; undefined while the instance lives. */
  readonly fault: unknown
  /**
   * Calls an export: `run`, or `example:shop/prices@1.0.0#lookup` for one of an interface.
   * @param args in the shapes of `abi/wit-type.ts`; `undefined` for absent options
   * @throws CaissonError `not_found`, `invalid_arguments` with the path, `value_too_large`, `busy`,
   *   `isolate_destroyed`, `aborted`
   */
  call(name: string, args?: readonly unknown[], options?: CallOptions): Promise<ComponentOutcome>
  /**
   * Goes on with a call that is parked, of this instance or of the checkpoint that it was opened from.
   * @throws CaissonError `invalid_argument` where none is; `unknown_call`, `invalid_result`, `result_too_large`,
   *   `value_refused`, `value_too_deep` for decisions over what is not pending, or could not be: it stays parked
   */
  goOn(options?: GoOnOptions): Promise<ComponentOutcome>
  /** Whether a call is parked, and `goOn` goes on with it. */
  readonly waits: boolean
  /**
   * Its state as bytes, between two calls or while a call waits for a capability: `openComponent` takes them as `from`, in
   * another process too.
   * @throws CaissonError `unsupported` with what cannot be captured, `busy`, `isolate_destroyed`, `encryption_required`,
   *   `checkpoint_too_large`
   */
  checkpoint(): Promise<Uint8Array>
  /** Digest of its whole state, equal on every runtime for equal histories. @throws CaissonError as `checkpoint` */
  stateDigest(): string
  /** What it wrote by now, at most `limits.logBytes` of each. */
  readonly stdout: WasiOutput
  readonly stderr: WasiOutput
  /** Refuses further calls and lets go of everything. */
  [Symbol.dispose](): void
}

/** One whose stack is held where it waits (`suspension: 'jspi'`): there is more of it than can be captured. */
export type LiveComponent = Omit<OpenComponent, 'checkpoint' | 'stateDigest'>
