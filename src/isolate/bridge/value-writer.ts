/**
 * Gives host values to a guest, without running guest code.
 *
 * Primitives go through the engine's exports or straight into a fresh cell. Plain trees are encoded in the
 * engine's own object format and decoded natively. Everything else (sharing, Map, Set, RegExp, Error, holes)
 * is first copied and checked on the host, then sent as tables to the builder of `BRIDGE_SOURCE`.
 *
 * Invariants
 * 1. A value that cannot cross, or exceeds its limits, is refused before anything is written into the guest.
 * 2. What was allocated in the guest is freed again when a write fails.
 * 3. Pointers that the engine returns are checked before the host reads or writes through them.
 */
import { CaissonError } from '../../base/errors.ts'
import type { GuestFailure } from '../../machine/turn.ts'
import type { ValueLimits } from '../../values/limits.ts'
import { NODE_BYTES } from '../../values/value-meter.ts'
import { walkValue } from '../../values/value-walk.ts'
import type { EngineExports } from '../engine-exports.ts'
import { BytecodeBuffer } from './bytecode-buffer.ts'
import { encodeFailure } from './failure-encoder.ts'
import { GraphEncoder } from './graph-encoder.ts'
import { ARRAY_DATA, TAG } from './heap-layout.ts'
import { HeapMemory } from './heap-memory.ts'
import { HeapObjects } from './heap-objects.ts'
import { HeapReader } from './heap-reader.ts'
import { TreeEncoder } from './tree-encoder.ts'

/** The exports that writing needs. */
export type WriterExports = Pick<
  EngineExports,
  | 'malloc'
  | 'free'
  | 'QTS_NewFloat64'
  | 'QTS_NewArrayBuffer'
  | 'QTS_bjson_decode'
  | 'QTS_Call'
  | 'QTS_ResolveException'
  | 'QTS_FreeValuePointer'
>

/** A running engine instance. */
export interface WriterEngine {
  readonly memory: WebAssembly.Memory
  readonly exports: WriterExports
}

/** Pointers of the guest's runtime that writing needs. */
export interface WriterGuest {
  readonly runtime: number
  readonly context: number
  /** Cell of the function that `BRIDGE_SOURCE` evaluates to. */
  readonly builder: number
  /** Cell of `undefined`. */
  readonly undefined: number
}

export class ValueWriter {
  /** Canonical size in bytes of the value written last (the rule is in `ValueLimits`). */
  lastBytes = 0
  readonly #exports: WriterExports
  readonly #guest: WriterGuest
  readonly #engineMemory: WebAssembly.Memory
  readonly #memory: HeapMemory
  readonly #objects: HeapObjects
  readonly #out = new BytecodeBuffer()
  readonly #tree: TreeEncoder

  constructor(engine: WriterEngine, guest: WriterGuest) {
    this.#exports = engine.exports
    this.#guest = guest
    this.#engineMemory = engine.memory
    this.#memory = new HeapMemory(engine.memory)
    this.#objects = new HeapObjects(this.#memory)
    this.#tree = new TreeEncoder(this.#out)
  }

  /**
   * A new cell with a copy of `value`. The caller owns it: free it, or hand it to the guest.
   *
   * @param root how messages call the value, e.g. `result`
   * @throws CaissonError `value_refused` (with the path), `value_too_large`, `value_too_deep`; `corrupted` when
   *   the guest's engine contradicts itself
   */
  write(value: unknown, limits: ValueLimits, root = 'value'): number {
    this.lastBytes = NODE_BYTES
    switch (typeof value) {
      case 'number':
        return this.writeNumber(value)
      case 'undefined':
        return this.#cell(0, TAG.undefined)
      case 'boolean':
        return this.#cell(value ? 1 : 0, TAG.bool)
      default:
        if (value === null) return this.#cell(0, TAG.null)
    }
    return this.#writeTree(value, limits) ?? this.#writeGraph(value, limits, root)
  }

  /** A new cell with a number. */
  writeNumber(value: number): number {
    this.lastBytes = NODE_BYTES
    return this.#checked(this.#exports.QTS_NewFloat64(this.#guest.context, value))
  }

  /** A new cell with an `Error` that has the failure's name, message, code and details. */
  writeFailure(failure: GuestFailure): number {
    const out = this.#out
    out.clear()
    encodeFailure(out, failure)
    this.lastBytes = out.size
    return this.#build(() => undefined)
  }

  #writeTree(value: unknown, limits: ValueLimits): number | undefined {
    const out = this.#out
    out.clear()
    try {
      if (!this.#tree.encode(value, limits)) return undefined
    } catch {
      // A trap of a Proxy threw. The walk says where.
      return undefined
    }
    this.lastBytes = this.#tree.bytes
    return this.#decode()
  }

