/**
 * What lives and dies together: all instances of one opened component. They share a budget of values, and the first fault
 * of any of them ends all.
 */

import type { ValueLimits } from '../../values/limits.ts'
import { ValueBudget } from '../abi/value-budget.ts'

export class FaultDomain {
  readonly #stopGuest: () => void
  #fault: { readonly error: unknown } | undefined
  /** Of the call that is under way; whoever begins one resets it. */
  readonly budget: ValueBudget
  /** Frames of the host that stand between the outermost call and the guest code that runs: of calls between components. */
  nesting = 0

  /** @param stopGuest makes guest code end at its next check: a fault was found below it, and imports do not throw */
  constructor(limits: Pick<ValueLimits, 'bytes' | 'nodes'>, stopGuest: () => void) {
    this.#stopGuest = stopGuest
    this.budget = new ValueBudget(limits)
  }

  get over(): boolean {
    return this.#fault !== undefined
  }

  /** The first fault. */
  get fault(): unknown {
    return this.#fault?.error
  }

  fail(error: unknown): void {
    if (this.#fault !== undefined) return
    this.#fault = { error }
    this.#stopGuest()
  }

  /** After guest code returned: a fault below it must not pass for success. */
  checkAlive(): void {
    if (this.#fault !== undefined) throw this.#fault.error
  }
}
