/**
 * Functions that stand in for bulk instructions: bounds first, then piece by piece, each paid before it is done.
 *
 * 1. What would trap traps before anything is paid or written: the instruction itself is then executed on the
 *    whole range.
 * 2. Between two checks at most one piece is moved.
 * 3. Overlapping ranges are copied from the end that keeps the source intact.
 * 4. A `grow` that cannot succeed is not paid. Nothing grows beyond the limits of the JavaScript API.
 *
 * Everything inside is computed in i64, whatever the index type is: no sum overflows.
 */

import type { CodeContext } from './code-context.ts'
import { CodeWriter } from './code-writer.ts'
import { BULK_PRICES, type BulkInstruction, type Opcode } from './cost.ts'
import type { NewFunction } from './edit.ts'
import { REFILL_GROWTH } from './meter-options.ts'
import type { FunctionType, Module } from './module.ts'
import { OP } from './opcode-table.ts'
import { I32, I64, type ValueType } from './value-type.ts'

/** Where the helpers find the counter and what they call when it fell below zero. */
export interface FuelAccess {
  readonly fuelGlobal: number
  readonly refillFunction: number
  /** `(kind) -> i64`, told of growth that failed; undefined if it is not. */
  readonly growthReport: number | undefined
}

/** Limits of the JavaScript API: no engine lets a memory or a table grow further. */
const MAX_PAGES_32: number = 1 << 16
const MAX_PAGES_64: number = 1 << 18
const MAX_TABLE_ENTRIES = 10_000_000

const I64_SHL = 0x86
const I64_LE_U = 0x58
const I32_AND = 0x71
const I64_EXTEND_I32_S = 0xac
const I32_OR = 0x72
const SELECT = 0x1b
const PAGE_BITS = 16

/** A range that a bulk instruction touches: its first index, and how to find out how far it may go. */
interface Range {
  readonly param: number
  readonly type: ValueType
  readonly size: (code: CodeWriter) => void
}

/** Builds the stand-in for `instruction` with the immediates `first` and `second`. */
export function bulkHelper(
  instruction: BulkInstruction,
  first: number,
  second: number,
  module: Module,
  context: CodeContext,
  fuel: FuelAccess,
): NewFunction {
  const builder = new BulkHelperBuilder(context, fuel, instruction)
  switch (instruction) {
    case 'memory.grow':
      return builder.growMemory(first)
    case 'table.grow':
      return builder.growTable(first)
    case 'memory.fill':
      return builder.pieces([builder.memory(0, first)], I32, builder.memoryType(first), [first])
    case 'table.fill':
      return builder.pieces([builder.table(0, first)], builder.elementType(first), builder.tableType(first), [
        first,
      ])
    case 'memory.copy': {
      const count = smaller(builder.memoryType(first), builder.memoryType(second))
      const ranges = [builder.memory(0, first), builder.memory(1, second)]
      return builder.pieces(ranges, undefined, count, [first, second], first === second)
    }
    case 'table.copy': {
      const count = smaller(builder.tableType(first), builder.tableType(second))
      const ranges = [builder.table(0, first), builder.table(1, second)]
      return builder.pieces(ranges, undefined, count, [first, second], first === second)
    }
    case 'memory.init': {
      const length = module.data[first]?.bytes.length ?? 0
      return builder.pieces([builder.memory(0, second), fixed(1, length)], undefined, I32, [first, second])
    }
    case 'table.init': {
      const items = module.elements[first]?.items
      const length = (items?.kind === 'functions' ? items.indices : items?.expressions)?.length ?? 0
      return builder.pieces([builder.table(0, second), fixed(1, length)], undefined, I32, [first, second])
    }
  }
}

function smaller(a: ValueType, b: ValueType): ValueType {
  return a === I64 && b === I64 ? I64 : I32
}

function fixed(param: number, length: number): Range {
  return { param, type: I32, size: (code) => code.i64(length) }
}

class BulkHelperBuilder {
  readonly #context: CodeContext
  readonly #fuel: FuelAccess
  readonly #instruction: BulkInstruction
  readonly #code: CodeWriter = new CodeWriter()

