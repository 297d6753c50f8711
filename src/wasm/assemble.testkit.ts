/** Text to bytes for tests, and instances of the result. */
import binaryen from 'binaryen'

const F: typeof binaryen.Features = binaryen.Features

/** What the engines of today run. Without GC, null references keep their plain types. */
const FEATURES: number =
  F.Atomics |
  F.MutableGlobals |
  F.NontrappingFPToInt |
  F.SIMD128 |
  F.BulkMemory |
  F.BulkMemoryOpt |
  F.SignExt |
  F.ExceptionHandling |
  F.TailCall |
  F.ReferenceTypes |
  F.Multivalue |
  F.Memory64 |
  F.RelaxedSIMD |
  F.ExtendedConst |
  F.MultiMemory

/** Assembles a module in binaryen's text format, with `features` beyond those that engines of today run. */
export function assemble(text: string, features = 0): Uint8Array {
  const module = binaryen.parseText(text)
  try {
    module.setFeatures(FEATURES | features)
    return module.emitBinary()
  } finally {
    module.dispose()
  }
}

/** Compiles and instantiates; `imports` defaults to none. */
export function instantiate(wasm: Uint8Array, imports: WebAssembly.Imports = {}): WebAssembly.Instance {
  return new WebAssembly.Instance(new WebAssembly.Module(wasm as Uint8Array<ArrayBuffer>), imports)
}

/** An exported function, loosely typed. */
export function exported(
  instance: WebAssembly.Instance,
  name: string,
): (...args: readonly unknown[]) => unknown {
  const value = instance.exports[name]
  if (typeof value !== 'function') throw new Error(`no exported function ${name}`)
  return value as (...args: readonly unknown[]) => unknown
}
