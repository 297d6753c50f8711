/**
 * What every opcode looks like: the shape of its immediates, what it does to the height of the operand stack,
 * and the feature it belongs to. Sources: the WebAssembly core specification 3.0, section 5.4, and the
 * proposals for threads and legacy exceptions.
 *
 * What is not in the table is not metered, and refused.
 */
import type { Opcode } from './cost.ts'

/** The opcodes that the pass gives a meaning of their own. */
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
  throwRef: 0x0a,
  end: 0x0b,
  br: 0x0c,
  brIf: 0x0d,
  brTable: 0x0e,
  return: 0x0f,
  call: 0x10,
  callIndirect: 0x11,
  returnCall: 0x12,
  returnCallIndirect: 0x13,
  callRef: 0x14,
  returnCallRef: 0x15,
  delegate: 0x18,
  catchAll: 0x19,
  drop: 0x1a,
  selectTyped: 0x1c,
  tryTable: 0x1f,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  tableGet: 0x25,
  tableSet: 0x26,
  i32Load: 0x28,
  i32Store: 0x36,
  memorySize: 0x3f,
  memoryGrow: 0x40,
  i32Const: 0x41,
  i64Const: 0x42,
  f32Const: 0x43,
  f64Const: 0x44,
  i32Eqz: 0x45,
  i32LtS: 0x48,
  i32Add: 0x6a,
  i32Sub: 0x6b,
  i64Eqz: 0x50,
  i64LtS: 0x53,
  i64LtU: 0x54,
  i64GtU: 0x56,
  i64Add: 0x7c,
  i64Sub: 0x7d,
  i64Mul: 0x7e,
  i32WrapI64: 0xa7,
  i64ExtendI32U: 0xad,
  refNull: 0xd0,
  refIsNull: 0xd1,
  refFunc: 0xd2,
  refAsNonNull: 0xd4,
  brOnNull: 0xd5,
  brOnNonNull: 0xd6,
  memoryInit: 0xfc008,
  dataDrop: 0xfc009,
  memoryCopy: 0xfc00a,
  memoryFill: 0xfc00b,
  tableInit: 0xfc00c,
  elemDrop: 0xfc00d,
  tableCopy: 0xfc00e,
  tableGrow: 0xfc00f,
  tableSize: 0xfc010,
  tableFill: 0xfc011,
  v128Const: 0xfd00c,
} as const

/** Shapes of immediates. */
export const IMMEDIATE = {
  /** Nothing follows. */
  none: 0,
  /** A block type. */
  block: 1,
  /** A label. */
  label: 2,
  /** A vector of labels and a default. */
  labels: 3,
  function: 4,
  type: 5,
  /** A type, then a table. */
  typeTable: 6,
  local: 7,
  global: 8,
  table: 9,
  memory: 10,
  tag: 11,
  /** Alignment, memory, offset. */
  memarg: 12,
  /** Alignment, memory, offset, lane. */
  memargLane: 13,
  i32: 14,
  i64: 15,
  f32: 16,
  f64: 17,
  /** Sixteen bytes: a vector constant or a shuffle. */
  bytes16: 18,
  lane: 19,
  heapType: 20,
  /** A vector of value types. */
  valueTypes: 21,
  /** A block type and a vector of catch clauses. */
  tryTable: 22,
  /** A data segment, then a memory. */
  dataMemory: 23,
  data: 24,
  /** Two memories. */
  memories: 25,
  /** An element segment, then a table. */
  elementTable: 26,
  element: 27,
  /** Two tables. */
  tables: 28,
  /** A byte that must be zero. */
  zero: 29,
} as const

/** Features beyond the first version of WebAssembly, by the names that tools and engines use. */
export const FEATURES = [
  '',
  'sign-extension',
  'nontrapping-float-to-int',
  'bulk-memory',
  'reference-types',
  'simd',
  'relaxed-simd',
  'tail-call',
  'exceptions-legacy',
  'exceptions',
  'typed-function-references',
  'threads',
] as const

/** How an opcode that exists and is not metered is called in the refusal. */
export function refusedFeature(opcode: Opcode): string | undefined {
  const prefix = opcode >> 12
  if (opcode === 0xd3 || prefix === 0xfb) return 'garbage collection (GC)'
  if (opcode >= 0xe0 && opcode <= 0xe6) return 'stack switching'
  if (opcode === 0xfe001 || opcode === 0xfe002) return 'memory.atomic.wait'
  if (opcode >= 0xfe04f && prefix === 0xfe) return 'shared-everything threads'
  if (opcode >= 0xfc013 && opcode <= 0xfc016) return 'wide arithmetic'
  if (opcode === 0xfc012) return 'memory.discard'
  if (opcode >= 0xfd114 && prefix === 0xfd) return 'half-precision floats'
  return undefined
}

const SIMD_BASE = 0x100
const MISC_BASE = SIMD_BASE + 0x114
const ATOMIC_BASE = MISC_BASE + 0x12
const SIZE = ATOMIC_BASE + 0x4f

