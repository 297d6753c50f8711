/** An instance under test, run by the engine below or by the oracle's interpreter: both look alike to a test. */
import { TagInstance, WasmException } from '../oracle/entities.ts'
import type { ExecutionObserver } from '../oracle/instance-state.ts'
import { type HostImports, Interpreter } from '../oracle/interpreter.ts'
import { exceptionApi } from './exception-api.ts'

/** What a test does with an instance. */
export interface Guest {
  /** Calls an export; results as a list. */
  readonly invoke: (name: string, args: readonly unknown[]) => readonly unknown[]
  readonly readGlobal: (name: string) => unknown
  readonly writeGlobal: (name: string, value: unknown) => void
  /** The exported memory's bytes at this moment; empty when there is none of this name. */
  readonly memoryBytes: (name: string) => Uint8Array
  readonly readTable: (name: string, index: number) => unknown
  readonly writeTable: (name: string, index: number, value: unknown) => void
}

/** What imports need that differs between the two ways of running. */
export interface GuestHost {
  /** An identity for an imported tag that carries one i32. */
  readonly createTag: () => unknown
  /** Throws an exception with this tag and payload into the guest. */
  readonly throwTagged: (tag: unknown, payload: number) => never
}

/** Makes the imports of one instance; `guest` gives the instance once it exists. */
export type ImportFactory = (host: GuestHost, guest: () => Guest) => HostImports

/** Instantiates on the engine that runs the test. */
export function openEngineGuest(wasm: Uint8Array<ArrayBuffer>, createImports: ImportFactory): Guest {
  const host: GuestHost = {
    createTag: () => new exceptionApi.Tag({ parameters: ['i32'] }),
    throwTagged: (tag, payload) => {
      // oxlint-disable-next-line typescript/only-throw-error -- an exception of WebAssembly is no Error
      throw new exceptionApi.Exception(tag as object, [payload])
    },
  }
  const imports = createImports(host, () => guest)
  const module = new WebAssembly.Module(wasm)
  const { exports } = new WebAssembly.Instance(module, imports as WebAssembly.Imports)
  const guest: Guest = {
    invoke: (name, args) => {
      const result = (exports[name] as (...args: unknown[]) => unknown)(...args)
      if (Array.isArray(result)) return result
      return result === undefined ? [] : [result]
    },
    readGlobal: (name) => (exports[name] as WebAssembly.Global).value,
    writeGlobal: (name, value) => {
      ;(exports[name] as WebAssembly.Global).value = value
    },
    memoryBytes: (name) => {
      const memory = exports[name] as WebAssembly.Memory | undefined
      return new Uint8Array(memory?.buffer ?? new ArrayBuffer(0))
    },
    readTable: (name, index) => (exports[name] as WebAssembly.Table).get(index),
    writeTable: (name, index, value) => (exports[name] as WebAssembly.Table).set(index, value),
  }
  return guest
}

/** Instantiates in the oracle's interpreter. */
export function openInterpretedGuest(
  wasm: Uint8Array,
  createImports: ImportFactory,
  observer?: ExecutionObserver,
  maxMemoryPages?: number,
): Guest {
  const host: GuestHost = {
    createTag: () => new TagInstance('imported'),
    throwTagged: (tag, payload) => {
      throw new WasmException(tag as TagInstance, [payload])
    },
  }
  const imports = createImports(host, () => guest)
  const limits = maxMemoryPages === undefined ? {} : { maxMemoryPages }
  const interpreter = new Interpreter(wasm, imports, observer, limits)
  const guest: Guest = {
    invoke: (name, args) => interpreter.invoke(name, args),
    readGlobal: (name) => interpreter.readGlobal(name),
    writeGlobal: (name, value) => interpreter.writeGlobal(name, value),
    memoryBytes: () => interpreter.memoryBytes,
    readTable: (name, index) => interpreter.readTable(name, index),
    writeTable: (name, index, value) => interpreter.writeTable(name, index, value),
  }
  return guest
}
