/** What the unit `abort` gives to other units, beside its globals. */
export interface AbortExports {
  /** @throws TypeError for what is no AbortSignal */
  readonly isAborted: (signal: unknown) => boolean
  /** Calls `act` when the signal aborts, before its listeners hear of it. @returns what calls that off */
  readonly onAbort: (signal: unknown, act: () => void) => () => void
  /** Why it was aborted. */
  readonly reasonOf: (signal: unknown) => unknown
  /** A signal that `abortSignal` aborts. */
  readonly createSignal: () => object
  /** Aborts one of `createSignal`, unless it was; without a reason by an `AbortError`. */
  readonly abortSignal: (signal: object, reason: unknown) => void
}
