/** Streams as async iterables, and async iterables as streams. */
import { dictionary } from '../arguments.ts'
import { readableCreator } from '../create-readable.ts'
import type { Unit } from '../host.ts'
import type { Readable, Readables, Reader, StreamCore } from '../stream-parts.ts'

/** What `streams` needs of it. */
export interface StreamIteration {
  /** An async iterator of a stream. @throws TypeError if it is locked */
  readonly values: (stream: Readable, options: unknown) => object
  /** A stream of what an iterable gives. @throws TypeError for what is none */
  readonly from: (iterable: unknown) => object
}

/** Behind an async iterator: what it was last asked for, which comes before what it is asked for next. */
interface Iteration {
  readonly reader: Reader
  readonly preventCancel: boolean
  ongoing: Promise<unknown> | undefined
  isFinished: boolean
}

const unit: Unit<StreamIteration & Record<string, unknown>> = (internals) => {
  const { primordials, use } = internals
  const { apply, resolved, after } = primordials
  const { defer, promised } = use('stream-core') as unknown as StreamCore
  const { readables } = use('streams') as unknown as { readables: Readables }
  const { acquire, cancel, close, enqueue, read, release, requireStream } = readables
  const createReadable = readableCreator(internals)
  const { asyncIterator, iterator: syncIterator } = Symbol

  class StreamIterator {
    readonly #iteration: Iteration

    constructor(iteration: Iteration) {
      this.#iteration = iteration
    }

    next(): Promise<unknown> {
      return promised(() => {
        const iteration = this.#iteration
        return inTurn(iteration, () => nextOf(iteration))
      })
    }

    return(value: unknown): Promise<unknown> {
      return promised(() => {
        const iteration = this.#iteration
        const returned = inTurn(iteration, () => {
          if (iteration.isFinished) return resolved()
          iteration.isFinished = true
          return returnOf(iteration, value)
        })
        return after(returned, () => ({ value, done: true }))
      })
    }
  }
  shapeAsIterator(StreamIterator.prototype)

  function nextOf(iteration: Iteration): Promise<unknown> {
    if (iteration.isFinished) return resolved({ value: undefined, done: true })
    const { reader } = iteration
    const found = defer()
    read(reader, {
      // Without a prototype, nobody is asked whether this is a promise.
      give: (value, isEnd) => {
        if (isEnd) release(reader)
        found.resolve(isEnd ? undefined : { __proto__: null, value })
      },
      fail: (reason) => {
        release(reader)
        found.reject(reason)
      },
    })
    return after(
      found.promise,
      (chunk) => {
        iteration.ongoing = undefined
        if (chunk) return { value: (chunk as { value: unknown }).value, done: false }
        iteration.isFinished = true
        return { value: undefined, done: true }
      },
      (reason) => {
        iteration.ongoing = undefined
        iteration.isFinished = true
        throw reason
      },
    )
  }

  function returnOf({ preventCancel, reader }: Iteration, value: unknown): Promise<unknown> {
    const cancelled = preventCancel ? resolved() : cancel(requireStream(reader), value)
    release(reader)
    return cancelled
  }

  function inTurn(iteration: Iteration, act: () => Promise<unknown>): Promise<unknown> {
    const { ongoing } = iteration
    iteration.ongoing = ongoing ? actAfter(ongoing, act) : act()
    return iteration.ongoing
  }

  /** What is awaited is adopted by no `then` that a guest may have replaced. */
  async function actAfter(ongoing: Promise<unknown>, act: () => Promise<unknown>): Promise<unknown> {
    try {
      await ongoing
    } catch {
      // It was rejected to whoever asked for it.
    }
    return await act()
  }

  /** Where an iterator is, which awaits the values of one that is not async. @throws TypeError for no iterable */
  function stepsOf(iterable: unknown): {
    next: () => Promise<unknown>
    end: (reason: unknown) => Promise<unknown>
  } {
    const given = iterable as Record<symbol, unknown>
    const asyncMethod = given[asyncIterator]
    const isAsync = asyncMethod !== undefined && asyncMethod !== null
    const iterator = requireObject(apply(isAsync ? asyncMethod : given[syncIterator], given, []))
    const { next } = iterator
    const settled = (result: unknown): Promise<unknown> => {
      if (isAsync) return resolved(result)
      const { done, value } = requireObject(result)
      return after(resolved(value), (settledValue) => ({ __proto__: null, done, value: settledValue }))
    }
    return {
      next: () => promised(() => settled(apply(next, iterator, []))),
      end: (reason) =>
        promised(() => {
          const method = iterator.return
          if (method === undefined || method === null) return undefined
          return after(settled(apply(method, iterator, [reason])), (result) => void requireObject(result))
        }),
    }
  }

  function from(iterable: unknown): object {
    const steps = stepsOf(iterable)
    const pull = (): Promise<unknown> =>
      after(steps.next(), (result) => {
        const { done, value } = requireObject(result)
        if (done) close(stream)
        else enqueue(stream, value)
      })
    const stream = createReadable(pull, steps.end, 0, false)
    return stream.facade
  }

  return {
    from,
    values: (stream, options) => {
      const { preventCancel } = dictionary(options, 'ReadableStream.values')
      const iteration = { reader: acquire(stream), preventCancel: Boolean(preventCancel) }
      return new StreamIterator({ ...iteration, ongoing: undefined, isFinished: false })
    },
  }
}
export default unit

/** Web IDL's async iterators have no constructor, and members as those of the language's own do not have. */
function shapeAsIterator(prototype: object): void {
  const generator = (async function* nothing() {})()
  let parent: object = generator
  for (let i = 0; i < 3; i += 1) parent = Object.getPrototypeOf(parent)
  Object.setPrototypeOf(prototype, parent)
  Reflect.deleteProperty(prototype, 'constructor')
  for (const name of ['next', 'return']) Object.defineProperty(prototype, name, { enumerable: true })
  Object.defineProperty(prototype, Symbol.toStringTag, {
    value: 'ReadableStream AsyncIterator',
    configurable: true,
  })
}

function requireObject(value: unknown): Readonly<Record<string, unknown>> {
  if ((typeof value === 'object' && value !== null) || typeof value === 'function') {
    return value as Readonly<Record<string, unknown>>
  }
  throw new TypeError('It takes an iterable, whose iterator gives objects.')
}
