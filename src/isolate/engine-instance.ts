/**
 * One instance of the engine with its memory: the thin loader.
 *
 * Invariants
 * 1. No import throws: an exception must never cross a wasm frame. Imports that cannot answer return the
 *    value that means failure there; a defect in a handler is recorded in `fault` and stops the guest.
 * 2. No import reads time, randomness or environment of the host.
 * 3. No length that the guest gives is believed: loops and growth in imports are bounded.
 */
import { CaissonError } from '../base/errors.ts'
import { FuelGauge } from '../machine/fuel-gauge.ts'
import { ENGINE_IMPORT_MODULE, type Engine, METER_IMPORT_MODULE } from './engine.ts'
import type { EngineExports } from './engine-exports.ts'

const PAGE = 65_536

/** Characters up to which text is written one by one (bench: first-result). */
const SHORT_TEXT = 256

/** What of a text in the guest is looked at, in bytes: more than any module's name may have. */
const MOST_TEXT_BYTES = 16_384

/** Fuel per byte by which the linear memory grows: zeroed pages cost time before anything runs on them. */
const GROWTH_FUEL_PER_BYTE = 2

/** @throws CaissonError `machine_lost` */
function newMemory(initial: number, maximum: number): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial, maximum })
  } catch (cause) {
    throw noRoom(initial * PAGE, cause)
  }
}

/** The host's trouble, and no guest's: what is kept of one can go on when there is room again. */
function noRoom(bytes: number, cause: unknown): CaissonError {
  return new CaissonError(
    'machine_lost',
    `The host has no room for ${bytes} bytes of guest memory; run fewer guests at a time (instances, concurrency).`,
    { cause },
  )
}

/** What an isolate does for its instance while a turn runs. */
export interface InstanceHandlers {
  /** A guest called host function `fn`. Returns a value pointer (owned by the guest), or 0 for undefined. */
  call(fn: number, count: number, values: number): number
  /** Milliseconds since the epoch. */
  readClock(): number
  /** A promise was rejected without a handler (`handled` 0), or got one later (1). Cells are 64-bit values. */
  promiseRejection(promise: bigint, reason: bigint, handled: number): void
  /** Address of text that the engine frees: the name by which it knows what `base` imports as `specifier`. */
  normalizeModule?(base: string, specifier: string): number
  /** Address of text that the engine frees: the source of a module, or 0 with an exception thrown in the guest. */
  loadModule?(name: string): number
}

export class EngineInstance {
  readonly engine: Engine
  readonly memory: WebAssembly.Memory
  readonly exports: EngineExports
  readonly gauge: FuelGauge
  readonly #stackPointer: WebAssembly.Global
  #handlers: InstanceHandlers | undefined
  #memoryLimit = 0
  readonly #maxBytes: number
  /** A defect of ours inside an import: the turn is stopped, and this says why. */
  fault: unknown

  #u8: Uint8Array = new Uint8Array(0)
  #u32: Uint32Array = new Uint32Array(0)

  /** @param maxPages hard cap on the linear memory of every guest that this instance will serve */
  constructor(engine: Engine, maxPages: number, monotonic: () => number) {
    this.engine = engine
    this.#maxBytes = maxPages * PAGE
    this.memory = newMemory(engine.layout.initialPages, maxPages)
    let refill: (kind: number) => bigint = () => 2n ** 60n
    const instance = new WebAssembly.Instance(engine.module, {
      [ENGINE_IMPORT_MODULE]: this.#imports(),
      [METER_IMPORT_MODULE]: { refill: (kind: number) => refill(kind) },
    })
    const exports = instance.exports as unknown as EngineExports & Record<string, WebAssembly.Global>
    const fuel = exports['caisson.fuel']
    const depth = exports['caisson.depth']
    const stackPointer = exports.__stack_pointer
    if (fuel === undefined || depth === undefined || stackPointer === undefined) {
      throw new CaissonError(
        'engine_mismatch',
        'The engine module does not export its fuel, depth and stack pointer.',
      )
    }
    this.exports = exports
    this.#stackPointer = stackPointer
    this.gauge = new FuelGauge({ fuel, depth }, monotonic)
    refill = this.gauge.refill
  }

