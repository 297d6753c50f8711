/**
 * One decoded instruction, and the decoder for instruction sequences.
 *
 * Opcodes are one number: the byte itself, or for prefixed ones `prefix << 12 | sub-opcode`
 * (0xfc00a is memory.copy). The shape of every immediate is listed in one place, `readImmediates`; an opcode
 * that is not listed is refused, so that the oracle never skips over what it does not know.
 */
import { type ByteReader, OracleError } from './byte-reader.ts'

/** Value types of the features that the oracle reads (no typed function references, no GC). */
export type ValueType = 'i32' | 'i64' | 'f32' | 'f64' | 'v128' | 'funcref' | 'externref' | 'exnref'

const VALUE_TYPES = new Map<number, ValueType>([
  [0x7f, 'i32'],
  [0x7e, 'i64'],
  [0x7d, 'f32'],
  [0x7c, 'f64'],
  [0x7b, 'v128'],
  [0x70, 'funcref'],
  [0x6f, 'externref'],
  [0x69, 'exnref'],
])

/** Reads a value type. */
export function readValueType(reader: ByteReader): ValueType {
  const byte = reader.u8()
  const type = VALUE_TYPES.get(byte)
  if (type === undefined) throw new OracleError(`unknown value type 0x${byte.toString(16)}`)
  return type
}

/** What a block takes and gives: nothing, one result, or a function type by index. */
export type BlockType = { readonly result: ValueType | undefined } | { readonly typeIndex: number }

/** One clause of a `try_table`. */
export interface CatchClause {
  readonly kind: 'catch' | 'catch_ref' | 'catch_all' | 'catch_all_ref'
  readonly tag: number
  readonly label: number
}

const CATCH_KINDS = ['catch', 'catch_ref', 'catch_all', 'catch_all_ref'] as const

/** A decoded instruction; which fields are meaningful follows from the opcode. */
export interface Instruction {
  readonly opcode: number
  /** Offset of its first byte in the module. */
  readonly start: number
  /** Offset behind its last byte. */
  end: number
  /** Indices in the order of the binary format: function, type, table, local, label, lane ... */
  indices: readonly number[]
  /** The static offset of a memory access, in bytes. */
  offset: number
  /** A constant: number for i32, f32, f64; bigint for i64; bytes for v128. */
  constant: number | bigint | Uint8Array
  block: BlockType | undefined
  catches: readonly CatchClause[]
}

/** Opcodes that the oracle treats by name; all others are plain stack instructions. */
export const OP = {
  unreachable: 0x00,
  nop: 0x01,
  block: 0x02,
  loop: 0x03,
  if: 0x04,
  else: 0x05,
  try: 0x06,
  catch: 0x07,
  throw: 0x08,
  rethrow: 0x09,
  throw_ref: 0x0a,
  end: 0x0b,
  br: 0x0c,
  br_if: 0x0d,
  br_table: 0x0e,
  return: 0x0f,
  call: 0x10,
  call_indirect: 0x11,
  return_call: 0x12,
  return_call_indirect: 0x13,
  delegate: 0x18,
  catch_all: 0x19,
  drop: 0x1a,
  select: 0x1b,
  select_typed: 0x1c,
  try_table: 0x1f,
  local_get: 0x20,
  local_set: 0x21,
  local_tee: 0x22,
  global_get: 0x23,
  global_set: 0x24,
  table_get: 0x25,
  table_set: 0x26,
  memory_size: 0x3f,
  memory_grow: 0x40,
  i32_const: 0x41,
  i64_const: 0x42,
  f32_const: 0x43,
  f64_const: 0x44,
  ref_null: 0xd0,
  ref_is_null: 0xd1,
  ref_func: 0xd2,
  memory_init: 0xfc008,
  data_drop: 0xfc009,
  memory_copy: 0xfc00a,
  memory_fill: 0xfc00b,
  table_init: 0xfc00c,
  elem_drop: 0xfc00d,
  table_copy: 0xfc00e,
  table_grow: 0xfc00f,
  table_size: 0xfc010,
  table_fill: 0xfc011,
  v128_const: 0xfd00c,
  i8x16_shuffle: 0xfd00d,
} as const

/** Whether a SIMD sub-opcode is a whole-vector or splat or zero-extending memory access. */
export function isVectorMemoryAccess(sub: number): boolean {
  return sub <= 11 || sub === 92 || sub === 93
}

/** Whether a SIMD sub-opcode accesses memory for one lane. */
export function isVectorLaneAccess(sub: number): boolean {
  return sub >= 84 && sub <= 91
}

function isVectorLane(sub: number): boolean {
  return sub >= 21 && sub <= 34
}

function readBlockType(reader: ByteReader): BlockType {
  const before = reader.at
  const index = reader.smallSigned()
  if (index >= 0) return { typeIndex: index }
  if (index === -0x40) return { result: undefined }
  reader.at = before
  return { result: readValueType(reader) }
}

function readMemoryArgument(instruction: Instruction, reader: ByteReader): void {
  const alignment = reader.u32()
  if (alignment >= 64) throw new OracleError('multi-memory is not read by the oracle')
  instruction.offset = reader.u32()
}

