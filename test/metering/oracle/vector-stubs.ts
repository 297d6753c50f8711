/**
 * SIMD instructions, each as a generated one-function module over one shared scratch memory.
 *
 * As with the scalar stubs the engine below evaluates the instruction; vectors cannot cross into JavaScript,
 * so they travel through the scratch memory: operands in slots, the accessed bytes of a memory instruction in
 * `ACCESS_AT`, a vector result in `RESULT_AT`.
 */
import {
  type Instruction,
  isVectorLaneAccess,
  isVectorMemoryAccess,
  OP,
  type ValueType,
} from './instruction.ts'
import {
  expandRanges,
  leb,
  MODULE_HEADER,
  type NumericSignature,
  section,
  TYPE_CODES,
} from './numeric-stubs.ts'

const V = 'v128'
const UNARY = [V] as const
const BINARY = [V, V] as const
const SHIFT = [V, 'i32'] as const

/** Sub-opcodes inside the ranges below that mean nothing. */
const RESERVED = new Set([
  ...[154, 162, 165, 166, 175, 176, 178, 179, 180, 187, 194, 197, 198, 207, 208, 210, 211, 212, 226, 238],
])

/** Signatures by sub-opcode; memory instructions are listed without their address operand. */
const VECTOR_RANGES = expandRanges([
  [0, 10, [], V],
  [14, 14, BINARY, V],
  [15, 17, ['i32'], V],
  [18, 18, ['i64'], V],
  [19, 19, ['f32'], V],
  [20, 20, ['f64'], V],
  [21, 22, UNARY, 'i32'],
  [23, 23, [V, 'i32'], V],
  [24, 25, UNARY, 'i32'],
  [26, 26, [V, 'i32'], V],
  [27, 27, UNARY, 'i32'],
  [28, 28, [V, 'i32'], V],
  [29, 29, UNARY, 'i64'],
  [30, 30, [V, 'i64'], V],
  [31, 31, UNARY, 'f32'],
  [32, 32, [V, 'f32'], V],
  [33, 33, UNARY, 'f64'],
  [34, 34, [V, 'f64'], V],
  [35, 76, BINARY, V],
  [77, 77, UNARY, V],
  [78, 81, BINARY, V],
  [82, 82, [V, V, V], V],
  [83, 83, UNARY, 'i32'],
  [84, 87, UNARY, V],
  [92, 93, [], V],
  [94, 98, UNARY, V],
  [99, 100, UNARY, 'i32'],
  [101, 102, BINARY, V],
  [103, 106, UNARY, V],
  [107, 109, SHIFT, V],
  [110, 115, BINARY, V],
  [116, 117, UNARY, V],
  [118, 121, BINARY, V],
  [122, 122, UNARY, V],
  [123, 123, BINARY, V],
  [124, 129, UNARY, V],
  [130, 130, BINARY, V],
  [131, 132, UNARY, 'i32'],
  [133, 134, BINARY, V],
  [135, 138, UNARY, V],
  [139, 141, SHIFT, V],
  [142, 147, BINARY, V],
  [148, 148, UNARY, V],
  [149, 159, BINARY, V],
  [160, 161, UNARY, V],
  [163, 164, UNARY, 'i32'],
  [167, 170, UNARY, V],
  [171, 173, SHIFT, V],
  [174, 191, BINARY, V],
  [192, 193, UNARY, V],
  [195, 196, UNARY, 'i32'],
  [199, 202, UNARY, V],
  [203, 205, SHIFT, V],
  [206, 223, BINARY, V],
  [224, 227, UNARY, V],
  [228, 235, BINARY, V],
  [236, 239, UNARY, V],
  [240, 247, BINARY, V],
  [248, 255, UNARY, V],
])
const VECTOR_SIGNATURES: ReadonlyMap<number, NumericSignature> = new Map(
  [...VECTOR_RANGES].filter(([sub]) => !RESERVED.has(sub)),
)

/** How many bytes of memory a SIMD memory instruction touches. */
export function vectorAccessWidth(sub: number): number {
  if (sub === 0 || sub === 11) return 16
  if (sub <= 6) return 8
  if (sub <= 10) return 1 << (sub - 7)
  if (sub === 92) return 4
  if (sub === 93) return 8
  return 1 << ((sub - 84) % 4)
}

/** Whether a SIMD memory instruction writes. */
export function isVectorStore(sub: number): boolean {
  return sub === 11 || (sub >= 88 && sub <= 91)
}

/** The operands that a SIMD instruction takes from the stack, its address aside. */
export function vectorOperands(sub: number): readonly ValueType[] {
  if (isVectorStore(sub)) return UNARY
  const signature = VECTOR_SIGNATURES.get(sub)
  if (signature === undefined) throw new Error(`no signature for SIMD opcode ${sub}`)
  return signature.operands
}