  /** Views of the memory as it is now. Take them again after anything that may grow it. */
  get bytes(): Uint8Array {
    if (this.#u8.length === 0) this.#refresh()
    return this.#u8
  }

  get words(): Uint32Array {
    if (this.#u32.length === 0) this.#refresh()
    return this.#u32
  }

  /** Growing detaches the old views, which shows as a length of zero: cheaper to look at than the memory. */
  #refresh(): void {
    this.#u8 = new Uint8Array(this.memory.buffer)
    this.#u32 = new Uint32Array(this.memory.buffer)
  }

  /** Bytes in the memory now. */
  get size(): number {
    return this.bytes.length
  }

  get stackPointer(): number {
    return this.#stackPointer.value as number
  }

  /** Whether no wasm frame has left anything on the stack. */
  get stackIsEmpty(): boolean {
    return this.stackPointer === this.engine.layout.stackBase
  }

  /**
   * Makes a memory that has not grown as large as a captured one was.
   * @throws CaissonError `corrupted` for a size that no memory of this engine can have, or more than may be had here;
   *   `machine_lost` where the host has no room for it
   */
  growTo(bytes: number): void {
    const pages = (bytes - this.size) / PAGE
    if (!Number.isSafeInteger(pages) || pages < 0) {
      throw new CaissonError('corrupted', `A memory of ${bytes} bytes cannot be one of this engine's.`)
    }
    if (bytes > this.#maxBytes) {
      throw new CaissonError('corrupted', `The guest's memory of ${bytes} bytes is larger than allowed here.`)
    }
    try {
      if (pages > 0) this.memory.grow(pages)
    } catch (cause) {
      throw noRoom(bytes, cause)
    }
  }

  /** What the dead part of the stack holds at its edges would count as state: they share a page with what lives. */
  clearStackEdges(pageBytes: number): void {
    const { stackEnd, stackBase } = this.engine.layout
    this.bytes.fill(0, stackEnd, Math.min(stackBase, Math.ceil(stackEnd / pageBytes) * pageBytes))
    this.bytes.fill(0, Math.max(stackEnd, Math.floor(stackBase / pageBytes) * pageBytes), stackBase)
  }

  resetStack(): void {
    this.#stackPointer.value = this.engine.layout.stackBase
  }

  /** Whether the memory still has its first size. A grown one would let the next guest see a difference. */
  get grown(): boolean {
    return this.size !== this.engine.layout.initialPages * PAGE
  }

  serve(handlers: InstanceHandlers, memoryBytes: number): void {
    this.#handlers = handlers
    this.#memoryLimit = memoryBytes
    this.fault = undefined
  }

  release(): void {
    this.#handlers = undefined
  }

  /** Address of `bytes` fresh bytes, checked. The caller frees it. @throws CaissonError `corrupted` */
  allocate(bytes: number): number {
    const pointer = this.exports.malloc(bytes) >>> 0
    if (pointer === 0 || pointer + bytes > this.size) {
      throw new CaissonError('corrupted', `The guest's allocator gave no room for ${bytes} bytes.`)
    }
    return pointer
  }

  /** Copies text into the guest as NUL-terminated UTF-8. Lone surrogates become U+FFFD. The caller frees it. */
  allocateText(text: string): { readonly pointer: number; readonly bytes: number } {
    return (text.length <= SHORT_TEXT ? this.#allocateAscii(text) : undefined) ?? this.#allocateUtf8(text)
  }

  /** Names and small programs: a call of the host's encoder costs more than writing them. Undefined if not ASCII. */
  #allocateAscii(text: string): { readonly pointer: number; readonly bytes: number } | undefined {
    const bytes = text.length
    for (let i = 0; i < bytes; i += 1) if (text.charCodeAt(i) > 0x7f) return undefined
    const pointer = this.allocate(bytes + 1)
    const u8 = this.bytes
    for (let i = 0; i < bytes; i += 1) u8[pointer + i] = text.charCodeAt(i)
    u8[pointer + bytes] = 0
    return { pointer, bytes }
  }

  #allocateUtf8(text: string): { readonly pointer: number; readonly bytes: number } {
    const utf8 = new TextEncoder().encode(text)
    const pointer = this.allocate(utf8.length + 1)
    const bytes = this.bytes
    bytes.set(utf8, pointer)
    bytes[pointer + utf8.length] = 0
    return { pointer, bytes: utf8.length }
  }

