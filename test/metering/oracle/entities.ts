/** The run-time things of the oracle's interpreter: functions, tables, memory, globals, tags, and how code ends early. */
import type { FunctionBody, FunctionType } from './module-reader.ts'

/**
 * A value on the interpreter's stack: a number (i32, f32, f64), a bigint (i64), 16 bytes (v128), or a reference:
 * a `FunctionInstance`, a `WasmException`, null, or anything of the host's as externref.
 */
export type Value = unknown

/** A function: defined by the module, or a host function. */
export interface FunctionInstance {
  readonly type: FunctionType
  readonly body: FunctionBody | undefined
  readonly host: ((...args: unknown[]) => unknown) | undefined
}

/** A table of references. */
export interface TableInstance {
  readonly elements: Value[]
  readonly maximum: number
}

/** Linear memory; `bytes` is replaced when it grows. */
export interface MemoryInstance {
  bytes: Uint8Array<ArrayBuffer>
  readonly maximumPages: number
}

/** A global cell. */
export interface GlobalInstance {
  value: Value
}

/** The identity of a tag; a host may make its own to import it. */
export class TagInstance {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** An exception in flight, thrown through the interpreter as a JavaScript exception. */
export class WasmException extends Error {
  override readonly name = 'WasmException'
  readonly tag: TagInstance
  readonly values: readonly Value[]

  constructor(tag: TagInstance, values: readonly Value[]) {
    super(`wasm exception ${tag.name}`)
    this.tag = tag
    this.values = values
  }
}

/** A foreign (host) exception, wrapped so that it can travel as exnref. */
export interface CaughtException {
  readonly thrown: unknown
}

/** A trap; no handler of the module catches it. The messages are V8's, so that both sides compare as text. */
export class Trap extends WebAssembly.RuntimeError {}

/** V8's texts for the traps that the interpreter raises itself. */
export const TRAP = {
  unreachable: 'unreachable',
  memory: 'memory access out of bounds',
  table: 'table index is out of bounds',
  signature: 'null function or function signature mismatch',
  rethrowNull: 'rethrowing null value',
} as const

/** The size of a page. */
export const PAGE_BYTES: number = 65_536
