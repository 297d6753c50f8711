/** A component that was opened, as its embedder holds it. What it does, and its invariants: `component-instance.ts`. */
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentOutcome } from './component-outcome.ts'

export interface CallOptions {
  readonly signal?: AbortSignal
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
  /** Refuses further calls and lets go of everything. */
  [Symbol.dispose](): void
}
