/** Queuing strategies of the Streams standard: its two classes, and what a guest gives as one. */
import { dictionary, requireArguments } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { Strategy } from '../stream-parts.ts'

/** What `stream-core` needs of it. */
export interface QueuingStrategies {
  /** @throws TypeError for what is no queuing strategy */
  readonly strategyOf: (given: unknown) => Strategy
  /** @throws RangeError for a mark that is negative or no number */
  readonly requireMark: (mark: number) => number
}

const unit: Unit<QueuingStrategies & Record<string, unknown>> = ({ primordials }) => {
  const { apply } = primordials
  // One function for all strategies of a kind, which is no constructor and has no state.
  const { size: byteLength } = {
    size: (chunk: { readonly byteLength: unknown }): unknown => chunk.byteLength,
  }
  const { size: count } = { size: (): number => 1 }

  class ByteLengthQueuingStrategy {
    readonly #mark: number

    constructor(init: unknown) {
      this.#mark = markOf(init)
    }

    get highWaterMark(): number {
      return this.#mark
    }

    get size(): unknown {
      void this.#mark
      return byteLength
    }
  }

  class CountQueuingStrategy {
    readonly #mark: number

    constructor(init: unknown) {
      this.#mark = markOf(init)
    }

    get highWaterMark(): number {
      return this.#mark
    }

    get size(): unknown {
      void this.#mark
      return count
    }
  }

  return {
    ByteLengthQueuingStrategy,
    CountQueuingStrategy,
    strategyOf: (given) => {
      const strategy = dictionary(given, 'A queuing strategy')
      const { highWaterMark } = strategy
      const mark = highWaterMark === undefined ? undefined : Number(highWaterMark)
      const { size } = strategy
      if (size === undefined) return { mark, size }
      if (typeof size !== 'function') throw new TypeError('"size" is no function.')
      return { mark, size: (chunk) => +(apply(size, undefined, [chunk]) as number) }
    },
    requireMark: (mark) => {
      if (mark >= 0) return mark
      throw new RangeError('"highWaterMark" is a number from 0.')
    },
  }
}
export default unit

function markOf(init: unknown): number {
  const { highWaterMark } = dictionary(init, 'A queuing strategy')
  requireArguments(highWaterMark === undefined ? 0 : 1, 1, 'A queuing strategy with a highWaterMark')
  return Number(highWaterMark)
}
