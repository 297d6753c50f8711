/**
 * The fuel price of every WebAssembly instruction.
 *
 * Fuel is a count of executed work, not of time: about 2 to 35 million units pass per millisecond, 10 or more
 * once the host has optimised the code. The prices below were chosen from measurements so that no instruction
 * leaves that range by much: cheap ones cost 1, those that leave compiled code or touch much memory what they take.
 *
 * 1. An instruction is charged when it starts. One that traps half-way was charged in full; one that was never
 *    reached was not charged at all. So what unwinds (a call that does not return) was charged, what stands
 *    behind it was not.
 * 2. An instruction that works on `n` bytes, pages or entries is charged its `fuelCost` once, and
 *    `n * fuelPerUnit` of `BULK_PRICES` on top, piece by piece, each before it is done. If its bounds check
 *    fails nothing of the second part is charged and it traps; a `grow` that exceeds the maximum returns -1
 *    and is not charged the second part either.
 * 3. The table is part of the identity of every engine build and of every recorded run: a change of any price
 *    changes `COST_TABLE_DIGEST`.
 *
 * Frozen: prices change only together with a new major version.
 */
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'

/**
 * An opcode as one number: the byte itself for one-byte opcodes, `prefix * 0x1000 + sub-opcode` for those
 * behind the prefixes 0xfb..0xfe (`memory.fill`, 0xfc 11, is 0xfc00b).
 */
export type Opcode = number

/** Opcodes of one byte that cost nothing: they only give the code its shape. */
const FREE: readonly Opcode[] = [
  0x00, // unreachable
  0x01, // nop
  0x02, // block
  0x03, // loop
  0x05, // else
  0x06, // try
  0x07, // catch
  0x0b, // end
  0x18, // delegate
  0x19, // catch_all
  0x1f, // try_table
]

/** What does not cost 1, as `[first opcode, last opcode, price]`. */
const PRICES: readonly (readonly [first: Opcode, last: Opcode, price: number])[] = [
  [0x08, 0x0a, 20_000], // throw, rethrow, throw_ref: 2 to 7 microseconds of unwinding
  [0x10, 0x10, 3], // call
  [0x11, 0x11, 5], // call_indirect
  [0x12, 0x12, 3], // return_call
  [0x13, 0x13, 5], // return_call_indirect
  [0x14, 0x15, 5], // call_ref, return_call_ref
  [0x25, 0x25, 8], // table.get
  [0x26, 0x26, 64], // table.set
  [0x40, 0x40, 4_096], // memory.grow
  [0x6d, 0x70, 6], // i32.div_s, div_u, rem_s, rem_u
  [0x7f, 0x82, 8], // i64.div_s, div_u, rem_s, rem_u
  [0x91, 0x91, 6], // f32.sqrt
  [0x95, 0x95, 4], // f32.div
  [0x9f, 0x9f, 6], // f64.sqrt
  [0xa3, 0xa3, 4], // f64.div
  [0xd2, 0xd2, 16], // ref.func
  [0xfc008, 0xfc008, 128], // memory.init
  [0xfc009, 0xfc009, 8], // data.drop
  [0xfc00a, 0xfc00b, 128], // memory.copy, memory.fill
  [0xfc00c, 0xfc00c, 2_048], // table.init
  [0xfc00d, 0xfc00d, 8], // elem.drop
  [0xfc00e, 0xfc00f, 2_048], // table.copy, table.grow
  [0xfc011, 0xfc011, 2_048], // table.fill
  [0xfd0e3, 0xfd0e3, 6], // f32x4.sqrt
  [0xfd0e7, 0xfd0e7, 4], // f32x4.div
  [0xfd0ef, 0xfd0ef, 6], // f64x2.sqrt
  [0xfd0f3, 0xfd0f3, 4], // f64x2.div
  [0xfe000, 0xfe000, 128], // memory.atomic.notify
  [0xfe003, 0xfe003, 128], // atomic.fence
  [0xfe01e, 0xfe04e, 16], // atomic read-modify-write
]

/** An instruction whose work depends on an operand: it is charged by size, piece by piece. */
export type BulkInstruction =
  | 'memory.init'
  | 'memory.copy'
  | 'memory.fill'
  | 'memory.grow'
  | 'table.init'
  | 'table.copy'
  | 'table.grow'
  | 'table.fill'

/** The price by size of one bulk instruction. */
export interface BulkPrice {
  readonly opcode: Opcode
  /** What `n`, the operand that gives the size, counts. */
  readonly unit: 'byte' | 'page' | 'entry'
  readonly fuelPerUnit: number
  /** How many units are done at most between two checks; 0 for what cannot be divided. */
  readonly pieceUnits: number
}

const MIB = 1 << 20

/**
 * Prices by size. Measured on V8: filling and copying move 11 to 37 MB per millisecond; a page that is touched
 * for the first time takes 10 microseconds on bare metal (and 160 on some virtual machines); a table entry is
 * filled in 6 to 9 ns, copied in 16 ns and grown in 36 ns.
 */
export const BULK_PRICES: Readonly<Record<BulkInstruction, BulkPrice>> = Object.freeze({
  'memory.init': { opcode: 0xfc008, unit: 'byte', fuelPerUnit: 1, pieceUnits: MIB },
  'memory.copy': { opcode: 0xfc00a, unit: 'byte', fuelPerUnit: 1, pieceUnits: MIB },
  'memory.fill': { opcode: 0xfc00b, unit: 'byte', fuelPerUnit: 1, pieceUnits: MIB },
  'memory.grow': { opcode: 0x40, unit: 'page', fuelPerUnit: 262_144, pieceUnits: 0 },
  'table.init': { opcode: 0xfc00c, unit: 'entry', fuelPerUnit: 256, pieceUnits: 4_096 },
  'table.copy': { opcode: 0xfc00e, unit: 'entry', fuelPerUnit: 256, pieceUnits: 4_096 },
  'table.grow': { opcode: 0xfc00f, unit: 'entry', fuelPerUnit: 512, pieceUnits: 0 },
  'table.fill': { opcode: 0xfc011, unit: 'entry', fuelPerUnit: 128, pieceUnits: 4_096 },
})

/** The bulk instructions by opcode. */
export const BULK_BY_OPCODE: ReadonlyMap<Opcode, BulkInstruction> = new Map(
  (Object.keys(BULK_PRICES) as BulkInstruction[]).map((name) => [BULK_PRICES[name].opcode, name]),
)

const ONE_BYTE: Float64Array = new Float64Array(0x100).fill(1)
for (const opcode of FREE) ONE_BYTE[opcode] = 0
const PREFIXED = new Map<Opcode, number>()
for (const [first, last, price] of PRICES) {
  for (let opcode = first; opcode <= last; opcode++) {
    if (opcode < 0x100) ONE_BYTE[opcode] = price
    else PREFIXED.set(opcode, price)
  }
}

/** The fuel that one execution of `opcode` costs, without what `BULK_PRICES` adds by size. */
export function fuelCost(opcode: Opcode): number {
  if (opcode < 0x100) return ONE_BYTE[opcode] ?? 1
  return PREFIXED.get(opcode) ?? 1
}

/** SHA-256 (hex) over the whole table: two modules with equal digests count alike. */
export const COST_TABLE_DIGEST: string = bytesToHex(
  sha256(utf8ToBytes(JSON.stringify({ default: 1, free: FREE, prices: PRICES, bulk: BULK_PRICES }))),
)
