/**
 * An unmetered guest for tests of the bridge: the engine as it comes from npm, with the fewest imports that
 * let it run. Its minified names are those of the one build that the package pins.
 */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { EngineExports } from '../engine-exports.ts'
import { BRIDGE_SOURCE } from './bridge-source.ts'
import { HeapReader } from './heap-reader.ts'
import { ValueWriter } from './value-writer.ts'

/** Minified names of the exports that tests need. */
const EXPORTS: Partial<Record<keyof EngineExports, string>> = {
  malloc: 'v',
  free: 'M',
  QTS_NewRuntime: 'K',
  QTS_NewContext: 'N',
  QTS_RuntimeSetMaxStackSize: 'D',
  QTS_GetUndefined: 'E',
  QTS_GetNull: 'F',
  QTS_GetFalse: 'G',
  QTS_GetTrue: 'H',
  QTS_GetGlobalObject: 'ua',
  QTS_FreeValuePointer: 'P',
  QTS_DupValuePointer: 'T',
  QTS_NewArrayBuffer: 'X',
  QTS_NewFloat64: 'Y',
  QTS_NewString: '_',
  QTS_NewFunction: 'Da',
  QTS_GetProp: 'ha',
  QTS_SetProp: 'ja',
  QTS_Call: 'ma',
  QTS_ResolveException: 'na',
  QTS_Eval: 'pa',
  QTS_IsJobPending: 'fa',
  QTS_ExecutePendingJob: 'ga',
  QTS_bjson_decode: 'Ka',
  __wasm_call_ctors: 'u',
}

/** Host calls of a test guest: `values` is the address of the argument cells. Returns a value pointer or 0. */
export type HostCall = (count: number, values: number, fn: number) => number

const resolve = createRequire(import.meta.url).resolve
const directory = resolve('@jitl/quickjs-wasmfile-release-sync').replace(/dist.*$/, 'dist/')
const module = new WebAssembly.Module(readFileSync(`${directory}emscripten-module.wasm`))
const PAGE = 65_536

export class TestGuest {
  readonly memory: WebAssembly.Memory
  readonly exports: EngineExports
  readonly runtime: number
  readonly context: number
  readonly builder: number
  readonly undefined: number
  readonly null: number
  readonly true: number
  readonly false: number
  readonly scratch: number
  readonly reader: HeapReader
  readonly writer: ValueWriter
  onCall: HostCall = () => 0
  /** Calls of `malloc` so far minus calls of `free`, by the host. */
  live = 0