  constructor(context: CodeContext, fuel: FuelAccess, instruction: BulkInstruction) {
    this.#context = context
    this.#fuel = fuel
    this.#instruction = instruction
  }

  memoryType(memory: number): ValueType {
    return this.#context.memories[memory]?.index64 === true ? I64 : I32
  }

  tableType(table: number): ValueType {
    return this.#context.tables[table]?.limits.index64 === true ? I64 : I32
  }

  elementType(table: number): ValueType {
    return this.#context.tables[table]?.element as ValueType
  }

  memory(param: number, memory: number): Range {
    const type = this.memoryType(memory)
    const size = (code: CodeWriter): void => {
      code.op(OP.memorySize, memory)
      if (type === I32) code.op(OP.i64ExtendI32U)
      code.i64(PAGE_BITS).op(I64_SHL)
    }
    return { param, type, size }
  }

  table(param: number, table: number): Range {
    const type = this.tableType(table)
    const size = (code: CodeWriter): void => {
      code.op(OP.tableSize, table)
      if (type === I32) code.op(OP.i64ExtendI32U)
    }
    return { param, type, size }
  }

  /**
   * A stand-in for an instruction with three operands: the ranges it touches, between them or instead of the
   * second the value it fills with, and the count.
   */
  pieces(
    ranges: readonly Range[],
    value: ValueType | undefined,
    countType: ValueType,
    immediates: readonly number[],
    mayOverlap = false,
  ): NewFunction {
    const code = this.#code
    const middle = value ?? (ranges[1]?.type as ValueType)
    const params = [ranges[0]?.type as ValueType, middle, countType]
    const [count, left, piece, offset, backward] = [3, 4, 5, 6, 7]
    pushIndex(code, 2, countType)
    code.op(OP.localTee, count).op(OP.localSet, left)
    this.#boundsCheck(ranges, count, immediates)
    if (mayOverlap) {
      pushIndex(code, 0, params[0] as ValueType)
      pushIndex(code, 1, middle)
      code.op(OP.i64GtU).op(OP.localSet, backward)
    }
    // At least one round: an empty range can trap too, for example on a segment that was dropped.
    code.open(OP.loop)
    this.#choosePiece(left, piece)
    this.#chargeUnits(piece)
    this.#chooseOffset(count, left, piece, offset, backward, mayOverlap)
    for (const [param, type] of params.entries()) {
      if (param === 2) this.#pushLocal(piece, type)
      else if (param === 1 && value !== undefined) code.op(OP.localGet, param)
      else this.#pushMoved(param, type, offset)
    }
    code.op(BULK_PRICES[this.#instruction].opcode, ...immediates)
    code.op(OP.localGet, left).op(OP.localGet, piece).op(OP.i64Sub).op(OP.localTee, left)
    code.i64(0).op(OP.i64GtU).op(OP.brIf, 0).op(OP.end).op(OP.end)
    return { type: { params, results: [] }, locals: [I64, I64, I64, I64, I32], code: code.out.copy() }
  }

  /** Executes the instruction as it is if any range ends out of bounds: that traps. */
  #boundsCheck(ranges: readonly Range[], count: number, immediates: readonly number[]): void {
    const code = this.#code
    for (const [index, range] of ranges.entries()) {
      // count > size, or start > size - count
      code.op(OP.localGet, count)
      range.size(code)
      code.op(OP.i64GtU)
      pushIndex(code, range.param, range.type)
      range.size(code)
      code.op(OP.localGet, count).op(OP.i64Sub).op(OP.i64GtU).op(I32_OR)
      if (index > 0) code.op(I32_OR)
    }
    code.if()
    for (const param of [0, 1, 2]) code.op(OP.localGet, param)
    code
      .op(BULK_PRICES[this.#instruction].opcode, ...immediates)
      .op(OP.unreachable)
      .op(OP.end)
  }

  #choosePiece(left: number, piece: number): void {
    const limit = BULK_PRICES[this.#instruction].pieceUnits
    const code = this.#code
    code.op(OP.localGet, left).i64(limit)
    code.op(OP.localGet, left).i64(limit).op(OP.i64LtU).op(SELECT).op(OP.localSet, piece)
  }

  #chooseOffset(
    count: number,
    left: number,
    piece: number,
    offset: number,
    backward: number,
    mayOverlap: boolean,
  ): void {
    const code = this.#code
    if (mayOverlap) code.op(OP.localGet, left).op(OP.localGet, piece).op(OP.i64Sub)
    code.op(OP.localGet, count).op(OP.localGet, left).op(OP.i64Sub)
    if (mayOverlap) code.op(OP.localGet, backward).op(SELECT)
    code.op(OP.localSet, offset)
  }

  #pushLocal(local: number, type: ValueType): void {
    this.#code.op(OP.localGet, local)
    if (type === I32) this.#code.op(OP.i32WrapI64)
  }

  #pushMoved(param: number, type: ValueType, offset: number): void {
    pushIndex(this.#code, param, type)
    this.#code.op(OP.localGet, offset).op(OP.i64Add)
    if (type === I32) this.#code.op(OP.i32WrapI64)
  }

  /** Charges the i64 local `units` at the price by size, then checks. */
  #chargeUnits(units: number): void {
    const { fuelGlobal, refillFunction } = this.#fuel
    const code = this.#code
    code.op(OP.globalGet, fuelGlobal)
    code.op(OP.localGet, units).i64(BULK_PRICES[this.#instruction].fuelPerUnit).op(OP.i64Mul)
    code.op(OP.i64Sub).op(OP.globalSet, fuelGlobal)
    code.op(OP.globalGet, fuelGlobal).i64(0).op(OP.i64LtS).if().op(OP.call, refillFunction).op(OP.end)
  }

  growMemory(memory: number): NewFunction {
    const limits = this.#context.memories[memory]
    const type = this.memoryType(memory)
    const limit = Math.min(
      limits?.max ?? Number.POSITIVE_INFINITY,
      type === I64 ? MAX_PAGES_64 : MAX_PAGES_32,
    )
    return this.#grow({ params: [type], results: [type] }, limit, OP.memorySize, memory)
  }

  growTable(table: number): NewFunction {
    const type = this.tableType(table)
    const max = this.#context.tables[table]?.limits.max ?? Number.POSITIVE_INFINITY
    const signature = { params: [this.elementType(table), type], results: [type] }
    return this.#grow(signature, Math.min(max, MAX_TABLE_ENTRIES), OP.tableSize, table)
  }

  /** Tells the host when the size that is on the stack is -1; it stays there. `local` is an i64. */
  #reportFailure(local: number, type: ValueType): void {
    const { growthReport } = this.#fuel
    if (growthReport === undefined) return
    const code = this.#code
    if (type === I32) code.op(I64_EXTEND_I32_S)
    code.op(OP.localTee, local).i64(0).op(OP.i64LtS).if()
    code.i32(REFILL_GROWTH).op(OP.call, growthReport).op(OP.drop).op(OP.end)
    this.#pushLocal(local, type)
  }

  #grow(type: FunctionType, limit: number, sizeOpcode: Opcode, index: number): NewFunction {
    const code = this.#code
    const param = type.params.length - 1
    const indexType = type.params[param] as ValueType
    const units = type.params.length
    pushIndex(code, param, indexType)
    code.op(OP.localTee, units).i64(limit).op(I64_LE_U)
    code.op(OP.localGet, units).op(sizeOpcode, index)
    if (indexType === I32) code.op(OP.i64ExtendI32U)
    code.op(OP.i64Add).i64(limit).op(I64_LE_U).op(I32_AND).if()
    this.#chargeUnits(units)
    code.op(OP.end)
    for (let operand = 0; operand <= param; operand++) code.op(OP.localGet, operand)
    code.op(BULK_PRICES[this.#instruction].opcode, index)
    this.#reportFailure(units, indexType)
    code.op(OP.end)
    return { type, locals: [I64], code: code.out.copy() }
  }
}

/** Pushes a parameter as i64. */
function pushIndex(code: CodeWriter, param: number, type: ValueType): void {
  code.op(OP.localGet, param)
  if (type === I32) code.op(OP.i64ExtendI32U)
}
