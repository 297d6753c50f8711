/**
 * Numbers objects in the order in which they are met: for sharing, cycles and back-references.
 *
 * Most values hold a handful of objects. Looking through a short list is several times cheaper than the first
 * entries of a `Map`, which must give every object an identity hash.
 */

const LIST_LENGTH = 12

export class ObjectIndex {
  readonly #list: object[] = []
  #map: Map<object, number> | undefined
  #count = 0

  /** The number of `object`, or -1 when it was not met yet. */
  find(object: object): number {
    if (this.#map !== undefined) return this.#map.get(object) ?? -1
    const list = this.#list
    for (let i = 0; i < list.length; i++) if (list[i] === object) return i
    return -1
  }

  /** Gives `object`, which must be new, the next number. */
  add(object: object): void {
    if (this.#map === undefined) {
      if (this.#list.length < LIST_LENGTH) {
        this.#list.push(object)
        this.#count++
        return
      }
      this.#map = new Map()
      for (const [i, known] of this.#list.entries()) this.#map.set(known, i)
    }
    this.#map.set(object, this.#count++)
  }
}
