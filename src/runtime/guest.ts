/** A guest that the embedder runs step by step. */
import { DISPOSE } from '../base/disposal.ts'
import type { CapturedGuest, Stepper } from '../machine/stepper.ts'
import type { PendingCall } from '../machine/turn.ts'
import type { Outcome } from './outcome.ts'

export interface Guest {
  /** Calls that wait for an answer, in the order in which they were asked. */
  readonly pending: readonly PendingCall[]
  /**
   * Ids of pending calls of a restored guest that may have taken effect before, and that no record tells of. Those
   * of idempotent capabilities are not among them: they can be made again.
   */
  readonly inDoubt: readonly number[]
  /** Logical time at which its next timer is due, milliseconds since the epoch; undefined without one. */
  readonly wakeAtMs: number | undefined
  /** How the guest ended; undefined while it waits. */
  readonly outcome: Outcome | undefined
  /**
   * Answers a call by hand and runs the guest on. The gate still validates, authorises, counts and records.
   * @returns the code of the refusal that the guest got instead, if the gate refused
   * @throws CaissonError `unknown_call`; `invalid_result`, `result_too_large`, `value_refused`, `value_too_deep` for a
   *   value that the capability could not have given: then nothing happened, and the call is still pending
   */
  settle(id: number, value: unknown): Promise<string | undefined>
  /** Lets a call fail. The guest sees of `error` what the capability exposes. */
  reject(id: number, error: unknown): Promise<string | undefined>
  /**
   * Lets the gate answer a call by invoking its capability.
   * @param options `confirm: true` makes a call again that is in doubt
   * @throws CaissonError `unknown_call`, `in_doubt`
   */
  invoke(id: number, options?: { readonly confirm?: boolean }): Promise<string | undefined>
  /**
   * Fires the next timer of the guest, and all others that are due by then. Logical time goes to `wakeAtMs`, where it
   * is not there yet: nothing is waited for.
   * @throws CaissonError `no_timer`
   */
  wake(): Promise<void>
  /** Lets the gate answer everything from here on, and timers fire at their times. Ends `suspended` when only calls in doubt are waited for. */
  finish(): Promise<Outcome>
  /**
   * The guest as bytes that stand alone: `restore` takes them, in this process or in another one. Waits for the steps
   * that were asked for before; the guest goes on as it was.
   * @throws CaissonError `isolate_destroyed` when it has ended, `encryption_required`, `checkpoint_too_large`
   */
  checkpoint(): Promise<Uint8Array>
  /**
   * The digest of its state while it waits, as `checkpoint` sees it: equal on every runtime for equal histories. That
   * of its end stands in the outcome, where `stateDigest` was asked for.
   * @throws CaissonError `isolate_destroyed` when it has ended
   */
  stateDigest(): Promise<string>
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
  readonly write: (captured: CapturedGuest) => Promise<Uint8Array>
  /** The digest of the state that it ended in, for its outcome; left out where nobody asked. */
  readonly digest?: () => Promise<string | undefined>
}

/** @returns the guest, when its outcome is whole in case it has ended already */
export async function createGuest({ stepper, complete, release, write, digest }: GuestParts): Promise<Guest> {
  let outcome: Outcome | undefined
  let closing: Promise<void> | undefined
  // Inside a turn (a sync capability that disposes its own guest) there is nothing to give back yet: the step
  // that took the turn comes here again.
  const ended = (): void => {
    if (outcome !== undefined || stepper.inTurn || stepper.outcome === undefined) return
    outcome = complete(stepper.outcome)
    if (digest === undefined) release()
    else closing = closeWithDigest(outcome, digest)
  }
  const closeWithDigest = async (of: Outcome, digestOf: NonNullable<typeof digest>): Promise<void> => {
    try {
      const stateDigest = await digestOf()
      if (stateDigest !== undefined) outcome = { ...of, stateDigest }
    } finally {
      release()
    }
  }
  const step = async <T>(taking: Promise<T>): Promise<T> => {
    try {
      return await taking
    } finally {
      ended()
      await closing
    }
  }
  const dispose = (): void => {
    stepper.abort()
    ended()
  }
  stepper.onEnd(ended)
  ended()
  await closing
  return {
    get pending() {
      return stepper.pending
    },
    get wakeAtMs() {
      return stepper.wakeAtMs
    },
    get outcome() {
      return outcome
    },
    settle: (id, value) => step(stepper.settle(id, value)),
    reject: (id, error) => step(stepper.reject(id, error)),
    invoke: (id, { confirm = false } = {}) => step(stepper.invoke(id, confirm)),
    wake: () => step(stepper.wake()),
    async finish() {
      await step(stepper.finish())
      return outcome as Outcome
    },
    checkpoint: async () => write(await stepper.capture()),
    stateDigest: () => stepper.stateDigest(),
    get inDoubt() {
      return stepper.inDoubt
    },
    dispose,
    [DISPOSE]: dispose,
  } as Guest
}
