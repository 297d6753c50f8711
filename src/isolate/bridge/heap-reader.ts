/**
 * Reads values straight out of a guest's heap: no wasm call, no guest code, no intermediate encoding.
 *
 * A getter, a Proxy, a `toJSON`, a patched global or a `Symbol.species` cannot have an effect, because
 * nothing is asked: the reader looks at what the engine's memory holds. The meaning is that of the structured
 * clone algorithm (HTML, section 2.7): own enumerable string-keyed data properties of objects and arrays,
 * holes and extra properties of arrays, shared and cyclic references, Map, Set, Date, RegExp, boxed
 * primitives, binary data with the sharing of buffers, errors with `name`, `message`, `stack` and `cause`.
 * Class instances become plain objects and symbol keys are skipped, as there. An accessor is refused where
 * structured clone would run it.
 *
 * Invariants
 * 1. Every pointer, count and length is hostile until it was checked. What contradicts itself raises
 *    `corrupted`; nothing else than a `CaissonError` comes out.
 * 2. Budgets are charged before anything is allocated; the walk uses a queue, never the host's stack, so that
 *    success does not depend on how deep the host's stack was.
 * 3. A value that arrived is a fresh copy; own keys such as `__proto__` arrive as data and no host
 *    prototype changes.
 * 4. What is read depends on the guest's memory alone, never on earlier reads.
 */
import { CaissonError } from '../../base/errors.ts'
import type { GuestError } from '../../machine/turn.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { NODE_BYTES } from '../../values/value-meter.ts'
import { INSPECT_LIMITS, inspectCells } from './heap-inspect.ts'
import { CLASS, OBJECT, PROXY, TAG } from './heap-layout.ts'
import { HeapMemory } from './heap-memory.ts'
import { floatFromWords, HeapObjects, isFloatTag } from './heap-objects.ts'
import { HeapWalk } from './heap-walk.ts'
import { ownDataNamed, readGuestError } from './read-guest-error.ts'

/** What the reader needs of a guest. */
export interface GuestHeap {
  readonly memory: WebAssembly.Memory
  /** Address of the `JSRuntime`. */
  readonly runtimePointer: number
}

export class HeapReader {
  /** Canonical size in bytes of the value read last (the rule is in `ValueLimits`). */
  lastBytes = 0
  /**
   * What the last read, inspection or error cost the host, in bytes or their worth. Refused ones too: a guest must
   * not have values looked through for nothing.
   */
  lastWork = 0
  readonly #memory: HeapMemory
  readonly #walk: HeapWalk

  constructor(heap: GuestHeap) {
    this.#memory = new HeapMemory(heap.memory)
    this.#walk = new HeapWalk(this.#memory, heap.runtimePointer)
  }

  /**
   * A copy of the value in the cell at `pointer`.
   *
   * @param root how messages call the value, e.g. `args`
   * @throws CaissonError `value_refused` (with the path), `value_too_large`, `value_too_deep`, `corrupted`
   */
  read(pointer: number, limits: ValueLimits, root = 'value'): unknown {
    const memory = this.#memory
    memory.refresh()
    const cell = memory.block(pointer, 8, 'a value')
    const high = memory.u32[cell + 1] as number
    if (high < TAG.uninitialized) {
      this.lastBytes = NODE_BYTES
      this.lastWork = NODE_BYTES
      switch (high) {
        case TAG.int:
          return (memory.u32[cell] as number) | 0
        case TAG.bool:
          return memory.u32[cell] !== 0
        case TAG.null:
          return null
        default:
          return undefined
      }
    }
    if (isFloatTag(high)) {
      this.lastBytes = NODE_BYTES
      this.lastWork = NODE_BYTES
      return floatFromWords(memory.u32[cell] as number, high)
    }
    try {
      const value = this.#walk.run(cell, limits, root)
      this.lastBytes = this.#walk.meter.bytes
      return value
    } finally {
      this.lastWork = this.#walk.meter.work
    }
  }

  /** What the guest threw, in the cell at `pointer`: bounded text, never the guest's objects. */
  readError(pointer: number): GuestError {
    this.#memory.refresh()
    const cell = this.#memory.block(pointer, 8, 'a value')
    return this.#readErrorWords(this.#memory.u32[cell] as number, this.#memory.u32[cell + 1] as number)
  }

  /** As `readError`, for a value whose 64 bits the engine passed along. */
  readErrorBits(bits: bigint): GuestError {
    this.#memory.refresh()
    return this.#readErrorWords(Number(bits & 0xffff_ffffn), Number((bits >> 32n) & 0xffff_ffffn))
  }

  #readErrorWords(low: number, high: number): GuestError {
    try {
      return readGuestError(this.#walk, low, high)
    } catch (error) {
      // More properties than anybody looks through: an error all the same, and no refusal of the host's.
      if (CaissonError.is(error, 'value_too_large'))
        return { name: 'Error', message: '[error too large to show]' }
      throw error
    } finally {
      this.lastWork = this.#walk.meter.work
    }
  }

  /** Whether the value in the cell at `pointer` can be called. */
  isFunction(pointer: number): boolean {
    const memory = this.#memory
    memory.refresh()
    const cell = memory.block(pointer, 8, 'a value')
    if (((memory.u32[cell + 1] as number) | 0) !== TAG.object) return false
    const { objects } = this.#walk
    const word = objects.object(memory.u32[cell] as number)
    const classId = objects.classOf(word)
    if (classId !== CLASS.proxy) return HeapObjects.isFunction(classId)
    const proxy = memory.block(memory.u32[word + OBJECT.dataWord] as number, PROXY.size, 'a Proxy')
    return ((memory.u32[proxy + PROXY.flagsWord] as number) & PROXY.isFunctionMask) !== 0
  }

  /**
   * Address of the cell of the own data property that is called `name`, of the object in the cell at `pointer`; 0 where
   * it has none, or an accessor. Only the first properties are looked through.
   */
  ownData(pointer: number, name: string): number {
    const memory = this.#memory
    memory.refresh()
    const cell = memory.block(pointer, 8, 'a value')
    if (((memory.u32[cell + 1] as number) | 0) !== TAG.object) return 0
    this.#walk.start(INSPECT_LIMITS, 'value')
    return 4 * ownDataNamed(this.#walk, this.#walk.objects.object(memory.u32[cell] as number), name)
  }

  /** The value in the cell at `pointer` as `console.log` shows it. Hostile text: escape it where it is shown. */
  inspect(pointer: number): string {
    return this.inspectAll(pointer, 1)
  }

  /**
   * As `inspect`, for `count` cells side by side, joined by spaces: the arguments of a call, of which the first may be
   * a format.
   * @param frames makes of an error's stack what is shown of it
   */
  inspectAll(pointer: number, count: number, frames?: (stack: string) => string): string {
    this.#memory.refresh()
    this.lastWork = 0
    if (count === 0) return ''
    const cell = this.#memory.block(pointer, 8 * count, 'values')
    this.#walk.start(INSPECT_LIMITS, 'value')
    try {
      return inspectCells(this.#walk, cell, count, frames)
    } catch (error) {
      if (CaissonError.is(error, 'value_too_large')) return '[value too large to show]'
      throw error
    } finally {
      this.lastWork = this.#walk.meter.work
    }
  }
}