  #writeGraph(value: unknown, limits: ValueLimits, root: string): number {
    const { copy, bytes } = walkValue(value, limits, root, true)
    const out = this.#out
    out.clear()
    this.lastBytes = bytes
    if (typeof copy !== 'object' || copy === null) {
      // A primitive that the tree's way gave up on. It can only be a BigInt that is too long for the engine.
      this.#out.bigInt(copy as bigint)
      return this.#decode()
    }
    const graph = new GraphEncoder(out)
    graph.encode(copy)
    return this.#build((node) => graph.path(node, root))
  }

  /** Has the builder make what the table in `#out` says. */
  #build(path: (node: number) => string | undefined): number {
    const x = this.#exports
    const { context, builder, undefined: self } = this.#guest
    const list = this.#allocate(8)
    const table = this.#orFree(list, () => this.#decode())
    this.#memory.u32[list >>> 2] = table
    const result = this.#checked(x.QTS_Call(context, builder, self, 1, list))
    x.free(list)
    const failure = this.#isException(result)
      ? this.#failure(result, path(this.#compiling(table)))
      : undefined
    x.QTS_FreeValuePointer(context, table)
    if (failure !== undefined) throw failure
    return result
  }

  /** Frees `pointer` where `act` fails in order. After a trap nothing in the instance is touched again. */
  #orFree<T>(pointer: number, act: () => T): T {
    try {
      return act()
    } catch (error) {
      if (CaissonError.is(error) && error.code !== 'corrupted') this.#exports.free(pointer)
      throw error
    }
  }

  /** Has the engine decode what `#out` holds. */
  #decode(): number {
    const x = this.#exports
    const { context } = this.#guest
    const out = this.#out
    const message = this.#allocate(out.size)
    const length = out.copyTo(this.#memory.u8, message)
    const buffer = this.#checked(x.QTS_NewArrayBuffer(context, message, length))
    if (this.#isException(buffer)) {
      x.free(message)
      throw this.#failure(buffer, undefined)
    }
    const value = this.#checked(x.QTS_bjson_decode(context, buffer))
    x.QTS_FreeValuePointer(context, buffer)
    if (this.#isException(value)) throw this.#failure(value, undefined)
    return value
  }

  /** Number of the RegExp that the builder was at, from the fourth element of its table. */
  #compiling(table: number): number {
    const { u32 } = this.#memory
    const word = this.#objects.object(u32[this.#memory.block(table, 8, 'a value')] as number)
    const elements = this.#memory.block(u32[word + ARRAY_DATA.valuesWord] as number, 32, 'array elements')
    return u32[elements + 6] as number
  }

  /** What went wrong in the guest: `cell` stands for an exception. Frees it. */
  #failure(cell: number, path: string | undefined): CaissonError {
    const x = this.#exports
    const { context } = this.#guest
    const thrown = x.QTS_ResolveException(context, cell)
    x.QTS_FreeValuePointer(context, cell)
    if (thrown === 0) return new CaissonError('corrupted', 'The guest failed without an exception.')
    const { name, message } = this.#reader().readError(thrown)
    x.QTS_FreeValuePointer(context, thrown)
    if (name === 'SyntaxError' && path !== undefined) {
      return new CaissonError('value_refused', `${path} is a RegExp that the guest cannot compile.`, {
        details: { path, kind: 'regexp' },
      })
    }
    if (message.includes('stack overflow')) {
      return new CaissonError('value_too_deep', 'The guest has no stack left to take the value.')
    }
    return new CaissonError('value_too_large', 'The guest has no memory left to take the value.')
  }

  #reader(): HeapReader {
    return new HeapReader({ memory: this.#engineMemory, runtimePointer: this.#guest.runtime })
  }

  /** Checks a cell that the engine returned, and takes fresh views: the call may have grown the memory. */
  #checked(cell: number): number {
    this.#memory.refresh()
    const pointer = cell >>> 0
    if (pointer === 0) throw outOfMemory()
    this.#memory.block(pointer, 8, 'a value')
    return pointer
  }

  #isException(cell: number): boolean {
    return this.#memory.u32[(cell >>> 2) + 1] === TAG.exception
  }

  #cell(low: number, tag: number): number {
    const pointer = this.#allocate(8)
    const { u32 } = this.#memory
    u32[pointer >>> 2] = low
    u32[(pointer >>> 2) + 1] = tag
    return pointer
  }

  /** Address of `bytes` fresh bytes in the guest. */
  #allocate(bytes: number): number {
    const pointer = this.#exports.malloc(bytes) >>> 0
    this.#memory.refresh()
    if (pointer === 0) throw outOfMemory()
    this.#memory.block(pointer, bytes, 'fresh memory')
    return pointer
  }
}

function outOfMemory(): CaissonError {
  return new CaissonError('value_too_large', 'The guest has no memory left to take the value.')
}
