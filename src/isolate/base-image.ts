/**
 * The memory of a guest that has not started yet, taken once per process and engine.
 *
 * Invariants
 * 1. Every byte of an instance's memory is overwritten by `restore`: nothing of an earlier guest survives,
 *    whatever it did to its allocator.
 * 2. The image is the same on every runtime: nothing of the host went into it.
 */
import { type Digest, sha256 } from '../base/digest.ts'
import type { Engine } from './engine.ts'
import { EngineInstance } from './engine-instance.ts'
import { type GuestRuntime, installGuestRuntime } from './guest-runtime.ts'

/** Far more than the setup takes; it is ours, and bounded all the same. */
const SETUP_FUEL = 1_000_000_000
const SETUP_STACK_BYTES = 1_048_576

export class BaseImage {
  readonly guest: GuestRuntime
  /** The whole memory up to the end of the heap; the stack region is zero. */
  readonly #bytes: Uint8Array
  #digest: Digest | undefined

  constructor(engine: Engine) {
    const instance = new EngineInstance(engine, engine.layout.initialPages, () => 0)
    instance.gauge.reset(SETUP_FUEL)
    instance.gauge.begin(SETUP_STACK_BYTES, Number.POSITIVE_INFINITY, undefined)
    this.guest = installGuestRuntime(instance)
    this.#bytes = instance.bytes.slice()
    this.#bytes.fill(0, engine.layout.stackEnd, engine.layout.stackBase)
  }

  get digest(): Digest {
    this.#digest ??= sha256(this.#bytes)
    return this.#digest
  }

  /** Makes an instance of the same engine, with a memory that has not grown, a guest that never ran. */
  restore(instance: EngineInstance): void {
    instance.bytes.set(this.#bytes)
    instance.resetStack()
  }
}
