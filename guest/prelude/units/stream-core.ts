/** What streams of every kind are made of: queues with sizes, promises that are settled later, what guests give. */
import { dictionary } from '../arguments.ts'
import type { Unit } from '../host.ts'
import type { Chain, Deferred, StreamCore } from '../stream-parts.ts'

interface Link<T> {
  readonly value: T
  size: number
  next: Link<T> | undefined
}

const unit: Unit<StreamCore & Record<string, unknown>> = ({ primordials }) => {
  const { apply, rejected, resolved, after, withResolvers } = primordials
  const OURS = {}

  class Queue<T> implements Chain<T> {
    length = 0
    total = 0
    #first: Link<T> | undefined
    #last: Link<T> | undefined

    get first(): T | undefined {
      return this.#first?.value
    }

    push(value: T, size = 0): void {
      if (!(size >= 0 && size < 1 / 0)) {
        throw new RangeError('The size of a chunk is a number from 0, and finite.')
      }
      const link = { value, size, next: undefined }
      if (this.#last) this.#last.next = link
      else this.#first = link
      this.#last = link
      this.length += 1
      this.total += size
    }

    shift(): T {
      const { value, size, next } = this.#first as Link<T>
      this.#first = next
      if (!next) this.#last = next
      this.length -= 1
      this.#reduce(size)
      return value
    }

    shrink(size: number): void {
      ;(this.#first as Link<T>).size -= size
      this.#reduce(size)
    }

    /** Sums of fractions may come out below nothing. */
    #reduce(size: number): void {
      const left = this.total - size
      this.total = left < 0 ? 0 : left
    }
  }

  class Later implements Deferred {
    readonly #resolvers = withResolvers()
    readonly promise: Promise<unknown> = this.#resolvers.promise
    isPending = true

    resolve(value?: unknown): void {
      this.isPending = false
      this.#resolvers.resolve(value)
    }

    reject(reason: unknown): void {
      this.isPending = false
      this.#resolvers.reject(reason)
    }
  }

  function callable(source: Readonly<Record<string, unknown>>, name: string): unknown {
    const value = source[name]
    if (value !== undefined && typeof value !== 'function') throw new TypeError(`"${name}" is no function.`)
    return value
  }

  return {
    OURS,
    requireOurs: (key) => {
      if (key !== OURS) throw new TypeError('Illegal constructor')
    },
    chain: <T>() => new Queue<T>(),
    defer: () => new Later(),
    refuse: (deferred, reason) => {
      const refused = deferred.isPending ? deferred : new Later()
      refused.reject(reason)
      after(refused.promise, undefined, () => {})
      return refused
    },
    promised: (act) => {
      try {
        return resolved(act())
      } catch (error) {
        return rejected(error)
      }
    },
    strategyOf: (given) => {
      const strategy = dictionary(given, 'A queuing strategy')
      const { highWaterMark: mark } = strategy
      const highWaterMark = mark === undefined ? mark : +(mark as number)
      const size = callable(strategy, 'size')
      return {
        highWaterMark,
        size: size === undefined ? size : (chunk) => +(apply(size, undefined, [chunk]) as number),
      }
    },
    markOf: ({ highWaterMark }, otherwise) => {
      if (highWaterMark === undefined) return otherwise
      if (highWaterMark >= 0) return highWaterMark
      throw new RangeError('"highWaterMark" is a number from 0.')
    },
    sourceOf: (given) => {
      if (given === null) throw new TypeError('It takes an object.')
      return dictionary(given, 'A stream')
    },
    methodOf: (source, name) => {
      const method = callable(source, name)
      return method === undefined ? method : (...args) => apply(method, source, args)
    },
    algorithmOf: (source, name) => {
      const method = callable(source, name)
      return (...args) => {
        try {
          return resolved(method && apply(method, source, args))
        } catch (error) {
          return rejected(error)
        }
      }
    },
  }
}
export default unit
