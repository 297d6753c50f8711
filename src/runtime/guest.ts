/** A guest that the embedder runs step by step. */
import { DISPOSE } from '../base/disposal.ts'
import type { Stepper } from '../machine/stepper.ts'
import type { PendingCall } from '../machine/turn.ts'
import type { Outcome } from './outcome.ts'

export interface Guest {
  /** Calls that wait for an answer, in the order in which they were asked. */
  readonly pending: readonly PendingCall[]
  /** How the guest ended; undefined while it waits. */
  readonly outcome: Outcome | undefined
  /**
   * Answers a call by hand and runs the guest on. The gate still validates, authorises, counts and records.
   * @returns the code of the refusal that the guest got instead, if the gate refused the call (arguments, grant, budget)
   * @throws CaissonError `unknown_call`; `invalid_result`, `result_too_large`, `value_refused` or `value_too_deep` when
   *   the value is none that the capability could have given: then nothing happened, and the call is still pending
   */
  settle(id: number, value: unknown): Promise<string | undefined>
  /** Lets a call fail. The guest sees of `error` what the capability exposes. */
  reject(id: number, error: unknown): Promise<string | undefined>
  /** Lets the gate answer a call by invoking its capability. */
  invoke(id: number): Promise<string | undefined>
  /** Ends the guest and gives its memory back. */
  dispose(): void
  [Symbol.dispose](): void
}

export interface GuestParts {
  readonly stepper: Stepper
  /** Adds what the runtime knows to the outcome. */
  readonly complete: (outcome: NonNullable<Stepper['outcome']>) => Outcome
  /** Gives everything back. Called once, never inside a turn. */
  readonly release: () => void
}

export function createGuest({ stepper, complete, release }: GuestParts): Guest {
  let outcome: Outcome | undefined
  // Inside a turn (a sync capability that disposes its own guest) there is nothing to give back yet: the step
  // that took the turn comes here again.
  const ended = (): void => {
    if (outcome !== undefined || stepper.inTurn || stepper.outcome === undefined) return
    outcome = complete(stepper.outcome)
    release()
  }
  const step = async (taking: Promise<string | undefined>): Promise<string | undefined> => {
    try {
      return await taking
    } finally {
      ended()
    }
  }
  const dispose = (): void => {
    stepper.abort()
    ended()
  }
  stepper.onEnd(ended)
  ended()
  return {
    get pending() {
      return stepper.pending
    },
    get outcome() {
      return outcome
    },
    settle: (id, value) => step(stepper.settle(id, value)),
    reject: (id, error) => step(stepper.reject(id, error)),
    invoke: (id) => step(stepper.invoke(id)),
    dispose,
    [DISPOSE]: dispose,
  } as Guest
}
