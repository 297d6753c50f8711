/** The host side of binaryen's fuzz modules: loggers, a thrower, and calls back into the module. */
import type { ValueType } from '../oracle/instruction.ts'
import type { FunctionType, WasmModule } from '../oracle/module-reader.ts'
import type { Guest, GuestHost, ImportFactory } from './guest.ts'
import { describeValue } from './trace.ts'

/** Told about every host call. */
export type EventLog = (event: string) => void

/** Imports for a module that `wasm-opt -ttf` made (before metering); every host call is told to `log`. */
export function createFuzzImports(module: WasmModule, log: EventLog): ImportFactory {
  return (host, guest) => {
    const imports: Record<string, Record<string, unknown>> = {}
    const add = (from: { module: string; name: string } | undefined, value: () => unknown): void => {
      if (from === undefined) return
      imports[from.module] ??= {}
      const group = imports[from.module] as Record<string, unknown>
      group[from.name] = value()
    }
    const tag = host.createTag()
    for (const { imported } of module.tags)
      add(imported, () => (imported?.name === 'wasmtag' ? tag : host.createTag()))
    for (const { imported, type } of module.globals) add(imported, () => importedGlobal(type))
    const functions = createFunctions(module, log, host, guest, tag)
    for (const { imported, typeIndex } of module.functions) {
      const type = module.types[typeIndex] as FunctionType
      add(imported, () => functions[imported?.name ?? ''] ?? createLogger(imported?.name ?? '', type, log))
    }
    return imports
  }
}

/**
 * Whether the host side of this module catches exceptions that passed through its frames, so that it must be metered
 * with `importsMayThrow` to be counted exactly.
 */
export function hostMayCatch(module: WasmModule): boolean {
  return module.functions.some(({ imported }) => imported?.name.endsWith('-catch'))
}

function importedGlobal(type: ValueType): unknown {
  if (type === 'i64') return 7n
  if (type === 'externref') return 'an external value'
  return type === 'funcref' ? null : 7
}

/** The zero that a host function of this type returns. */
function zeroResult({ results }: FunctionType): unknown {
  const zeros = results.map((type) => (type === 'i64' ? 0n : type.endsWith('ref') ? null : 0))
  return zeros.length > 1 ? zeros : zeros[0]
}

function createLogger(name: string, type: FunctionType, log: EventLog): (...args: unknown[]) => unknown {
  return (...args) => {
    log(`${name} ${args.map(describeValue).join()}`)
    return zeroResult(type)
  }
}

function createFunctions(
  module: WasmModule,
  log: EventLog,
  host: GuestHost,
  guest: () => Guest,
  tag: unknown,
): Record<string, (...args: never[]) => unknown> {
  const exported = module.exports.filter(({ kind }) => kind === 'function')
  const callExport = (index: number): void => {
    const entry = exported[(index >>> 0) % exported.length]
    if (entry === undefined) return
    const type = module.types[module.functions[entry.index]?.typeIndex ?? -1] as FunctionType
    const args = type.params.map((param) => zeroResult({ params: [], results: [param] }))
    const results = guest().invoke(entry.name, args)
    log(`call-export ${results.map(describeValue).join()}`)
  }
  const callReference = (reference: ((...args: unknown[]) => unknown) | null): void => {
    log(`call-ref ${reference === null}`)
    const result = reference?.(...new Array<number>(reference.length).fill(0))
    log(`call-ref gave ${Array.isArray(result) ? result.map(describeValue).join() : describeValue(result)}`)
  }
  return {
    throw: (which: number) => {
      if (which === 0) throw new Error('thrown by the host')
      return host.throwTagged(tag, which)
    },
    'table-get': (index: number) => withoutRangeError(() => guest().readTable('state.table.0', index >>> 0)),
    'table-set': (index: number, value: unknown) =>
      withoutRangeError(() => guest().writeTable('state.table.0', index >>> 0, value)),
    'call-export': callExport,
    'call-export-catch': (index: number) => caught(() => callExport(index)),
    'call-ref': callReference,
    'call-ref-catch': (reference: (() => unknown) | null) => caught(() => callReference(reference)),
    sleep: (_ms: number, id: number) => id,
  }
}

/** A RangeError means native stack overflow to the tests, so an index out of range is told otherwise. */
function withoutRangeError<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new TypeError('the table refused', { cause })
  }
}

/** 1 if `work` threw an exception; a trap goes on, since nothing may run in an instance after it. */
function caught(work: () => void): number {
  try {
    work()
    return 0
  } catch (thrown) {
    if (thrown instanceof WebAssembly.RuntimeError || thrown instanceof RangeError) throw thrown
    return 1
  }
}
