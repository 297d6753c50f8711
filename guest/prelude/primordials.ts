/**
 * What the library does with promises and functions of guests: captured before any code of a guest ran.
 *
 * No guest code ever gets these functions. What the language itself asks of a promise that is waited for, its
 * `constructor`, is asked here too.
 */

export interface Resolvers<T> {
  readonly promise: Promise<T>
  readonly resolve: (value: T | PromiseLike<T>) => void
  readonly reject: (reason: unknown) => void
}

export interface Primordials {
  /** Calls a function with a list of arguments, of which nothing is iterated. */
  readonly apply: (fn: unknown, self: unknown, args: readonly unknown[]) => unknown
  readonly withResolvers: () => Resolvers<unknown>
  /** A promise that is itself, or one that is resolved with anything else. */
  readonly resolved: (value?: unknown) => Promise<unknown>
  readonly rejected: (reason: unknown) => Promise<never>
  /** A promise of what `act` gives or throws. */
  readonly promised: (act: () => unknown) => Promise<unknown>
  /** What `then` is, unless a guest made something else of it. */
  readonly after: (
    promise: Promise<unknown>,
    onFulfilled?: (value: unknown) => unknown,
    onRejected?: (reason: unknown) => unknown,
  ) => Promise<unknown>
  /** `Uint8Array` and the like; undefined for what is no typed array, whatever it says of itself. */
  readonly typedArrayName: (value: unknown) => string | undefined
}

const { apply } = Reflect
const { prototype } = Promise
const { then } = prototype
const nameOf = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)?.get

const resolved = Promise.resolve.bind(Promise) as Primordials['resolved']
const rejected = Promise.reject.bind(Promise) as Primordials['rejected']

export const primordials: Primordials = {
  apply: apply as Primordials['apply'],
  withResolvers: (
    Promise as unknown as { withResolvers: { bind(self: unknown): () => Resolvers<unknown> } }
  ).withResolvers.bind(Promise),
  resolved,
  rejected,
  promised: (act) => {
    try {
      return resolved(act())
    } catch (error) {
      return rejected(error)
    }
  },
  after: (promise, onFulfilled, onRejected) => apply(then, promise, [onFulfilled, onRejected]),
  typedArrayName: (value) => apply(nameOf as () => string, value, []),
}
