/**
 * The memory of a guest that has not started yet, taken once per process and engine.
 *
 * Invariants
 * 1. Every byte of an instance's memory is the image's after `restore`, and that of the given pages after `turnInto`:
 *    overwritten, or just now found equal. Nothing of an earlier guest survives, whatever it did to its allocator.
 * 2. The image is the same on every runtime: nothing of the host went into it.
 */
import { dirtyPages } from '../snapshot/dirty-pages.ts'
import { PAGE_BYTES, PageTree } from '../snapshot/page-tree.ts'
import type { Engine } from './engine.ts'
import { EngineInstance } from './engine-instance.ts'
import { type GuestRuntime, installGuestRuntime } from './guest-runtime.ts'

/** Far more than the setup takes; it is ours, and bounded all the same. */
const SETUP_FUEL = 1_000_000_000
const SETUP_STACK_BYTES = 1_048_576

const images = new WeakMap<WebAssembly.Module, BaseImage>()

/** The base image of an engine: built once, about a millisecond, shared by all runtimes of this thread. */
export function baseImageOf(engine: Engine): BaseImage {
  let image = images.get(engine.module)
  if (image === undefined) {
    image = new BaseImage(engine)
    images.set(engine.module, image)
  }
  return image
}

export class BaseImage {
  readonly guest: GuestRuntime
  readonly #engine: Engine
  /** Whole pages, up to the last one that is not zeros. Never written to. */
  readonly #image: Uint8Array
  /** The static data: from 0 to the stack. */
  readonly #statics: Uint8Array
  /** The heap up to its last byte that is not zero. What follows, and the stack before it, is zero. */
  readonly #heap: Uint8Array
  #pages: PageTree | undefined

  constructor(engine: Engine) {
    this.#engine = engine
    const instance = new EngineInstance(engine, engine.layout.initialPages, () => 0)
    instance.gauge.reset(SETUP_FUEL)
    instance.gauge.begin(SETUP_STACK_BYTES, Number.POSITIVE_INFINITY, undefined)
    this.guest = installGuestRuntime(instance)
    const { stackEnd, stackBase } = engine.layout
    const end = endOfContent(instance.bytes)
    this.#image = instance.bytes
      .slice(0, Math.ceil(end / PAGE_BYTES) * PAGE_BYTES)
      .fill(0, stackEnd, stackBase)
    this.#statics = this.#image.subarray(0, stackEnd)
    this.#heap = this.#image.subarray(stackBase, end)
  }

  /**
   * The image as pages, which lie in memory one behind the other: those that a guest left as they were are compared in
   * long runs. Its root is what snapshots name it by.
   */
  get pages(): PageTree {
    if (this.#pages === undefined) {
      const all = { start: 0, end: this.#image.length }
      this.#pages = PageTree.empty.with(
        dirtyPages(this.#image, PageTree.empty, [all], undefined, (view) => view),
      )
    }
    return this.#pages
  }

  /**
   * Makes an instance of the same engine, with a memory that has not grown, a guest that never ran.
   * @param now its pages, if they were compared and nothing ran since: then only what differs is written
   */
  restore(instance: EngineInstance, now?: PageTree): void {
    if (now !== undefined) {
      this.turnInto(instance, this.pages, now)
      return
    }
    this.#overwrite(instance.bytes)
    instance.resetStack()
  }

  /**
   * Makes an instance that is `now` what `pages` say, with a stack of zeros, which are in no tree.
   * @param now its pages, if they were compared and nothing ran since
   */
  turnInto(instance: EngineInstance, pages: PageTree, now: PageTree): void {
    const { stackEnd, stackBase } = this.#engine.layout
    const memory = instance.bytes
    for (const [index, page] of pages.changesSince(now)) {
      const start = index * PAGE_BYTES
      if (page === undefined) memory.fill(0, start, start + PAGE_BYTES)
      else memory.set(page, start)
    }
    memory.fill(0, stackEnd, stackBase)
    instance.resetStack()
  }

  /** Writing zeros takes half of what copying them does, and 3 bytes of 4 are zeros (bench: acquire). */
  #overwrite(memory: Uint8Array): void {
    const { stackEnd, stackBase } = this.#engine.layout
    memory.set(this.#statics, 0)
    memory.fill(0, stackEnd, stackBase)
    memory.set(this.#heap, stackBase)
    memory.fill(0, stackBase + this.#heap.length)
  }
}

/** Where the last byte that is not zero ends. */
function endOfContent(bytes: Uint8Array): number {
  let end = bytes.length
  while (end > 0 && bytes[end - 1] === 0) end -= 1
  return end
}
