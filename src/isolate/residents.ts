/**
 * Who holds an instance: at most so many guests, of all trust domains together. When another one needs one, the
 * guest that has waited longest is parked.
 *
 * Invariants
 * 1. A guest inside a turn is never parked. If all are, there are more residents for a while.
 */

import type { PageTree } from '../snapshot/page-tree.ts'
import type { PooledInstance } from './instance-pool.ts'

/** An instance between two guests. */
export interface HeldInstance {
  readonly pooled: PooledInstance
  /** What its memory is, but for its stack. */
  readonly pages: PageTree
}

export interface Resident {
  /** Whether it waits and holds an instance. */
  readonly parkable: boolean
  /** Gives its instance back, or to `next` where that one may have it. */
  park(next?: Resident): HeldInstance | undefined
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

  /** Before `guest` takes an instance. @returns one that another guest has just left, if it may have that one */
  enter(guest: Resident): HeldInstance | undefined {
    const held = this.#guests.size >= this.#most ? this.#parkOneFor(guest) : undefined
    this.#guests.add(guest)
    return held
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

  #parkOneFor(next: Resident): HeldInstance | undefined {
    for (const guest of this.#guests) {
      if (!guest.parkable) continue
      this.#guests.delete(guest)
      return guest.park(next)
    }
    return undefined
  }
}
