/**
 * Resources of preview 2 that the host holds for one guest. Glue calls the methods of these objects and disposes of
 * them when the guest drops its handle.
 *
 * 1. Each has a number, given in order and never again: a checkpoint knows it by that.
 * 2. At most so many live at once; a guest that holds more is halted, because making one has no error.
 * 3. What a disposed one held is given back at once.
 */
import { DISPOSE } from '../../../src/base/disposal.ts'
import type { WasiResourceState } from '../../../src/ports/wasi-host.ts'
import type { GuestEnd } from '../guest-end.ts'

/** What jco's glue disposes by where the runtime has no such symbol of its own. */
const GLUE_DISPOSE = Symbol.for('dispose')

export abstract class Resource {
  readonly id: number
  readonly #table: ResourceTable

  constructor(table: ResourceTable) {
    this.#table = table
    this.id = table.add(this)
  }

  /** Whether the guest holds it. */
  get isLive(): boolean {
    return this.#table.find(this.id) === this
  }

  /** What a checkpoint says of it. */
  abstract state(): Omit<WasiResourceState, 'id'>

  /** Gives back what it holds. Called once. */
  protected release(): void {}

  drop(): void {
    if (!this.#table.remove(this)) return
    try {
      this.release()
    } catch {
      // A drop has no error, and nothing may be thrown into the guest.
    }
  }
}

for (const key of [DISPOSE, GLUE_DISPOSE]) {
  Object.defineProperty(Resource.prototype, key, {
    value(this: Resource) {
      this.drop()
    },
  })
}

export class ResourceTable {
  readonly #live = new Map<number, Resource>()
  readonly #most: number
  readonly #end: GuestEnd
  #next = 1

  constructor(most: number, end: GuestEnd) {
    this.#most = most
    this.#end = end
  }

  add(resource: Resource): number {
    const id = this.#next
    this.#next += 1
    this.#live.set(id, resource)
    if (this.#live.size > this.#most) this.#end.end({ kind: 'limit', limit: 'resources' })
    return id
  }

  /** Whether it was there. */
  remove({ id }: Resource): boolean {
    return this.#live.delete(id)
  }

  find(id: number): Resource | undefined {
    return this.#live.get(id)
  }

  get next(): number {
    return this.#next
  }

  /** The number that the next one gets: while a checkpoint is taken up. */
  set next(id: number) {
    this.#next = id
  }

  /** In the order of their numbers. */
  all(): readonly Resource[] {
    return [...this.#live.values()].sort((left, right) => left.id - right.id)
  }
}
