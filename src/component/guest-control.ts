/** What stands behind imports can do to the guest that calls them. Filled in when the guest is made. */
import type { FuelGauge } from '../machine/fuel-gauge.ts'

export interface GuestControl {
  /** Charged for what the host does in a call. Only inside of one. */
  readonly gauge: FuelGauge
  /** The guest ends with this as soon as the import has returned. The first one counts. */
  end(error: unknown): void
}

/** A control that is made before its guest. */
export class LateControl implements GuestControl {
  #control: GuestControl | undefined

  attach(control: GuestControl): void {
    this.#control = control
  }

  get gauge(): FuelGauge {
    return this.#attached.gauge
  }

  end(error: unknown): void {
    this.#attached.end(error)
  }

  get #attached(): GuestControl {
    if (this.#control === undefined) throw new TypeError('The guest is not made yet.')
    return this.#control
  }
}
