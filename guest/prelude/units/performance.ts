/** `performance`, on logical time. Marks and measures are left out: nobody could collect them. */
import type { Unit } from '../host.ts'

const unit: Unit = ({ host }) => {
  let isOurs = false
  class Performance {
    readonly #timeOrigin = host.timeOrigin()

    constructor() {
      if (!isOurs) throw new TypeError('Illegal constructor')
    }

    get timeOrigin(): number {
      return this.#timeOrigin
    }

    now(): number {
      void this.#timeOrigin
      return host.now()
    }

    toJSON(): object {
      return { timeOrigin: this.#timeOrigin }
    }
  }
  isOurs = true
  const performance = new Performance()
  isOurs = false
  return { performance, Performance }
}
export default unit
