import { ObjectIndex } from './object-index.ts'

/** Which objects of a value were met, and what stands for each in the copy. */
export class CopyTable {
  readonly #met = new ObjectIndex()
  readonly #copies: unknown[] = []

  /** The number of `source`, or -1 when it was not met yet. */
  find(source: object): number {
    return this.#met.find(source)
  }

  /** The copy of the object with this number; undefined when the walk only counts. */
  copyOf(number: number): unknown {
    return this.#copies[number]
  }

  /** Notes that `source`, which must be new, is copied as `copy`. Returns `copy`. */
  add<T>(source: object, copy: T): T {
    this.#met.add(source)
    this.#copies.push(copy)
    return copy
  }
}