/** Row of `opcode` in the tables, -1 if it has none. */
export function opcodeRow(opcode: Opcode): number {
  if (opcode < 0x100) return opcode
  const sub = opcode & 0xfff
  switch (opcode >> 12) {
    case 0xfc:
      return sub < 0x12 ? MISC_BASE + sub : -1
    case 0xfd:
      return sub < 0x114 ? SIMD_BASE + sub : -1
    case 0xfe:
      return sub < 0x4f ? ATOMIC_BASE + sub : -1
    default:
      return -1
  }
}

const UNKNOWN = 0xff
const immediates: Uint8Array = new Uint8Array(SIZE).fill(UNKNOWN)
const deltas: Int8Array = new Int8Array(SIZE)
const features: Uint8Array = new Uint8Array(SIZE)

type Feature = (typeof FEATURES)[number]

/** Fills the rows of `first..last`: their immediates, and pushes minus pops. */
function define(first: Opcode, last: Opcode, immediate: number, delta: number, feature: Feature = ''): void {
  for (let opcode = first; opcode <= last; opcode++) {
    const row = opcodeRow(opcode)
    immediates[row] = immediate
    deltas[row] = delta
    features[row] = FEATURES.indexOf(feature)
  }
}

const I = IMMEDIATE
// Control. What calls and branches do to the stack depends on types: the decoder computes it.
define(0x00, 0x01, I.none, 0)
define(0x02, 0x03, I.block, 0)
define(0x04, 0x04, I.block, -1)
define(0x05, 0x05, I.none, 0)
define(0x06, 0x06, I.block, 0, 'exceptions-legacy')
define(0x07, 0x07, I.tag, 0, 'exceptions-legacy')
define(0x08, 0x08, I.tag, 0)
define(0x09, 0x09, I.label, 0, 'exceptions-legacy')
define(0x0a, 0x0a, I.none, -1, 'exceptions')
define(0x0b, 0x0b, I.none, 0)
define(0x0c, 0x0c, I.label, 0)
define(0x0d, 0x0d, I.label, -1)
define(0x0e, 0x0e, I.labels, -1)
define(0x0f, 0x0f, I.none, 0)
define(0x10, 0x10, I.function, 0)
define(0x11, 0x11, I.typeTable, -1)
define(0x12, 0x12, I.function, 0, 'tail-call')
define(0x13, 0x13, I.typeTable, -1, 'tail-call')
define(0x14, 0x14, I.type, -1, 'typed-function-references')
define(0x15, 0x15, I.type, -1, 'typed-function-references')
define(0x18, 0x18, I.label, 0, 'exceptions-legacy')
define(0x19, 0x19, I.none, 0, 'exceptions-legacy')
define(0x1f, 0x1f, I.tryTable, 0, 'exceptions')
// Parametric, variables, tables.
define(0x1a, 0x1a, I.none, -1)
define(0x1b, 0x1b, I.none, -2)
define(0x1c, 0x1c, I.valueTypes, -2, 'reference-types')
define(0x20, 0x20, I.local, 1)
define(0x21, 0x21, I.local, -1)
define(0x22, 0x22, I.local, 0)
define(0x23, 0x23, I.global, 1)
define(0x24, 0x24, I.global, -1)
define(0x25, 0x25, I.table, 0, 'reference-types')
define(0x26, 0x26, I.table, -2, 'reference-types')
// Memory.
define(0x28, 0x35, I.memarg, 0)
define(0x36, 0x3e, I.memarg, -2)
define(0x3f, 0x3f, I.memory, 1)
define(0x40, 0x40, I.memory, 0)
// Constants and arithmetic.
define(0x41, 0x41, I.i32, 1)
define(0x42, 0x42, I.i64, 1)
define(0x43, 0x43, I.f32, 1)
define(0x44, 0x44, I.f64, 1)
define(0x45, 0x45, I.none, 0) // i32.eqz
define(0x46, 0x4f, I.none, -1)
define(0x50, 0x50, I.none, 0) // i64.eqz
define(0x51, 0x66, I.none, -1)
define(0x67, 0x69, I.none, 0) // i32.clz, ctz, popcnt
define(0x6a, 0x78, I.none, -1)
define(0x79, 0x7b, I.none, 0) // i64.clz, ctz, popcnt
define(0x7c, 0x8a, I.none, -1)
define(0x8b, 0x91, I.none, 0) // f32.abs .. f32.sqrt
define(0x92, 0x98, I.none, -1)
define(0x99, 0x9f, I.none, 0) // f64.abs .. f64.sqrt
define(0xa0, 0xa6, I.none, -1)
define(0xa7, 0xbf, I.none, 0) // conversions
define(0xc0, 0xc4, I.none, 0, 'sign-extension')
// References.
define(0xd0, 0xd0, I.heapType, 1, 'reference-types')
define(0xd1, 0xd1, I.none, 0, 'reference-types')
define(0xd2, 0xd2, I.function, 1, 'reference-types')
define(0xd4, 0xd4, I.none, 0, 'typed-function-references')
define(0xd5, 0xd5, I.label, 0, 'typed-function-references')
define(0xd6, 0xd6, I.label, -1, 'typed-function-references')
// Saturating conversions and bulk operations.
define(0xfc000, 0xfc007, I.none, 0, 'nontrapping-float-to-int')
define(0xfc008, 0xfc008, I.dataMemory, -3, 'bulk-memory')
define(0xfc009, 0xfc009, I.data, 0, 'bulk-memory')
define(0xfc00a, 0xfc00a, I.memories, -3, 'bulk-memory')
define(0xfc00b, 0xfc00b, I.memory, -3, 'bulk-memory')
define(0xfc00c, 0xfc00c, I.elementTable, -3, 'bulk-memory')
define(0xfc00d, 0xfc00d, I.element, 0, 'bulk-memory')
define(0xfc00e, 0xfc00e, I.tables, -3, 'bulk-memory')
define(0xfc00f, 0xfc00f, I.table, -1, 'reference-types')
define(0xfc010, 0xfc010, I.table, 1, 'reference-types')
define(0xfc011, 0xfc011, I.table, -3, 'reference-types')
// Vectors: all but the exceptions below take no immediates; unary ones keep the height, binary ones lower it.
define(0xfd000, 0xfd00a, I.memarg, 0, 'simd')
define(0xfd00b, 0xfd00b, I.memarg, -2, 'simd')
define(0xfd00c, 0xfd00c, I.bytes16, 1, 'simd')
define(0xfd00d, 0xfd00d, I.bytes16, -1, 'simd')
define(0xfd00e, 0xfd00e, I.none, -1, 'simd')
define(0xfd00f, 0xfd014, I.none, 0, 'simd')
define(0xfd015, 0xfd022, I.lane, 0, 'simd')
for (const replace of [0x17, 0x1a, 0x1c, 0x1e, 0x20, 0x22]) {
  define(0xfd000 + replace, 0xfd000 + replace, I.lane, -1, 'simd')
}
define(0xfd023, 0xfd04c, I.none, -1, 'simd')
define(0xfd04d, 0xfd04d, I.none, 0, 'simd') // v128.not
define(0xfd04e, 0xfd051, I.none, -1, 'simd')
define(0xfd052, 0xfd052, I.none, -2, 'simd') // v128.bitselect
define(0xfd053, 0xfd053, I.none, 0, 'simd') // v128.any_true
define(0xfd054, 0xfd057, I.memargLane, -1, 'simd')
define(0xfd058, 0xfd05b, I.memargLane, -2, 'simd')
define(0xfd05c, 0xfd05d, I.memarg, 0, 'simd')
define(0xfd05e, 0xfd0ff, I.none, -1, 'simd')
/** Unary vector instructions among 0x5e..0xff, as ranges of sub-opcodes. */
const UNARY_VECTOR: readonly (readonly [number, number])[] = [
  [0x5e, 0x64],
  [0x67, 0x6a],
  [0x74, 0x75],
  [0x7a, 0x7a],
  [0x7c, 0x81],
  [0x83, 0x84],
  [0x87, 0x8a],
  [0x94, 0x94],
  [0xa0, 0xa1],
  [0xa3, 0xa4],
  [0xa7, 0xaa],
  [0xc0, 0xc1],
  [0xc3, 0xc4],
  [0xc7, 0xca],
  [0xe0, 0xe1],
  [0xe3, 0xe3],
  [0xec, 0xed],
  [0xef, 0xef],
  [0xf8, 0xff],
]
for (const [first, last] of UNARY_VECTOR) define(0xfd000 + first, 0xfd000 + last, I.none, 0, 'simd')
/** Sub-opcodes that no proposal defines. */
const VECTOR_GAPS: readonly number[] = [
  0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4,
  0xe2, 0xee,
]
for (const gap of VECTOR_GAPS) immediates[SIMD_BASE + gap] = UNKNOWN
define(0xfd100, 0xfd100, I.none, -1, 'relaxed-simd')
define(0xfd101, 0xfd104, I.none, 0, 'relaxed-simd')
define(0xfd105, 0xfd10c, I.none, -2, 'relaxed-simd')
define(0xfd10d, 0xfd112, I.none, -1, 'relaxed-simd')
define(0xfd113, 0xfd113, I.none, -2, 'relaxed-simd')
// Atomics. The two waits (0xfe001, 0xfe002) block the host's thread: refused.
define(0xfe000, 0xfe000, I.memarg, -1, 'threads')
define(0xfe003, 0xfe003, I.zero, 0, 'threads')
define(0xfe010, 0xfe016, I.memarg, 0, 'threads')
define(0xfe017, 0xfe01d, I.memarg, -2, 'threads')
define(0xfe01e, 0xfe047, I.memarg, -1, 'threads')
define(0xfe048, 0xfe04e, I.memarg, -2, 'threads')

/** The shape of the immediates of a row, or undefined for an opcode that is not metered. */
export function immediateOf(row: number): number | undefined {
  const immediate = row < 0 ? UNKNOWN : immediates[row]
  return immediate === UNKNOWN ? undefined : immediate
}

/** Pushes minus pops of a row, without what depends on types. */
export function stackDelta(row: number): number {
  return deltas[row] as number
}

/** Index into `FEATURES` of a row. */
export function featureOf(row: number): number {
  return features[row] as number
}
