/** The queuing strategies of the Streams standard. */
import { requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'

const unit: Unit = () => {
  // One function for all strategies of a kind, which is no constructor and has no state.
  const { size: byteLength } = {
    size: (chunk: { readonly byteLength: unknown }): unknown => chunk.byteLength,
  }
  const { size: count } = { size: (): number => 1 }

  class ByteLengthQueuingStrategy {
    readonly #highWaterMark: number

    constructor(init: unknown) {
      this.#highWaterMark = markOf(init)
    }

    get highWaterMark(): number {
      return this.#highWaterMark
    }

    get size(): unknown {
      void this.#highWaterMark
      return byteLength
    }
  }

  class CountQueuingStrategy {
    readonly #highWaterMark: number

    constructor(init: unknown) {
      this.#highWaterMark = markOf(init)
    }

    get highWaterMark(): number {
      return this.#highWaterMark
    }

    get size(): unknown {
      void this.#highWaterMark
      return count
    }
  }

  return { ByteLengthQueuingStrategy, CountQueuingStrategy }
}
export default unit

function markOf(init: unknown): number {
  const mark =
    typeof init === 'object' && init !== null
      ? (init as { highWaterMark?: unknown }).highWaterMark
      : undefined
  requireArguments(mark === undefined ? 0 : 1, 1, 'A queuing strategy with a highWaterMark')
  return Number(mark)
}