function readCatchClause(reader: ByteReader): CatchClause {
  const kind = CATCH_KINDS[reader.u8()]
  if (kind === undefined) throw new OracleError('unknown catch clause')
  const tag = kind === 'catch' || kind === 'catch_ref' ? reader.u32() : -1
  return { kind, tag, label: reader.u32() }
}

function readConstant(opcode: number, reader: ByteReader): number | bigint | Uint8Array {
  if (opcode === OP.i32_const) return reader.smallSigned() | 0
  if (opcode === OP.i64_const) return BigInt.asIntN(64, reader.signed())
  const width = opcode === OP.f32_const ? 4 : opcode === OP.f64_const ? 8 : 16
  const bytes = reader.take(width)
  if (width === 16) return bytes
  const view = new DataView(bytes.buffer, bytes.byteOffset, width)
  return width === 4 ? view.getFloat32(0, true) : view.getFloat64(0, true)
}

function readVectorImmediates(instruction: Instruction, reader: ByteReader): void {
  const sub = instruction.opcode & 0xfff
  if (isVectorMemoryAccess(sub)) readMemoryArgument(instruction, reader)
  else if (isVectorLaneAccess(sub)) {
    readMemoryArgument(instruction, reader)
    instruction.indices = [reader.u8()]
  } else if (instruction.opcode === OP.v128_const) instruction.constant = readConstant(OP.v128_const, reader)
  else if (instruction.opcode === OP.i8x16_shuffle) instruction.constant = reader.take(16)
  else if (isVectorLane(sub)) instruction.indices = [reader.u8()]
  else if (sub > 0xff) throw new OracleError(`relaxed SIMD opcode ${sub} is not read by the oracle`)
}

/** How many plain indices follow each opcode that has only indices. */
const INDEX_COUNT = new Map<number, number>([
  ...[OP.throw, OP.rethrow, OP.catch, OP.delegate, OP.br, OP.br_if, OP.call, OP.return_call].map(one),
  ...[OP.local_get, OP.local_set, OP.local_tee, OP.global_get, OP.global_set].map(one),
  ...[OP.table_get, OP.table_set, OP.memory_size, OP.memory_grow, OP.ref_func].map(one),
  ...[OP.data_drop, OP.elem_drop, OP.memory_fill, OP.table_grow, OP.table_size, OP.table_fill].map(one),
  ...[OP.call_indirect, OP.return_call_indirect, OP.memory_init, OP.memory_copy].map(two),
  ...[OP.table_init, OP.table_copy].map(two),
])

function one(opcode: number): [number, number] {
  return [opcode, 1]
}

function two(opcode: number): [number, number] {
  return [opcode, 2]
}

const WITHOUT_IMMEDIATES = new Set<number>([
  ...[OP.unreachable, OP.nop, OP.else, OP.end, OP.return, OP.catch_all, OP.throw_ref, OP.drop, OP.select],
  OP.ref_is_null,
])

function isNumeric(opcode: number): boolean {
  return (opcode >= 0x45 && opcode <= 0xc4) || (opcode >= 0xfc000 && opcode <= 0xfc007)
}

function readImmediates(instruction: Instruction, reader: ByteReader): void {
  const { opcode } = instruction
  if (isNumeric(opcode) || WITHOUT_IMMEDIATES.has(opcode)) return
  const count = INDEX_COUNT.get(opcode)
  if (count !== undefined) instruction.indices = Array.from({ length: count }, () => reader.u32())
  else if (opcode >= 0x28 && opcode <= 0x3e) readMemoryArgument(instruction, reader)
  else if (opcode >= OP.i32_const && opcode <= OP.f64_const)
    instruction.constant = readConstant(opcode, reader)
  else if (opcode >> 12 === 0xfd) readVectorImmediates(instruction, reader)
  else if (opcode >= OP.block && opcode <= OP.try && opcode !== OP.else)
    instruction.block = readBlockType(reader)
  else if (opcode === OP.try_table) {
    instruction.block = readBlockType(reader)
    instruction.catches = reader.list(() => readCatchClause(reader))
  } else if (opcode === OP.br_table) {
    const targets = reader.list(() => reader.u32())
    instruction.indices = [...targets, reader.u32()]
  } else if (opcode === OP.select_typed) reader.list(() => readValueType(reader))
  else if (opcode === OP.ref_null) reader.u8()
  else throw new OracleError(`unknown opcode 0x${opcode.toString(16)} at ${instruction.start}`)
}

/** Reads one instruction. */
function readInstruction(reader: ByteReader): Instruction {
  const start = reader.at
  const byte = reader.u8()
  const opcode = byte === 0xfc || byte === 0xfd ? (byte << 12) | reader.u32() : byte
  const instruction: Instruction = {
    opcode,
    start,
    end: start,
    indices: [],
    offset: 0,
    constant: 0,
    block: undefined,
    catches: [],
  }
  readImmediates(instruction, reader)
  instruction.end = reader.at
  return instruction
}

/** Reads a constant expression up to and with its `end`. */
export function readExpression(reader: ByteReader): Instruction[] {
  const code: Instruction[] = []
  for (;;) {
    const instruction = readInstruction(reader)
    if (instruction.opcode === OP.end) return code
    code.push(instruction)
  }
}

/** Reads instructions up to the byte offset `end`. */
export function readInstructions(reader: ByteReader, end: number): Instruction[] {
  const code: Instruction[] = []
  while (reader.at < end) code.push(readInstruction(reader))
  return code
}
