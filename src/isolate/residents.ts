/**
 * Who holds an instance: at most so many guests, of all trust domains together. When another one needs one, the
 * guest that has waited longest is parked.
 *
 * Invariants
 * 1. A guest inside a turn is never parked. If all are, there are more residents for a while.
 */

export interface Resident {
  /** Whether it waits and holds an instance. */
  readonly parkable: boolean
  park(): void
}

export class Residents {
  readonly #most: number
  /** Least recently used first. */
  readonly #guests = new Set<Resident>()

  constructor(most: number) {
    this.#most = most
  }

  get count(): number {
    return this.#guests.size
  }

  /** Before `guest` takes an instance. */
  enter(guest: Resident): void {
    if (this.#guests.size >= this.#most) this.#parkOne()
    this.#guests.add(guest)
  }

  /** `guest` is about to take a turn. */
  used(guest: Resident): void {
    if (this.#guests.size === 1) return
    this.#guests.delete(guest)
    this.#guests.add(guest)
  }

  leave(guest: Resident): void {
    this.#guests.delete(guest)
  }

  #parkOne(): void {
    for (const guest of this.#guests) {
      if (!guest.parkable) continue
      this.#guests.delete(guest)
      guest.park()
      return
    }
  }
}
