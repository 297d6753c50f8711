/** Constant expressions: initial values of globals, offsets of segments, entries of tables. */
import { ByteReader } from './byte-reader.ts'
import { ByteWriter } from './byte-writer.ts'
import { opcodeError, readOpcode } from './decode-body.ts'
import type { ConstantExpression } from './module.ts'
import { invalidModule } from './module-error.ts'
import { OP } from './opcode-table.ts'
import { readHeapType } from './value-type.ts'

/** Bounds for the indices in a constant expression. */
export interface ConstantContext {
  readonly types: number
  readonly functions: number
  readonly globals: number
}

/** What a walk over a constant expression reports. */
export interface ConstantVisitor {
  refFunc?(functionIndex: number, start: number, end: number): void
  globalGet?(globalIndex: number, start: number, end: number): void
  opcode?(opcode: number): void
}

const UNBOUNDED: ConstantContext = { types: 2 ** 32, functions: 2 ** 32, globals: 2 ** 32 }

/**
 * Reads one constant expression up to and including its `end`.
 *
 * @returns a view of its bytes.
 */
export function readConstantExpression(
  reader: ByteReader,
  context: ConstantContext,
  visitor: ConstantVisitor = {},
): ConstantExpression {
  const begin = reader.position
  for (;;) {
    const offset = reader.offset
    const start = reader.position
    const opcode = readOpcode(reader)
    switch (opcode) {
      case OP.end:
        return reader.bytes.subarray(begin, reader.position)
      case OP.i32Const:
        reader.s32()
        break
      case OP.i64Const:
        reader.skipS64()
        break
      case OP.f32Const:
        reader.skip(4)
        break
      case OP.f64Const:
        reader.skip(8)
        break
      case OP.v128Const:
        reader.skip(16)
        break
      case OP.globalGet: {
        const index = reader.u32()
        if (index >= context.globals) throw invalidModule('A constant names an unknown global', offset)
        visitor.globalGet?.(index, start - begin, reader.position - begin)
        break
      }
      case OP.refNull:
        readHeapType(reader, context.types)
        break
      case OP.refFunc: {
        const index = reader.u32()
        if (index >= context.functions) throw invalidModule(`There is no function ${index}`, offset)
        visitor.refFunc?.(index, start - begin, reader.position - begin)
        break
      }
      case 0x6a: // i32.add, sub, mul
      case 0x6b:
      case 0x6c:
      case 0x7c: // i64.add, sub, mul
      case 0x7d:
      case 0x7e:
        break
      default:
        if (opcode < 0xfb000) throw invalidModule('An instruction that is not constant', offset)
        throw opcodeError(opcode, offset)
    }
    visitor.opcode?.(opcode)
  }
}

/** Calls `visit` with every function that the expression refers to. */
export function visitFunctionReferences(
  expression: ConstantExpression,
  visit: (functionIndex: number) => void,
): void {
  readConstantExpression(new ByteReader(expression), UNBOUNDED, { refFunc: visit })
}

/** The expression with every function index replaced by what `map` makes of it. */
export function mapFunctionReferences(
  expression: ConstantExpression,
  map: (functionIndex: number) => number,
): ConstantExpression {
  const writer = new ByteWriter(expression.length + 8)
  let copied = 0
  readConstantExpression(new ByteReader(expression), UNBOUNDED, {
    refFunc(index, start, end) {
      writer.raw(expression.subarray(copied, start))
      writer.byte(OP.refFunc)
      writer.u32(map(index))
      copied = end
    },
  })
  writer.raw(expression.subarray(copied))
  return writer.copy()
}

/** The expression with every global index replaced by what `map` makes of it. */
export function mapGlobalReferences(
  expression: ConstantExpression,
  map: (globalIndex: number) => number,
): ConstantExpression {
  const writer = new ByteWriter(expression.length + 8)
  let copied = 0
  readConstantExpression(new ByteReader(expression), UNBOUNDED, {
    globalGet(index, start, end) {
      writer.raw(expression.subarray(copied, start))
      writer.byte(OP.globalGet)
      writer.u32(map(index))
      copied = end
    },
  })
  writer.raw(expression.subarray(copied))
  return writer.copy()
}

/** `i32.const value; end` */
export function i32Constant(value: number): ConstantExpression {
  const writer = new ByteWriter(8)
  writer.byte(OP.i32Const)
  writer.signed(value)
  writer.byte(OP.end)
  return writer.copy()
}

/** The value of an expression that is one `i32.const`, undefined for any other. */
export function i32Value(expression: ConstantExpression): number | undefined {
  const reader = new ByteReader(expression)
  if (reader.byte() !== OP.i32Const) return undefined
  const value = reader.s32()
  return reader.byte() === OP.end && reader.done ? value : undefined
}
