/**
 * What crosses the boundary in the host-call suite, equal for all subjects.
 *
 * 1. Every answer is a fresh value computed from the arguments, so that no subject can hand back what it got.
 * 2. `check` sees the last answer as the guest got it, and how often the host was called.
 */

/** About 150 bytes as JSON: the size of a typical tool call. */
export interface Quote {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly price: { readonly amount: number; readonly currency: string }
  readonly tags: readonly string[]
  readonly stock: number
  readonly active: boolean
}

const QUOTE: Quote = {
  id: 184467,
  sku: 'VAL-000417-B',
  name: 'Ball valve DN25, brass',
  price: { amount: 18.9, currency: 'EUR' },
  tags: ['brass', 'pn40'],
  stock: 312,
  active: true,
}

/** ASCII, 1,000 characters. */
const TEXT = 'All work and no play makes a tidy but rather dull sentence. '.repeat(17).slice(0, 1000)

export type HostCallName = 'none' | 'number' | 'text' | 'object' | 'awaited-object'

export interface HostCallShape {
  readonly name: HostCallName
  readonly description: string
  /** Whether the guest awaits the answer, and the host's function is asynchronous. */
  readonly awaited: boolean
  /** Calls of one timed run. */
  readonly calls: number
  /** What the guest passes, the same in each call; `undefined` for none. */
  readonly argument: undefined | number | string | Quote
  /** The host's function. */
  readonly answer: (argument: unknown) => unknown
  /** @throws Error when the guest's last answer is not what the host gave */
  readonly check: (last: unknown) => void
}

function answerQuote(argument: unknown): Quote {
  const quote = argument as Quote
  return { ...quote, price: { ...quote.price }, tags: [...quote.tags], stock: quote.stock + 1 }
}

function expectEqual(last: unknown, expected: unknown): void {
  if (JSON.stringify(last) !== JSON.stringify(expected)) {
    throw new Error(`the guest got ${JSON.stringify(last)} instead of ${JSON.stringify(expected)}`)
  }
}

const CALLS = 1000
const ANSWERED_QUOTE: Quote = { ...QUOTE, stock: QUOTE.stock + 1 }

export const HOST_CALL_SHAPES: readonly HostCallShape[] = [
  {
    name: 'none',
    description: 'no arguments, nothing returned',
    awaited: false,
    calls: CALLS,
    argument: undefined,
    answer: () => undefined,
    check: (last) => {
      if (last !== undefined && last !== null) throw new Error('an answer out of nowhere')
    },
  },
  {
    name: 'number',
    description: 'a number there and a number back',
    awaited: false,
    calls: CALLS,
    argument: 41,
    answer: (argument) => (argument as number) + 1,
    check: (last) => expectEqual(last, 42),
  },
  {
    name: 'text',
    description: 'a string of 1,000 characters there and one back',
    awaited: false,
    calls: CALLS,
    argument: TEXT,
    answer: (argument) => `${(argument as string).slice(1)}.`,
    check: (last) => expectEqual(last, `${TEXT.slice(1)}.`),
  },
  {
    name: 'object',
    description: `an object of ${JSON.stringify(QUOTE).length} bytes (as JSON) there and one back`,
    awaited: false,
    calls: CALLS,
    argument: QUOTE,
    answer: answerQuote,
    check: (last) => expectEqual(last, ANSWERED_QUOTE),
  },
  {
    name: 'awaited-object',
    description: `the same object, awaited one call after the other`,
    awaited: true,
    calls: 200,
    argument: QUOTE,
    answer: answerQuote,
    check: (last) => expectEqual(last, ANSWERED_QUOTE),
  },
]

/** Counts the calls of `shape.answer`, and checks a run once it is over. */
export function countedHost(shape: HostCallShape): {
  readonly answer: (argument: unknown) => unknown
  /** @throws Error when the host was not called `shape.calls` times since the last check, or the answer is wrong */
  readonly settle: (last: unknown) => void
} {
  let calls = 0
  return {
    answer: (argument) => {
      calls++
      return shape.answer(argument)
    },
    settle: (last) => {
      const counted = calls
      calls = 0
      if (counted !== shape.calls) throw new Error(`${counted} calls instead of ${shape.calls}`)
      shape.check(last)
    },
  }
}

/** A JavaScript literal of the argument, for guest sources; empty for none. */
export function argumentLiteral(shape: HostCallShape): string {
  return shape.argument === undefined ? '' : JSON.stringify(shape.argument)
}
