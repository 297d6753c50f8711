/** Whether the guest has ended, and why: recorded once, and the machine is told once. */
import type { WasiEnd, WasiTurns } from '../../src/ports/wasi-host.ts'

export class GuestEnd {
  #reason: WasiEnd | undefined
  readonly #turns: WasiTurns

  constructor(turns: WasiTurns) {
    this.#turns = turns
  }

  get reason(): WasiEnd | undefined {
    return this.#reason
  }

  end(reason: WasiEnd): void {
    if (this.#reason !== undefined) return
    this.#reason = reason
    this.#turns.halt(reason)
  }
}
