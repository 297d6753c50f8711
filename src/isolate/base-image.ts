/**
 * The memory of a guest that has not started yet, taken once per process and engine.
 *
 * Invariants
 * 1. Every byte of an instance's memory is the image's after `restore`: overwritten, or just now found equal to it.
 *    Nothing of an earlier guest survives, whatever it did to its allocator.
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

const PAGE = 65_536

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
    this.#statics = instance.bytes.slice(0, stackEnd)
    this.#heap = instance.bytes.slice(stackBase, endOfContent(instance.bytes))
  }

  /** The image as pages. Its root is what snapshots name it by. */
  get pages(): PageTree {
    if (this.#pages === undefined) {
      const whole = new Uint8Array(this.#engine.layout.initialPages * PAGE)
      this.#overwrite(whole)
      this.#pages = PageTree.empty.with(dirtyPages(whole, PageTree.empty, [{ start: 0, end: whole.length }]))
    }
    return this.#pages
  }

  /**
   * Makes an instance of the same engine, with a memory that has not grown, a guest that never ran.
   * @param now its pages, if they were compared and nothing ran since: then only what differs is written
   */
  restore(instance: EngineInstance, now?: PageTree): void {
    if (now === undefined) this.#overwrite(instance.bytes)
    else this.#overwriteChanges(instance.bytes, now)
    instance.resetStack()
  }

  /** The stack is in no tree: it counts as zeros there. */
  #overwriteChanges(memory: Uint8Array, now: PageTree): void {
    const { stackEnd, stackBase } = this.#engine.layout
    for (const [index, page] of this.pages.changesSince(now)) {
      const start = index * PAGE_BYTES
      if (page === undefined) memory.fill(0, start, start + PAGE_BYTES)
      else memory.set(page, start)
    }
    memory.fill(0, stackEnd, stackBase)
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
