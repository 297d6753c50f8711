/**
 * A plain interpreter for core WebAssembly: the strongest oracle of the metering tests.
 *
 * It executes one instruction after the other and tells an observer about each, so a count taken here owes
 * nothing to blocks, flow graphs or placements. It is also a second opinion on behaviour, and the only way to run
 * exception references on engines that lack them.
 *
 * Not supported: relaxed SIMD, threads, GC, multiple memories, imported memories and tables.
 */
import { type FunctionInstance, PAGE_BYTES, type TableInstance, TagInstance, type Value } from './entities.ts'
import { Frame } from './frame.ts'
import type { ExecutionObserver, InstanceState } from './instance-state.ts'
import { type Instruction, OP } from './instruction.ts'
import { initMemory } from './memory-instructions.ts'
import type { FunctionEntry, FunctionType, ImportName, WasmModule } from './module-reader.ts'
import { readModule } from './module-reader.ts'
import { copyElements } from './table-instructions.ts'

/** Imports by module and name: functions, values of immutable globals, `TagInstance`s. */
export type HostImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Upper bounds that stand above what the module declares. */
export interface InterpreterLimits {
  readonly maxMemoryPages?: number
  readonly maxTableEntries?: number
}

const SILENT: ExecutionObserver = { executed: () => undefined, worked: () => undefined }

/** One instance. */
export class Interpreter {
  readonly #state: InstanceState
  readonly #wrappers = new WeakMap<FunctionInstance, (...args: unknown[]) => unknown>()
  readonly #wrapped = new WeakMap<object, FunctionInstance>()

  /** Instantiates; the start function and active segments run here, so this may trap. */
  constructor(
    wasm: Uint8Array,
    imports: HostImports,
    observer: ExecutionObserver = SILENT,
    limits: InterpreterLimits = {},
  ) {
    const module = readModule(wasm)
    const memory = module.memories[0]
    this.#state = {
      module,
      observer,
      functions: module.functions.map((entry) => this.#createFunction(entry, module, imports)),
      tables: module.tables.map(({ minimum, maximum }) => ({
        elements: new Array<Value>(minimum).fill(null),
        maximum: Math.min(maximum ?? 10_000_000, limits.maxTableEntries ?? 10_000_000),
      })),
      memory: {
        bytes: new Uint8Array((memory?.minimum ?? 0) * PAGE_BYTES),
        maximumPages: Math.min(memory?.maximum ?? 65_536, limits.maxMemoryPages ?? 65_536),
      },
      globals: [],
      tags: module.tags.map(({ imported }, i) => {
        return imported ? (lookUp(imports, imported) as TagInstance) : new TagInstance(`tag ${i}`)
      }),
      elements: [],
      data: module.data.map((segment) => segment.bytes),
      call: (callee, args) => this.#call(callee, args),
    }
    for (const entry of module.globals) {
      const value = entry.imported ? lookUp(imports, entry.imported) : this.#evaluate(entry.init)
      this.#state.globals.push({ value })
    }
    this.#placeSegments(module)
    if (module.start !== undefined) this.#call(this.#state.functions[module.start] as FunctionInstance, [])
  }

  /** Calls an exported function; results as a list. */
  invoke(name: string, args: readonly unknown[]): readonly unknown[] {
    const callee = this.#state.functions[this.#exportIndex('function', name)] as FunctionInstance
    refuseVectors(callee.type)
    const values = callee.type.params.map((type, i) => this.#toWasm(type, args[i]))
    return this.#call(callee, values).map((value) => this.#toHost(value))
  }

  /** Reads an exported global. */
  readGlobal(name: string): unknown {
    return this.#state.globals[this.#exportIndex('global', name)]?.value
  }

  /** Writes an exported global. */
  writeGlobal(name: string, value: unknown): void {
    const cell = this.#state.globals[this.#exportIndex('global', name)]
    if (cell !== undefined) cell.value = value
  }

  /** The first memory's bytes now. */
  get memoryBytes(): Uint8Array {
    return this.#state.memory.bytes
  }

  /** Element of an exported table, as the host sees it. */
  readTable(name: string, index: number): unknown {
    const elements = this.#state.tables[this.#exportIndex('table', name)]?.elements ?? []
    if (index >= elements.length) throw new RangeError('table index')
    return this.#toHost(elements[index])
  }

  /** Sets an element of an exported table to a reference the host was given before. */
  writeTable(name: string, index: number, value: unknown): void {
    const elements = this.#state.tables[this.#exportIndex('table', name)]?.elements ?? []
    if (index >= elements.length) throw new RangeError('table index')
    elements[index] = this.#toWasm('funcref', value)
  }

  /** The module as the oracle reads it. */
  get module(): WasmModule {
    return this.#state.module
  }

  #exportIndex(kind: string, name: string): number {
    const found = this.#state.module.exports.find((entry) => entry.name === name && entry.kind === kind)
    if (found === undefined) throw new Error(`no exported ${kind} ${name}`)
    return found.index
  }

