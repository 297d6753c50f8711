/**
 * Counts a value of a guest against its limits, by the one size rule of the library, and the work that the
 * rule does not see.
 *
 * Invariants
 * 1. A charge is made before the memory that it is for is allocated.
 * 2. Work that yields no node (hidden properties, deleted entries) has a bound of its own, so that no heap,
 *    however corrupted, is walked for longer than a value of the permitted size takes.
 * 3. Built-ins of the host whose cost a guest can choose are charged before they are called.
 */
import { CaissonError } from '../../base/errors.ts'
import { HostWork } from '../../values/host-work.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { NODE_BYTES, ValueMeter, type Where } from '../../values/value-meter.ts'

export class ReadMeter extends ValueMeter {
  readonly #limits: ValueLimits
  readonly #maxSteps: number
  #steps = 0
  readonly #hostWork = new HostWork()

  constructor(limits: ValueLimits, where: Where) {
    super(limits, where)
    this.#limits = limits
    this.#maxSteps = limits.bytes + NODE_BYTES * limits.nodes
  }

  /**
   * What the read cost the host so far, in bytes or their worth: also things that were only looked at, and an
   * eighth of the work of built-ins, which is an upper bound that few values reach.
   */
  get work(): number {
    return this.bytes + this.#steps + Math.floor(this.#hostWork.units / 8)
  }

  /** Starts the count for another value. */
  reset(): void {
    this.bytes = 0
    this.nodes = 0
    this.#steps = 0
    this.#hostWork.reset()
  }

  /** `count` things looked at. @throws CaissonError `value_too_large` */
  addSteps(count: number): void {
    this.#steps += count
    if (this.#steps > this.#maxSteps) {
      throw new CaissonError('value_too_large', 'The value has too many hidden parts to look through.', {
        details: { unit: 'steps', atLeast: this.#steps, limit: this.#maxSteps },
      })
    }
  }

  /** Adds work of built-ins of the host, in units of `HostWork`. False when the value would cost too much. */
  addHostWork(units: number): boolean {
    return this.#hostWork.add(units)
  }

  /** Whether `count` more nodes of 8 bytes would fit. */
  hasRoomFor(count: number): boolean {
    return this.nodes + count <= this.#limits.nodes && this.bytes + count * NODE_BYTES <= this.#limits.bytes
  }
}
