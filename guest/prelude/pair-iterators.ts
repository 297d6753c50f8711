/**
 * Iterators of what Web IDL calls pairs: those of `URLSearchParams`, `Headers` and `FormData`.
 *
 * They look at the pairs anew at each step, so that what changes meanwhile is seen.
 */

/** An iterator of parts of the pairs that `live` gives. */
export type Iterate = <Pair, Part>(
  live: () => readonly Pair[],
  part: (pair: Pair) => Part,
) => IterableIterator<Part>

/** Those of one class: they share a prototype of their own, between theirs and `Iterator.prototype`. */
export function pairIterators(className: string): Iterate {
  const prototype = Object.create(Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())))
  const states = new WeakMap<object, () => IteratorResult<unknown>>()
  Object.defineProperties(prototype, {
    next: {
      value: function next(this: object): IteratorResult<unknown> {
        const step = states.get(this)
        if (step === undefined) throw new TypeError(`It is no iterator of ${className}.`)
        return step()
      },
      writable: true,
      configurable: true,
      enumerable: true,
    },
    [Symbol.toStringTag]: { value: `${className} Iterator`, configurable: true },
  })
  return (live, part) => {
    let next = 0
    const iterator = Object.create(prototype)
    states.set(iterator, () => {
      const pair = live()[next]
      if (pair === undefined) return { value: undefined, done: true }
      next += 1
      return { value: part(pair), done: false }
    })
    return iterator
  }
}

/** Makes `entries` the iterator of a class, as `for` uses it. */
export function iterateByEntries(prototype: { readonly entries: unknown }): void {
  Object.defineProperty(prototype, Symbol.iterator, {
    value: prototype.entries,
    writable: true,
    configurable: true,
  })
}
