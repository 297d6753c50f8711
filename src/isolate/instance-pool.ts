/**
 * Instances of one engine for one trust domain, ready to serve a guest.
 *
 * Invariants
 * 1. An instance that is handed out holds the base image and nothing else, in every byte.
 * 2. An instance is made the base image again when it comes back, so that no guest's data lingers while it waits.
 * 3. Instances that grew, or trapped in a way no limit explains, are dropped: memory never shrinks, and a
 *    grown one would let the next guest see a difference.
 * 4. One that goes from a guest that is parked straight to another one of the pool is written to at once: what differs
 *    between the two, and the stack.
 */
import type { GuestFailure } from '../machine/turn.ts'
import type { PageTools } from '../ports/page-tools.ts'
import { neutralPageTools } from '../snapshot/neutral-page-tools.ts'
import { PageStore } from '../snapshot/page-store.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { BaseImage } from './base-image.ts'
import { HeapReader } from './bridge/heap-reader.ts'
import { ValueWriter } from './bridge/value-writer.ts'
import type { Engine } from './engine.ts'
import { EngineInstance } from './engine-instance.ts'
import { type GuestRuntime, newHostFunction } from './guest-runtime.ts'

export interface InstancePoolOptions {
  readonly engine: Engine
  readonly base: BaseImage
  /** Largest `memoryBytes` of any guest, in 64 KiB pages. */
  readonly maxPages: number
  /** Instances kept when idle. */
  readonly keep: number
  readonly monotonic: () => number
  /** Default those in plain JavaScript. */
  readonly pageTools?: PageTools | undefined
  /** Lets the host's timers and sockets have their turn, then resolves. Default by a timer. */
  readonly pause?: (() => Promise<void>) | undefined
}

/** The platform's ways to look at an instance. */
interface PooledTools extends PageTools {
  readonly pause: () => Promise<void>
}

export class InstancePool {
  /** Pages of parked guests of this domain: equal ones are held once. */
  readonly pages: PageStore
  readonly tools: PooledTools
  readonly #options: InstancePoolOptions
  readonly #idle: PooledInstance[] = []
  #closed = false

  constructor(options: InstancePoolOptions) {
    this.#options = options
    const { pageTools = neutralPageTools, pause = pauseByTimer } = options
    this.tools = { ...pageTools, pause }
    this.pages = new PageStore(pageTools.samePage)
  }

  get engine(): Engine {
    return this.#options.engine
  }

  get base(): BaseImage {
    return this.#options.base
  }

  /** Also after `close`: guests that live then are woken until their ends. */
  acquire(): PooledInstance {
    return this.#idle.pop() ?? this.#create()
  }

  /** Makes `count` instances ahead of need. */
  warm(count: number): void {
    while (this.#idle.length < Math.min(count, this.#options.keep)) this.#idle.push(this.#create())
  }

  close(): void {
    this.#closed = true
    this.#idle.length = 0
  }

  #create(): PooledInstance {
    const { engine, base, maxPages, monotonic } = this.#options
    const instance = new EngineInstance(engine, maxPages, monotonic)
    base.restore(instance)
    return new PooledInstance(instance, base, this.tools, (pooled, reusable, now) =>
      this.#takeBack(pooled, reusable, now),
    )
  }

  #takeBack(pooled: PooledInstance, reusable: boolean, now: PageTree | undefined): void {
    pooled.instance.release()
    if (!reusable || this.#closed || pooled.instance.grown || this.#idle.length >= this.#options.keep) return
    this.#options.base.restore(pooled.instance, now)
    this.#idle.push(pooled)
  }
}

function pauseByTimer(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0))
}

type OnRelease = (pooled: PooledInstance, reusable: boolean, now: PageTree | undefined) => void

/** An instance with the base image, and the small operations on it that isolates are made of. */
export class PooledInstance {
  readonly instance: EngineInstance
  readonly base: BaseImage
  readonly tools: PooledTools
  readonly guest: GuestRuntime
  readonly reader: HeapReader
  readonly writer: ValueWriter
  readonly #onRelease: OnRelease

  constructor(instance: EngineInstance, base: BaseImage, tools: PooledTools, onRelease: OnRelease) {
    const { guest } = base
    this.instance = instance
    this.base = base
    this.tools = tools
    this.guest = guest
    this.#onRelease = onRelease
    this.reader = new HeapReader({ memory: instance.memory, runtimePointer: guest.runtime })
    this.writer = new ValueWriter(instance, guest)
  }

  /** @param now the pages of the instance, if they were compared and nothing ran since */
  release(reusable: boolean, now?: PageTree): void {
    this.#onRelease(this, reusable, now)
  }

  /** Whether another guest of the pool may have it as it is, without it being given back. */
  leave(reusable: boolean): boolean {
    this.instance.release()
    return reusable && !this.instance.grown
  }

  newFunction(name: string, id: number): number {
    return newHostFunction(this.instance, this.guest.context, name, id)
  }

  /** A promise and its resolving functions. The promise's cell goes to the guest, the others stay with the caller. */
  newPromise(): { readonly promise: number; readonly resolve: number; readonly reject: number } {
    const { scratch, context } = this.guest
    const promise = this.instance.exports.QTS_NewPromiseCapability(context, scratch)
    const words = this.instance.words
    return { promise, resolve: words[scratch >>> 2] ?? 0, reject: words[(scratch >>> 2) + 1] ?? 0 }
  }

  /** Calls a guest function with up to one argument and returns the result's cell, which the caller owns. */
  call(fn: number, argument?: number): number {
    const { scratch, context, undefined: self } = this.guest
    if (argument !== undefined) this.instance.words[scratch >>> 2] = argument
    return this.instance.exports.QTS_Call(context, fn, self, argument === undefined ? 0 : 1, scratch)
  }

  callAndFree(fn: number, argument: number): void {
    this.free(this.call(fn, argument))
  }

  /** The value in a cell: an object's is its address with its kind. */
  bitsOf(cell: number): bigint {
    const { words } = this.instance
    return (BigInt(words[(cell >>> 2) + 1] ?? 0) << 32n) | BigInt(words[cell >>> 2] ?? 0)
  }

  /** Cell of the exception that `cell` stands for, or 0. */
  exceptionOf(cell: number): number {
    return this.instance.exports.QTS_ResolveException(this.guest.context, cell)
  }

  /** Throws a failure of the host's where the guest called it. @returns the cell that the call gives back */
  throwFailure(failure: GuestFailure): number {
    const error = this.writer.writeFailure(failure)
    const thrown = this.instance.exports.QTS_Throw(this.guest.context, error)
    this.free(error)
    return thrown
  }

  free(...cells: readonly number[]): void {
    for (const cell of cells) this.instance.exports.QTS_FreeValuePointer(this.guest.context, cell)
  }
}