/** The result of a SIMD instruction that does not touch memory; undefined for all others. */
export function vectorResult(sub: number): ValueType | undefined {
  return isVectorMemoryAccess(sub) || isVectorLaneAccess(sub) ? undefined : VECTOR_SIGNATURES.get(sub)?.result
}

/** Operand `i` lies at `16 * i`; the result replaces operand 0, which is consumed by then. All below 64: one LEB byte. */
const RESULT_AT = 0
const ACCESS_AT = 48

const scratch = new WebAssembly.Memory({ initial: 1 })
const stubs = new Map<string, (...operands: (number | bigint)[]) => number | bigint | undefined>()

type Operand = number | bigint | Uint8Array

function scratchBytes(at: number, length: number): Uint8Array {
  return new Uint8Array(scratch.buffer, at, length)
}

/** Runs one vector instruction that does not touch memory. */
export function evaluateVector(instruction: Instruction, operands: readonly Operand[]): Operand {
  if (instruction.opcode === OP.i8x16_shuffle) return shuffle(instruction, operands)
  return runStub(instruction, operands)
}

/** Runs a vector load over the bytes it reads (lane loads take the vector as operand). */
export function evaluateVectorLoad(
  instruction: Instruction,
  accessed: Uint8Array,
  operands: readonly Operand[],
): Operand {
  scratchBytes(ACCESS_AT, accessed.length).set(accessed)
  return runStub(instruction, operands)
}

/** Runs a vector store and gives the bytes it writes. */
export function evaluateVectorStore(instruction: Instruction, operands: readonly Operand[]): Uint8Array {
  runStub(instruction, operands)
  return scratchBytes(ACCESS_AT, vectorAccessWidth(instruction.opcode & 0xfff)).slice()
}

function shuffle(instruction: Instruction, operands: readonly Operand[]): Uint8Array {
  const [low, high] = operands as [Uint8Array, Uint8Array]
  const lanes = instruction.constant as Uint8Array
  return lanes.map((lane) => (lane < 16 ? low[lane] : high[lane - 16]) as number)
}

function runStub(instruction: Instruction, operands: readonly Operand[]): Operand {
  const sub = instruction.opcode & 0xfff
  const key = `${sub}/${instruction.indices.join()}`
  let stub = stubs.get(key)
  if (stub === undefined) {
    stub = buildStub(sub, instruction.indices)
    stubs.set(key, stub)
  }
  const scalars: (number | bigint)[] = []
  operands.forEach((operand, i) => {
    if (operand instanceof Uint8Array) scratchBytes(i * 16, 16).set(operand)
    else scalars.push(operand)
  })
  return stub(...scalars) ?? scratchBytes(RESULT_AT, 16).slice()
}

const LOAD_VECTOR = [0xfd, 0x00, 0, 0]
const STORE_VECTOR = [0xfd, 0x0b, 0, 0]
const CONST_RESULT_AT = [0x41, RESULT_AT]
const CONST_ACCESS_AT = [0x41, ACCESS_AT]

function buildStub(
  sub: number,
  lanes: readonly number[],
): (...operands: (number | bigint)[]) => number | bigint | undefined {
  const operands = vectorOperands(sub)
  const touchesMemory = isVectorLaneAccess(sub) || isVectorMemoryAccess(sub)
  const result = isVectorStore(sub) ? undefined : VECTOR_SIGNATURES.get(sub)?.result
  const scalarTypes = operands.filter((type) => type !== V)
  let scalarIndex = 0
  const pushes = operands.flatMap((type, i) =>
    type === V ? [0x41, i * 16, ...LOAD_VECTOR] : [0x20, scalarIndex++],
  )
  const body = [
    0,
    ...(result === V ? CONST_RESULT_AT : []),
    ...(touchesMemory ? CONST_ACCESS_AT : []),
    ...pushes,
    ...[0xfd, ...leb(sub), ...(touchesMemory ? [0, 0] : []), ...lanes],
    ...(result === V ? STORE_VECTOR : []),
    0x0b,
  ]
  const results = result === undefined || result === V ? [0] : [1, TYPE_CODES[result]]
  const params = scalarTypes.map((type) => TYPE_CODES[type])
  const bytes = new Uint8Array([
    ...MODULE_HEADER,
    ...section(1, [1, 0x60, params.length, ...params, ...results]),
    ...section(2, [1, 1, 0x6d, 1, 0x6d, 2, 0, 1]),
    ...section(3, [1, 0]),
    ...section(7, [1, 1, 0x66, 0, 0]),
    ...section(10, [1, ...leb(body.length), ...body]),
  ])
  const instance = new WebAssembly.Instance(new WebAssembly.Module(bytes), { m: { m: scratch } })
  return instance.exports.f as (...operands: (number | bigint)[]) => number | bigint | undefined
}
