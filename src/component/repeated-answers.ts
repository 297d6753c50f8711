/**
 * How a guest waits that can neither be unwound nor be held: it is given up, and executed again from its beginning when
 * there is an answer. What it was answered before is answered again, at the same places and at the same times.
 *
 * Invariants
 * 1. A guest that is given up does nothing any more: no import of it reaches anybody.
 * 2. The same answers lead to the same place: guests are deterministic. One that asks for something else is ended.
 */
import { sha256 } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { Answer, PendingCall } from '../capability/call.ts'
import { encodeCanonical } from '../values/encode-canonical.ts'
import type { SuspendingImport } from './core/core-manifest.ts'

/** Of a turn: what was asked before it, and what it began with. */
export interface Settlement {
  /** In words: see `askedFor`. */
  readonly asked: readonly string[]
  readonly answers: readonly Answer[]
  readonly nowMs: number
}

/** The fault of a guest that was given up. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** What it takes of the guest that is executed. */
export interface AnsweredGuest {
  deliver(answers: readonly Answer[], at: SuspendingImport): (() => unknown) | undefined
  /** What was asked since this was taken last. */
  takeAsked(): readonly PendingCall[]
  advance(nowMs: number): void
  fuel(): number
}

export class RepeatedAnswers {
  readonly #settlements: readonly Settlement[]
  #next = 0
  #fuel: number | undefined

  constructor(settlements: readonly Settlement[]) {
    this.#settlements = settlements
  }

  /** Fuel used until it was given up; undefined where it was not. */
  get fuelWhenGivenUp(): number | undefined {
    return this.#fuel
  }

  /** @returns what makes the answer of the import @throws GivenUp where there is none yet */
  suspend(at: SuspendingImport, guest: AnsweredGuest): () => unknown {
    for (;;) {
      const settlement = this.#settlements[this.#next]
      if (settlement === undefined) {
        this.#fuel = guest.fuel()
        throw new GivenUp('The guest waits.')
      }
      this.#next += 1
      if (askedFor(guest.takeAsked()).join() !== settlement.asked.join()) throw diverged()
      guest.advance(settlement.nowMs)
      const make = guest.deliver(settlement.answers, at)
      if (make !== undefined) return make
    }
  }
}

/** One call each: what it is, exactly. */
export function askedFor(calls: readonly PendingCall[]): readonly string[] {
  return calls.map(({ id, capability, args }) => `${id} ${capability} ${fingerprint(args)}`)
}

/** Equal for equal arguments, and for no others. */
export function fingerprint(args: unknown): string {
  return sha256(encodeCanonical(args))
}

/** What ends a guest that asks for something else than it did. */
export function diverged(): CaissonError {
  return new CaissonError(
    'diverged',
    'The guest asked for something else than before when it was executed again: something that it reads has changed meanwhile.',
  )
}