  /** @param maxPages cap on the memory in pages of 64 KiB */
  constructor(maxPages = 16_384) {
    this.memory = new WebAssembly.Memory({ initial: 256, maximum: Math.max(256, maxPages) })
    const instance = new WebAssembly.Instance(module, { a: this.#imports() })
    const raw = instance.exports as Record<string, (...args: number[]) => number>
    const named: Record<string, unknown> = {}
    for (const [name, minified] of Object.entries(EXPORTS)) named[name] = raw[minified]
    const malloc = named.malloc as (bytes: number) => number
    const free = named.free as (pointer: number) => void
    named.malloc = (bytes: number): number => {
      const pointer = malloc(bytes)
      if (pointer !== 0) this.live += 1
      return pointer
    }
    named.free = (pointer: number): void => {
      if (pointer !== 0) this.live -= 1
      free(pointer)
    }
    this.exports = named as unknown as EngineExports
    const x = this.exports
    x.__wasm_call_ctors()
    this.runtime = x.QTS_NewRuntime()
    x.QTS_RuntimeSetMaxStackSize(this.runtime, 128 * 1024)
    this.context = x.QTS_NewContext(this.runtime, 0)
    this.undefined = x.QTS_GetUndefined()
    this.null = x.QTS_GetNull()
    this.true = x.QTS_GetTrue()
    this.false = x.QTS_GetFalse()
    this.scratch = x.malloc(64)
    this.builder = this.cell(BRIDGE_SOURCE)
    this.reader = new HeapReader({ memory: this.memory, runtimePointer: this.runtime })
    this.writer = new ValueWriter(this, this)
  }

  /** Cell of what `source` evaluates to. @throws Error with the guest's message */
  cell(source: string): number {
    const x = this.exports
    const utf8 = new TextEncoder().encode(`${source}\0`)
    const pointer = x.malloc(utf8.length + 16)
    const bytes = new Uint8Array(this.memory.buffer)
    bytes.set(utf8, pointer)
    bytes.set(new TextEncoder().encode('test.js\0'), pointer + utf8.length)
    const value = x.QTS_Eval(this.context, pointer, utf8.length - 1, pointer + utf8.length, 0, 0)
    x.free(pointer)
    const thrown = x.QTS_ResolveException(this.context, value)
    if (thrown !== 0) {
      const { name, message } = this.reader.readError(thrown)
      throw new Error(`The guest threw ${name}: ${message}`)
    }
    return value
  }

  /** Runs `source` and reads what it evaluates to. */
  evaluate(source: string, limits: Parameters<HeapReader['read']>[1] = LIMITS, root?: string): unknown {
    const cell = this.cell(source)
    try {
      return this.reader.read(cell, limits, root)
    } finally {
      this.exports.QTS_FreeValuePointer(this.context, cell)
    }
  }

  /** Gives the global `name` the value in `cell`. */
  setGlobal(name: string, cell: number): void {
    const x = this.exports
    const key = this.writer.write(name, LIMITS)
    const global = x.QTS_GetGlobalObject(this.context)
    x.QTS_SetProp(this.context, global, key, cell)
    for (const pointer of [key, global]) x.QTS_FreeValuePointer(this.context, pointer)
  }

  /** Adds a global function that calls `onCall` with `fn`. */
  addHostFunction(name: string, fn: number): void {
    const x = this.exports
    const utf8 = new TextEncoder().encode(`${name}\0`)
    const pointer = x.malloc(utf8.length)
    new Uint8Array(this.memory.buffer).set(utf8, pointer)
    const cell = x.QTS_NewFunction(this.context, pointer, 0, 0, fn)
    x.free(pointer)
    this.setGlobal(name, cell)
    x.QTS_FreeValuePointer(this.context, cell)
  }

  /** Host value to guest and back. */
  roundTrip(value: unknown): unknown {
    const cell = this.writer.write(value, LIMITS)
    try {
      return this.reader.read(cell, LIMITS)
    } finally {
      this.exports.QTS_FreeValuePointer(this.context, cell)
    }
  }

  #imports(): WebAssembly.ModuleImports {
    const words = (): Uint32Array => new Uint32Array(this.memory.buffer)
    const fail = (): never => {
      throw new Error('the engine gave up')
    }
    return {
      a: this.memory,
      b: fail,
      c: () => 8,
      d: () => 8,
      e: () => 0,
      f: (count: number, bytes: number): number => {
        words()[count >>> 2] = 0
        words()[bytes >>> 2] = 0
        return 0
      },
      g: () => 0,
      h: () => 0,
      i: () => 0,
      j: () => 0,
      k: (bytes: number): number => {
        const missing = Math.ceil(((bytes >>> 0) - this.memory.buffer.byteLength) / PAGE)
        try {
          this.memory.grow(Math.max(missing, 0))
          return 1
        } catch {
          return 0
        }
      },
      l: () => {},
      m: () => {},
      n: () => {},
      o: () => 8,
      p: () => 1e12,
      q: fail,
      r: fail,
      s: (_context: number, _self: number, count: number, values: number, fn: number): number =>
        this.onCall(count, values, fn),
      t: () => {},
    }
  }
}

/** Roomier than the defaults, so that a test meets a limit only where it asks for one. */
export const LIMITS: Parameters<HeapReader['read']>[1] = {
  bytes: 64 * 1024 * 1024,
  nodes: 4_000_000,
  depth: 2000,
}
