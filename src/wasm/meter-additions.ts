/**
 * What a metered module has beyond the original: the import, two globals with their exports, and functions behind
 * all others. Additions get their indices on first use, in the order of use.
 */
import { bulkHelper } from './bulk-helper.ts'
import { ByteWriter } from './byte-writer.ts'
import type { CodeContext } from './code-context.ts'
import { CodeWriter } from './code-writer.ts'
import { BULK_BY_OPCODE } from './cost.ts'
import type { DecodedBody } from './decoded-body.ts'
import { addExport, addFunction, addGlobal, addGlobalImports, addType, type NewFunction } from './edit.ts'
import { mapFunctions } from './map-functions.ts'
import {
  DEPTH_EXPORT,
  DEPTH_IMPORT,
  FUEL_EXPORT,
  FUEL_IMPORT,
  INITIAL_DEPTH,
  INITIAL_FUEL,
  METER_NAMESPACE,
  REFILL_DEPTH,
  REFILL_FUEL,
  REFILL_IMPORT,
} from './meter-options.ts'
import type { MeterRuntime } from './meter-runtime.ts'
import {
  type FunctionBody,
  type FunctionType,
  type GlobalType,
  type Import,
  indexSpaces,
  type Module,
} from './module.ts'
import { OP } from './opcode-table.ts'
import { ResultBlocks } from './result-block.ts'
import { I32, I64 } from './value-type.ts'

const REFILL_TYPE: FunctionType = { params: [I32], results: [I64] }
const FUEL_TYPE: GlobalType = { value: I64, mutable: true }
const DEPTH_TYPE: GlobalType = { value: I32, mutable: true }

/**
 * The module with the counters as its last imported globals: they stand there before it is metered, because the
 * globals that it defines move.
 */
export function importCounters(module: Module): Module {
  return addGlobalImports(module, METER_NAMESPACE, [
    { name: FUEL_IMPORT, type: FUEL_TYPE },
    { name: DEPTH_IMPORT, type: DEPTH_TYPE },
  ]).module
}

/** How counters and additions are made. */
export interface AdditionOptions {
  /** Whether the counters are the last two imported globals already. */
  readonly shared: boolean
  readonly reportsGrowth: boolean
}

/** Collects additions while bodies are rewritten. */
export class MeterAdditions {
  readonly #context: CodeContext
  readonly #original: Module
  /** Index of the imported `refill`, right behind the imports that were there. */
  readonly #refillImport: number
  readonly #firstAdded: number
  readonly #options: AdditionOptions
  readonly #functions: NewFunction[] = []
  readonly #bulk = new Map<string, number>()
  /** For wrappers around bodies. */
  readonly resultBlocks: ResultBlocks
  readonly runtime: MeterRuntime

  constructor(module: Module, context: CodeContext, options: AdditionOptions) {
    this.#options = options
    this.#context = context
    this.#original = module
    this.resultBlocks = new ResultBlocks(module)
    this.#refillImport = context.importedFunctions
    this.#firstAdded = context.functions.length + 1
    const fuelGlobal = options.shared ? indexSpaces(module).importedGlobals - 2 : context.globals
    const refillFunction = this.#add(this.#refill(fuelGlobal))
    this.runtime = {
      fuelGlobal,
      depthGlobal: fuelGlobal + 1,
      refillFunction,
      refillCachedFunction: this.#add(refillCached(fuelGlobal, refillFunction)),
      deepFunction: this.#add(this.#deep()),
      growthReport: options.reportsGrowth ? this.#refillImport : undefined,
    }
  }

  #add(added: NewFunction): number {
    this.#functions.push(added)
    return this.#firstAdded + this.#functions.length - 1
  }

  /** New index of a function of the original. */
  mapFunction(index: number): number {
    return index < this.#refillImport ? index : index + 1
  }

  /** The stand-in for the instruction at this place; undefined if it is no bulk instruction. */
  bulkFunction(body: DecodedBody, at: number): number | undefined {
    const instruction = BULK_BY_OPCODE.get(body.opcodes.at(at))
    if (instruction === undefined) return undefined
    const first = body.first.at(at)
    const second = body.second.at(at)
    const key = `${instruction} ${first} ${second}`
    const known = this.#bulk.get(key)
    if (known !== undefined) return known
    const added = this.#add(
      bulkHelper(instruction, first, second, this.#original, this.#context, this.runtime),
    )
    this.#bulk.set(key, added)
    return added
  }

  /** The whole metered module, given the rewritten bodies. */
  finish(bodies: readonly FunctionBody[]): Module {
    const typed = { ...this.#original, types: this.resultBlocks.types }
    const type = addType(typed, REFILL_TYPE)
    const refill: Import = {
      module: METER_NAMESPACE,
      name: REFILL_IMPORT,
      desc: { kind: 'function', type: type.index },
    }
    // The bodies were renumbered when they were rewritten: here only what stands outside of code.
    const moved = mapFunctions({ ...type.module, functions: [], bodies: [] }, (index) =>
      this.mapFunction(index),
    )
    let module: Module = {
      ...moved,
      imports: [...moved.imports, refill],
      functions: this.#original.functions,
      bodies,
    }
    for (const added of this.#functions) module = addFunction(module, added).module
    const { fuelGlobal, depthGlobal } = this.runtime
    if (!this.#options.shared) {
      module = addGlobal(module, { type: FUEL_TYPE, init: constantI64(INITIAL_FUEL) }).module
      const init = new CodeWriter().i32(INITIAL_DEPTH).op(OP.end).out.copy()
      module = addGlobal(module, { type: DEPTH_TYPE, init }).module
    }
    module = addExport(module, { name: FUEL_EXPORT, kind: 'global', index: fuelGlobal })
    return addExport(module, { name: DEPTH_EXPORT, kind: 'global', index: depthGlobal })
  }

  /** `() -> ()`: asks for more fuel; a negative answer traps here. */
  #refill(fuelGlobal: number): NewFunction {
    const code = new CodeWriter()
    code.i32(REFILL_FUEL).op(OP.call, this.#refillImport).op(OP.localTee, 0)
    code.i64(0).op(OP.i64LtS).if().op(OP.unreachable).op(OP.end)
    code.op(OP.localGet, 0).op(OP.globalSet, fuelGlobal).op(OP.end)
    return { type: { params: [], results: [] }, locals: [I64], code: code.out.copy() }
  }

  /** `() -> ()`: asks for leave to go deeper; a negative answer traps here. */
  #deep(): NewFunction {
    const code = new CodeWriter()
    code.i32(REFILL_DEPTH).op(OP.call, this.#refillImport)
    code.i64(0).op(OP.i64LtS).if().op(OP.unreachable).op(OP.end).op(OP.end)
    return { type: { params: [], results: [] }, code: code.out.copy() }
  }
}

/** `(counter) -> counter`: stores the counter, asks for more fuel, loads it. */
function refillCached(fuelGlobal: number, refillFunction: number): NewFunction {
  const code = new CodeWriter()
  code.op(OP.localGet, 0).op(OP.globalSet, fuelGlobal).op(OP.call, refillFunction)
  code.op(OP.globalGet, fuelGlobal).op(OP.end)
  return { type: { params: [I64], results: [I64] }, code: code.out.copy() }
}

function constantI64(value: bigint): Uint8Array {
  const code = new CodeWriter(new ByteWriter(16)).i64(Number(value))
  return code.op(OP.end).out.copy()
}
