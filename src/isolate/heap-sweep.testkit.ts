/** Guests that free much, step by step, for tests of what is left of it. */
import type { Turn } from '../machine/turn.ts'
import { PAGE_BYTES, type PageTree } from '../snapshot/page-tree.ts'
import type { InstancePool, PooledInstance } from './instance-pool.ts'
import { FREELY, startOf } from './isolate.testkit.ts'
import { Isolate } from './isolate.ts'

const start = (source: string) =>
  startOf(source, {
    capabilities: ['world.ask'],
    limits: { fuel: 1e12, memoryBytes: 128 * 1024 * 1024 },
  })

/** A program that awaits `world.ask()`, and can move between instances while it does. */
export class SteppedRun {
  turn: Turn
  pooled: PooledInstance
  #isolate: Isolate
  #pages: PageTree
  #step = 0

  constructor(source: string, pool: InstancePool) {
    this.pooled = pool.acquire()
    this.#pages = this.pooled.base.pages
    this.#isolate = new Isolate(this.pooled, { call: () => undefined })
    this.turn = this.#isolate.start(start(source), FREELY)
  }

  get waiting(): boolean {
    return this.turn.status === 'waiting'
  }

  get digest(): string {
    return this.#isolate.stateDigest()
  }

  /** Answers with the number of the step. */
  step(): void {
    const id = this.#isolate.pending[0]?.id ?? 0
    this.#step += 1
    this.turn = this.#isolate.settle([{ id, ok: true, value: this.#step }], this.#step, FREELY)
  }

  /** Bytes of the pages that a snapshot holds beside the base image, before they are compressed. */
  snapshotBytes(): number {
    this.#capture()
    let pages = 0
    for (const [, page] of this.#pages.changesSince(this.pooled.base.pages))
      pages += page === undefined ? 0 : 1
    return pages * PAGE_BYTES
  }

  /** Goes on in another instance. */
  move(to: InstancePool): void {
    const { memoryBytes, state } = this.#capture()
    const { capabilities, limits } = start('')
    this.close()
    this.pooled = to.acquire()
    this.#isolate = new Isolate(this.pooled, { call: () => undefined })
    const changes = this.#pages.changesSince(this.pooled.base.pages)
    this.#isolate.restore({ memoryBytes, changes, state, capabilities, limits })
  }

  close(): void {
    this.#isolate.dispose()
  }

  #capture(): { readonly memoryBytes: number; readonly state: unknown } {
    const { memoryBytes, changes, state } = this.#isolate.capture()
    this.#pages = this.#pages.with(changes)
    return { memoryBytes, state }
  }
}
