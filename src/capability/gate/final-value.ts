/**
 * The arguments of a call after validation: what is authorised, approved, recorded and invoked.
 *
 * Invariants
 * 1. Nothing changes it: not the validator that made it, not a constraint, cost, approver, log or implementation.
 * 2. `view()` and `copy()` always give the same value.
 *
 * Plain objects and arrays are frozen and can be shown to everybody. Dates, Maps, Sets, buffers and regular
 * expressions have contents that `Object.freeze` does not reach, so a value that holds one is never shown itself:
 * every reader gets a copy.
 */
import { copyMeasured, copyValue } from '../../values/copy-value.ts'
import type { ValueLimits } from '../../values/limits.ts'

export class FinalValue {
  readonly #own: unknown
  /** Whether freezing reached everything. */
  readonly #rigid: boolean
  readonly #limits: ValueLimits

  /** @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep` */
  constructor(value: unknown, limits: ValueLimits) {
    const copied = copyMeasured(value, limits, 'args', true)
    this.#own = copied.value
    this.#rigid = !copied.unfreezable
    this.#limits = limits
  }

  /** The value to look at. Frozen where that is possible, else a copy. */
  view(): unknown {
    return this.#rigid ? this.#own : this.copy()
  }

  /** The value to give away: the receiver may change it. */
  copy(): unknown {
    const own = this.#own
    return typeof own === 'object' && own !== null ? copyValue(own, this.#limits, 'args') : own
  }
}
