/** What streams of every kind are made of: queues with sizes, promises that are settled later, what guests give. */

import type { Unit } from '../host.ts'
import type { Deferred, Strategy, StreamCore } from '../stream-parts.ts'
import type { QueuingStrategies } from './queuing-strategies.ts'

const unit: Unit<StreamCore & Record<string, unknown>> = ({ chains, primordials, use }) => {
  const { after, apply, promised, resolved, withResolvers } = primordials
  const strategies = (): QueuingStrategies => use('queuing-strategies') as unknown as QueuingStrategies
  const OURS = {}
  const NONE = { __proto__: null, mark: undefined, size: undefined } as Strategy

  const defer = (): Deferred => ({ ...withResolvers(), isSettled: false })

  const nothing = (): Promise<unknown> => resolved()

  const methodOf: StreamCore['methodOf'] = (source, name) => {
    const method = source[name]
    if (method === undefined) return method
    if (typeof method === 'function') return (...args) => apply(method, source, args)
    throw new TypeError(`"${name}" is no function.`)
  }

  return {
    ...chains,
    ...{ OURS, defer, promised, nothing, methodOf },
    requireOurs: (key) => {
      if (key !== OURS) throw new TypeError('Illegal constructor')
    },
    settle: (deferred) => {
      deferred.isSettled = true
      deferred.resolve(undefined)
    },
    refuse: (deferred, reason) => {
      const refused = deferred.isSettled ? defer() : deferred
      refused.isSettled = true
      refused.reject(reason)
      void after(refused.promise, undefined, nothing)
      return refused
    },
    follow: (promise, { resolve, reject }) => {
      void after(promise, () => resolve(undefined), reject)
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
