/**
 * Stage: a call that was made again and again with nothing new coming of it is not made once more.
 *
 * Calls are told apart by the arguments as they were asked for, failures by capability, code and message. Calls that are
 * refused before, and those that a person rejects, count as well: whoever asks a person the same without end is stopped
 * too. Calls of `sync` capabilities are not looked at: they change nothing, and fuel and `calls` bound them.
 */
import type { PendingCall } from '../call.ts'
import { Refusal } from '../call.ts'
import { fingerprint } from '../fingerprint.ts'
import type { LoopGuard, LoopStep } from '../loop-guard.ts'
import { refuse, shortName } from './refuse.ts'

export class LoopStage {
  readonly #guard: LoopGuard | undefined
  /** Steps of calls that were let in, by their ids. */
  readonly #begun = new Map<number, LoopStep>()

  /** @param guard without one, nothing is stopped */
  constructor(guard: LoopGuard | undefined) {
    this.#guard = guard
  }

  /** Undefined when the call may be made. */
  enter(call: PendingCall): Refusal | undefined {
    const step = this.#stepOf(call)
    if (this.#guard === undefined || step === undefined) return undefined
    const found = this.#guard.check(step)
    if (found !== undefined)
      return refuse('loop_detected', `${found.message} It is not made again: do something else.`, {
        kind: found.kind,
        count: found.count,
      })
    this.#begin(call, step)
    return undefined
  }

  /** A call that was let in before, by the record of its run. */
  enterAgain(call: PendingCall): void {
    const step = this.#stepOf(call)
    if (step !== undefined) this.#begin(call, step)
  }

  /** How a call ended, let in or not. */
  leave(call: PendingCall, outcome: { readonly value: unknown } | Refusal): void {
    const begun = this.#begun.get(call.id)
    this.#begun.delete(call.id)
    const failure = outcome instanceof Refusal ? outcome.failure : undefined
    if (failure !== undefined && UNTOLD.has(failure.code)) {
      if (begun !== undefined) this.#guard?.drop(begun)
      return
    }
    const step = begun ?? this.#stepOf(call)
    if (step === undefined) return
    if (failure !== undefined)
      this.#guard?.end(step, { ok: false, error: `${failure.code}: ${failure.message}`.slice(0, 200) })
    else {
      const value = fingerprint((outcome as { readonly value: unknown }).value)
      if (value === undefined) this.#guard?.drop(step)
      else this.#guard?.end(step, { ok: true, value })
    }
  }

  #begin(call: PendingCall, step: LoopStep): void {
    this.#begun.set(call.id, step)
    this.#guard?.begin(step)
  }

  #stepOf({ capability, args }: PendingCall): LoopStep | undefined {
    if (this.#guard === undefined) return undefined
    const name = shortName(capability)
    const print = fingerprint(args)
    return print === undefined ? undefined : { key: `${name} ${print}`, name }
  }
}

/** Of these nobody knows what would have come: a run that was stopped, and what was stopped here. */
const UNTOLD: ReadonlySet<string> = new Set(['aborted', 'lease_lost', 'not_recorded', 'loop_detected'])