  #createFunction(entry: FunctionEntry, module: WasmModule, imports: HostImports): FunctionInstance {
    const type = module.types[entry.typeIndex] as FunctionType
    const host = entry.imported ? lookUp(imports, entry.imported) : undefined
    return { type, body: entry.body, host: host as FunctionInstance['host'] }
  }

  #placeSegments(module: WasmModule): void {
    const { tables, memory, elements, data } = this.#state
    for (const { mode, items } of module.elements) {
      const values = items.map((item) => this.#evaluate(item))
      elements.push(mode.kind === 'passive' ? values : [])
      if (mode.kind !== 'active') continue
      const at = (this.#evaluate(mode.offset) as number) >>> 0
      copyElements(tables[mode.index] as TableInstance, values, at, 0, values.length)
    }
    module.data.forEach(({ mode, bytes }, i) => {
      if (mode.kind !== 'active') return
      const at = (this.#evaluate(mode.offset) as number) >>> 0
      initMemory(memory, bytes, at, 0, bytes.length)
      data[i] = new Uint8Array(0)
    })
  }

  /** A constant expression: constants, references and globals, without arithmetic. */
  #evaluate(code: readonly Instruction[]): Value {
    const instruction = code[0]
    if (instruction === undefined || code.length !== 1) throw new Error('constant expression not supported')
    const { opcode, indices, constant } = instruction
    if (opcode === OP.ref_null) return null
    if (opcode === OP.ref_func) return this.#state.functions[indices[0] as number]
    if (opcode === OP.global_get) return this.#state.globals[indices[0] as number]?.value
    return constant
  }

  #call(callee: FunctionInstance, args: readonly Value[]): readonly Value[] {
    let next = { callee, args }
    for (;;) {
      const { type, body } = next.callee
      if (body === undefined) return this.#callHost(next.callee, next.args)
      const end = new Frame(this.#state, type, body, next.args).run()
      if (end.kind === 'returned') return end.results
      next = end
    }
  }

  #callHost(callee: FunctionInstance, args: readonly Value[]): readonly Value[] {
    refuseVectors(callee.type)
    const result = callee.host?.(...args.map((value) => this.#toHost(value)))
    const { results } = callee.type
    const values = results.length === 1 ? [result] : results.length === 0 ? [] : [...(result as unknown[])]
    return results.map((type, i) => this.#toWasm(type, values[i]))
  }

  #toHost(value: Value): unknown {
    if (!isFunctionInstance(value)) return value
    let wrapper = this.#wrappers.get(value)
    if (wrapper === undefined) {
      wrapper = (...args: unknown[]) => {
        refuseVectors(value.type)
        const results = this.#call(
          value,
          value.type.params.map((type, i) => this.#toWasm(type, args[i])),
        )
        return results.length > 1 ? results.map((item) => this.#toHost(item)) : this.#toHost(results[0])
      }
      Object.defineProperty(wrapper, 'length', { value: value.type.params.length })
      this.#wrappers.set(value, wrapper)
      this.#wrapped.set(wrapper, value)
    }
    return wrapper
  }

  #toWasm(type: FunctionType['params'][number], value: unknown): Value {
    if (type === 'i32') return Number(value) | 0
    if (type === 'i64') return BigInt.asIntN(64, value as bigint)
    if (type === 'f32') return Math.fround(Number(value))
    if (type === 'f64') return Number(value)
    return type === 'funcref' ? this.#toFunctionReference(value) : value
  }

  #toFunctionReference(value: unknown): FunctionInstance | null {
    if (value === null) return null
    const found = typeof value === 'function' ? this.#wrapped.get(value) : undefined
    if (found === undefined) throw new TypeError('not a function of this instance')
    return found
  }
}

function isFunctionInstance(value: Value): value is FunctionInstance {
  return typeof value === 'object' && value !== null && 'type' in value && 'host' in value
}

/** Vectors cannot cross between WebAssembly and JavaScript: such a call throws a TypeError. */
function refuseVectors({ params, results }: FunctionType): void {
  const uncrossable = [...params, ...results].some((type) => type === 'v128' || type === 'exnref')
  if (uncrossable) throw new TypeError('type incompatibility when transforming from/to JS')
}

function lookUp(imports: HostImports, { module, name }: ImportName): unknown {
  const found = imports[module]?.[name]
  if (found === undefined) throw new Error(`no import ${module}.${name}`)
  return found
}
