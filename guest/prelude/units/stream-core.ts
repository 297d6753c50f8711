/** What streams of every kind are made of: queues with sizes, promises that are settled later, what guests give. */
import type { Unit } from '../host.ts'
import type { Chain, Deferred, Link, Strategy, StreamCore } from '../stream-parts.ts'
import type { QueuingStrategies } from './queuing-strategies.ts'

const unit: Unit<StreamCore & Record<string, unknown>> = ({ primordials, use }) => {
  const { after, apply, rejected, resolved, withResolvers } = primordials
  const strategies = (): QueuingStrategies => use('queuing-strategies') as unknown as QueuingStrategies
  const OURS = {}
  const NONE = { __proto__: null, mark: undefined, size: undefined } as Strategy

  function push<T>(chain: Chain<T>, value: T, size = 0): void {
    if (!(size >= 0 && size < 1 / 0)) throw new RangeError('The size of a chunk is a finite number from 0.')
    const link: Link<T> = { value, size, next: undefined }
    if (chain.last) chain.last.next = link
    else chain.first = link
    chain.last = link
    chain.length += 1
    chain.total += size
  }

  function shift<T>(chain: Chain<T>): T {
    const { next, size, value } = chain.first as Link<T>
    chain.first = next
    if (!next) chain.last = next
    chain.length -= 1
    chain.total -= size
    // Sums of fractions may come out below nothing.
    if (chain.total < 0) chain.total = 0
    return value
  }

  const defer = (): Deferred => ({ ...withResolvers(), isSettled: false })

  function promised(act: () => unknown): Promise<unknown> {
    try {
      return resolved(act())
    } catch (error) {
      return rejected(error)
    }
  }

  const nothing = (): Promise<unknown> => resolved()

  const methodOf: StreamCore['methodOf'] = (source, name) => {
    const method = source[name]
    if (method === undefined) return method
    if (typeof method === 'function') return (...args) => apply(method, source, args)
    throw new TypeError(`"${name}" is no function.`)
  }

  return {
    ...{ OURS, push, shift, defer, promised, nothing, methodOf },
    requireOurs: (key) => {
      if (key !== OURS) throw new TypeError('Illegal constructor')
    },
    chain: () => ({ first: undefined, last: undefined, length: 0, total: 0 }),
    settle: (deferred) => {
      deferred.isSettled = true
      deferred.resolve(undefined)
    },
    refuse: (deferred, reason) => {
      const refused = deferred.isSettled ? defer() : deferred
      refused.isSettled = true
      refused.reject(reason)
      after(refused.promise, undefined, nothing)
      return refused
    },
    follow: (promise, { resolve, reject }) => {
      after(promise, () => resolve(undefined), reject)
    },
    sourceOf: (given) => {
      if (given === undefined) return NONE as never
      if (given !== null && (typeof given === 'object' || typeof given === 'function')) return given as never
      throw new TypeError('A stream is made of an object.')
    },
    algorithmOf: (source, name) => {
      const method = methodOf(source, name)
      return method ? (...args) => promised(() => apply(method, source, args)) : nothing
    },
    strategyOf: (given) => (given === undefined ? NONE : strategies().strategyOf(given)),
    markOf: ({ mark }, otherwise) => (mark === undefined ? otherwise : strategies().requireMark(mark)),
  }
}
export default unit
