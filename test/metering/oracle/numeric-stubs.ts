/**
 * Scalar numeric instructions, each as one function of a generated module.
 *
 * The oracle counts instructions; it has no opinion of its own on what `f32.nearest` gives. So every numeric
 * instruction is a stub (operands in, one instruction, result out) that the engine below runs. What must be
 * right here is only the signature table.
 */
import type { ValueType } from './instruction.ts'

/** Operands and result of one instruction. */
export interface NumericSignature {
  readonly operands: readonly ValueType[]
  readonly result: ValueType
}

/** First opcode, last opcode, operands, result. */
type SignatureRange = readonly [number, number, readonly ValueType[], ValueType]

const SCALAR_RANGES: readonly SignatureRange[] = [
  [0x45, 0x45, ['i32'], 'i32'],
  [0x46, 0x4f, ['i32', 'i32'], 'i32'],
  [0x50, 0x50, ['i64'], 'i32'],
  [0x51, 0x5a, ['i64', 'i64'], 'i32'],
  [0x5b, 0x60, ['f32', 'f32'], 'i32'],
  [0x61, 0x66, ['f64', 'f64'], 'i32'],
  [0x67, 0x69, ['i32'], 'i32'],
  [0x6a, 0x78, ['i32', 'i32'], 'i32'],
  [0x79, 0x7b, ['i64'], 'i64'],
  [0x7c, 0x8a, ['i64', 'i64'], 'i64'],
  [0x8b, 0x91, ['f32'], 'f32'],
  [0x92, 0x98, ['f32', 'f32'], 'f32'],
  [0x99, 0x9f, ['f64'], 'f64'],
  [0xa0, 0xa6, ['f64', 'f64'], 'f64'],
  [0xa7, 0xa7, ['i64'], 'i32'],
  [0xa8, 0xa9, ['f32'], 'i32'],
  [0xaa, 0xab, ['f64'], 'i32'],
  [0xac, 0xad, ['i32'], 'i64'],
  [0xae, 0xaf, ['f32'], 'i64'],
  [0xb0, 0xb1, ['f64'], 'i64'],
  [0xb2, 0xb3, ['i32'], 'f32'],
  [0xb4, 0xb5, ['i64'], 'f32'],
  [0xb6, 0xb6, ['f64'], 'f32'],
  [0xb7, 0xb8, ['i32'], 'f64'],
  [0xb9, 0xba, ['i64'], 'f64'],
  [0xbb, 0xbb, ['f32'], 'f64'],
  [0xbc, 0xbc, ['f32'], 'i32'],
  [0xbd, 0xbd, ['f64'], 'i64'],
  [0xbe, 0xbe, ['i32'], 'f32'],
  [0xbf, 0xbf, ['i64'], 'f64'],
  [0xc0, 0xc1, ['i32'], 'i32'],
  [0xc2, 0xc4, ['i64'], 'i64'],
  [0xfc000, 0xfc001, ['f32'], 'i32'],
  [0xfc002, 0xfc003, ['f64'], 'i32'],
  [0xfc004, 0xfc005, ['f32'], 'i64'],
  [0xfc006, 0xfc007, ['f64'], 'i64'],
]

/** The signature of every scalar numeric opcode. */
export const SCALAR_SIGNATURES: ReadonlyMap<number, NumericSignature> = expandRanges(SCALAR_RANGES)

/** Spreads ranges of opcodes with equal signatures into one entry per opcode. */
export function expandRanges(ranges: readonly SignatureRange[]): Map<number, NumericSignature> {
  const signatures = new Map<number, NumericSignature>()
  for (const [first, last, operands, result] of ranges)
    for (let opcode = first; opcode <= last; opcode++) signatures.set(opcode, { operands, result })
  return signatures
}

/** The binary code of a value type. */
export const TYPE_CODES: Readonly<Record<ValueType, number>> = {
  i32: 0x7f,
  i64: 0x7e,
  f32: 0x7d,
  f64: 0x7c,
  v128: 0x7b,
  funcref: 0x70,
  externref: 0x6f,
  exnref: 0x69,
}

/** A section of a generated module; the payload must stay below 2^21 bytes. */
export function section(id: number, payload: readonly number[]): number[] {
  return [id, ...leb(payload.length), ...payload]
}

/** An unsigned LEB128 number. */
export function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >>> 7)]
}

/** The magic number and version. */
export const MODULE_HEADER: readonly number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]

type NumericFunction = (...operands: (number | bigint)[]) => number | bigint

function opcodeBytes(opcode: number): number[] {
  return opcode > 0xff ? [opcode >> 12, ...leb(opcode & 0xfff)] : [opcode]
}

/** All scalar stubs as one instance: opcode to function. */
function buildScalarStubs(): Map<number, NumericFunction> {
  const entries = [...SCALAR_SIGNATURES]
  const types = entries.flatMap(([, { operands, result }]) => [
    ...[0x60, operands.length, ...operands.map((type) => TYPE_CODES[type])],
    ...[1, TYPE_CODES[result]],
  ])
  const bodies = entries.flatMap(([opcode, { operands }]) => {
    const body = [0, ...operands.flatMap((_, i) => [0x20, i]), ...opcodeBytes(opcode), 0x0b]
    return [body.length, ...body]
  })
  const exports = entries.flatMap(([opcode], i) => {
    const name = [...new TextEncoder().encode(String(opcode))]
    return [name.length, ...name, 0, ...leb(i)]
  })
  const count = leb(entries.length)
  const bytes = new Uint8Array([
    ...MODULE_HEADER,
    ...section(1, [...count, ...types]),
    ...section(3, [...count, ...entries.flatMap((_, i) => leb(i))]),
    ...section(7, [...count, ...exports]),
    ...section(10, [...count, ...bodies]),
  ])
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes))
  return new Map(entries.map(([opcode]) => [opcode, instance.exports[String(opcode)] as NumericFunction]))
}

let scalarStubs: Map<number, NumericFunction> | undefined

/** Runs one scalar numeric instruction; traps as the engine does. */
export function evaluateScalar(opcode: number, operands: (number | bigint)[]): number | bigint {
  scalarStubs ??= buildScalarStubs()
  const stub = scalarStubs.get(opcode)
  if (stub === undefined) throw new Error(`no stub for opcode 0x${opcode.toString(16)}`)
  return stub(...operands)
}