  /** Text that ends at a NUL, or at the bound, in the guest's memory. Bytes that are no UTF-8 become U+FFFD. */
  #readText(pointer: number): string {
    const from = pointer >>> 0
    const u8 = this.bytes
    const most = Math.min(from + MOST_TEXT_BYTES, u8.length)
    let end = from
    while (end < most && u8[end] !== 0) end += 1
    return new TextDecoder().decode(u8.slice(from, end))
  }

  /** A guest string without NUL characters. The caller frees the value. */
  newString(context: number, text: string): number {
    const { pointer } = this.allocateText(text)
    const value = this.exports.QTS_NewString(context, pointer)
    this.exports.free(pointer)
    return value
  }

  #imports(): WebAssembly.ModuleImports {
    const failed = (error: unknown): void => {
      this.fault ??= error
      this.gauge.halt('fault')
    }
    const word = (address: number, value: number): void => {
      this.words[address >>> 2] = value
    }
    return {
      memory: this.memory,
      call_function: (_ctx: number, _self: number, count: number, values: number, fn: number): number => {
        try {
          return this.#handlers === undefined ? 0 : this.#handlers.call(fn, count, values)
        } catch (error) {
          failed(error)
          return 0
        }
      },
      promise_rejection: (_ctx: number, promise: bigint, reason: bigint, handled: number): void => {
        try {
          this.#handlers?.promiseRejection(promise, reason, handled)
        } catch (error) {
          failed(error)
        }
      },
      date_now: (): number => this.#handlers?.readClock() ?? 0,
      resize_heap: (bytes: number): number => this.#grow(bytes >>> 0),
      // UTC always: the host's time zone must not be seen.
      localtime: (seconds: bigint, out: number): void => this.#writeUtc(seconds, out >>> 2),
      tzset: (zone: number, daylight: number, _standard: number, _summer: number): void => {
        word(zone, 0)
        word(daylight, 0)
      },
      environ_sizes_get: (count: number, bytes: number): number => {
        word(count, 0)
        word(bytes, 0)
        return 0
      },
      environ_get: (): number => 0,
      // Output of C code in the engine (assertions): swallowed whole, whatever count it claims.
      fd_write: (): number => 8,
      fd_close: (): number => 8,
      fd_seek: (): number => 8,
      // Only asked when enabled, and it is not: fuel does this better.
      should_interrupt: (): number => 0,
      load_module: (_runtime: number, _context: number, name: number): number => {
        try {
          return this.#handlers?.loadModule?.(this.#readText(name)) ?? 0
        } catch (error) {
          failed(error)
          return 0
        }
      },
      normalize_module: (_runtime: number, _context: number, base: number, name: number): number => {
        try {
          return this.#handlers?.normalizeModule?.(this.#readText(base), this.#readText(name)) ?? 0
        } catch (error) {
          failed(error)
          return 0
        }
      },
      free_host_ref: (): void => {},
      setitimer: (): number => 0,
      keepalive_clear: (): void => {},
      // These announce that the engine gives up; the instruction after them is `unreachable`.
      assert_fail: (): void => {},
      abort: (): void => {},
      proc_exit: (): void => {},
    }
  }

  /** Grows by an eighth or to what is asked for, whichever is more: the same steps on every runtime. */
  #grow(bytes: number): number {
    const current = this.size
    const cap = this.#memoryLimit === 0 ? current : this.#memoryLimit
    const wanted = Math.min(cap, Math.ceil(Math.max(bytes, current * 1.125) / PAGE) * PAGE)
    const pages = Math.floor((wanted - current) / PAGE)
    if (current + pages * PAGE < bytes) {
      this.gauge.halt('memory')
      return 0
    }
    this.gauge.charge(pages * PAGE * GROWTH_FUEL_PER_BYTE)
    try {
      this.memory.grow(pages)
      return 1
    } catch {
      // The host itself has no memory left.
      this.gauge.halt('memory')
      return 0
    }
  }

  #writeUtc(seconds: bigint, at: number): void {
    const date = new Date(Number(BigInt.asIntN(64, seconds)) * 1000)
    const valid = Number.isFinite(date.getTime())
    const fields = valid
      ? [
          date.getUTCSeconds(),
          date.getUTCMinutes(),
          date.getUTCHours(),
          date.getUTCDate(),
          date.getUTCMonth(),
          date.getUTCFullYear() - 1900,
          date.getUTCDay(),
          Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear(), 0, 1)) / 86_400_000),
        ]
      : [0, 0, 0, 1, 0, 70, 4, 0]
    const words = this.words
    for (let i = 0; i < 11; i += 1) {
      if (at + i < words.length) words[at + i] = fields[i] ?? 0
    }
  }
}
