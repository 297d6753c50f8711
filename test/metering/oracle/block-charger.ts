/**
 * The plain instrumenter: at the start of every basic block the block's whole cost is taken from a global.
 *
 * It has no placement to get wrong, and it runs at full speed, which the interpreter does not. Rules:
 * 1. A block ends behind every instruction that can send control elsewhere: branches, structured instructions,
 *    and everything that may unwind (calls, throws), so that what stands behind an unwinding call is not charged.
 * 2. A bulk instruction ends a block too; its charge by size is taken behind it, once it has succeeded.
 * 3. Traps end the count: a block that traps half-way was charged in full.
 *
 * The module gets one export, `SPENT_EXPORT`: an i64 global that counts up from zero.
 */
import { fuelCost } from '../../../src/wasm/cost.ts'
import { ByteReader } from './byte-reader.ts'
import { fuelForUnits } from './fuel-count.ts'
import { type Instruction, OP } from './instruction.ts'
import { type FunctionBody, type FunctionEntry, readModule, type WasmModule } from './module-reader.ts'
import { leb } from './numeric-stubs.ts'
import { appendEntries, concatenate, nameBytes, rewriteSections, signedLeb } from './section-writer.ts'

/** Name of the exported count. */
export const SPENT_EXPORT = 'oracle.spent'

const ENDS_BLOCK = new Set<number>([
  ...[OP.unreachable, OP.block, OP.loop, OP.if, OP.else, OP.end, OP.br, OP.br_if, OP.br_table, OP.return],
  ...[OP.call, OP.call_indirect, OP.return_call, OP.return_call_indirect],
  ...[OP.try, OP.catch, OP.catch_all, OP.delegate, OP.try_table, OP.throw, OP.rethrow, OP.throw_ref],
])

const GROWS = new Set<number>([OP.memory_grow, OP.table_grow])

function isSized(opcode: number): boolean {
  return fuelForUnits(opcode, 1) > 0
}

/** Instruments a module. */
export function chargeBlocks(wasm: Uint8Array): Uint8Array<ArrayBuffer> {
  const module = readModule(wasm)
  const spent = module.globals.length
  const defined = module.functions.filter((entry) => entry.body !== undefined)
  const bodies = defined.flatMap((entry) => {
    const body = chargeBody(module, entry, entry.body as FunctionBody, spent)
    return [new Uint8Array(leb(body.length)), body]
  })
  const code = concatenate([new Uint8Array(leb(defined.length)), ...bodies])
  const exported = [...nameBytes(SPENT_EXPORT), 3, ...leb(spent)]
  return rewriteSections(
    module,
    new Map([
      [6, appendEntries(module, 1, [0x7e, 1, 0x42, 0, 0x0b])],
      [7, appendEntries(module, 1, exported)],
      ...(defined.length > 0 ? [[10, () => code] as const] : []),
    ]),
  )
}

function charge(spent: number, push: readonly number[]): number[] {
  return [OP.global_get, ...leb(spent), ...push, 0x7c, OP.global_set, ...leb(spent)]
}

function chargeBody(module: WasmModule, entry: FunctionEntry, body: FunctionBody, spent: number): Uint8Array {
  const { params } = module.types[entry.typeIndex] ?? { params: [] }
  const units = params.length + body.locals.length
  const chunks: Uint8Array[] = [withUnitsLocals(module, body)]
  let block: Instruction[] = []
  const close = (): void => {
    const cost = block.reduce((total, { opcode }) => total + fuelCost(opcode), 0)
    if (cost > 0) chunks.push(new Uint8Array(charge(spent, [OP.i64_const, ...signedLeb(BigInt(cost))])))
    for (const instruction of block) chunks.push(...emit(module, instruction, spent, units))
    block = []
  }
  for (const instruction of body.code) {
    block.push(instruction)
    if (ENDS_BLOCK.has(instruction.opcode) || isSized(instruction.opcode)) close()
  }
  return concatenate(chunks)
}

/** The local declarations with two i32 more: the size of a bulk instruction, and what a grow gave. */
function withUnitsLocals(module: WasmModule, body: FunctionBody): Uint8Array {
  const reader = new ByteReader(module.bytes, body.start)
  const groups = reader.u32()
  const before = module.bytes.subarray(reader.at, body.codeStart)
  return concatenate([new Uint8Array(leb(groups + 1)), before, new Uint8Array([2, 0x7f])])
}

function emit(module: WasmModule, instruction: Instruction, spent: number, units: number): Uint8Array[] {
  const original = module.bytes.subarray(instruction.start, instruction.end)
  const { opcode } = instruction
  if (!isSized(opcode)) return [original]
  const perUnit = signedLeb(BigInt(fuelForUnits(opcode, 1)))
  const product = [OP.local_get, ...leb(units), 0xad, OP.i64_const, ...perUnit, 0x7e]
  const chargeUnits = charge(spent, product)
  const keep = new Uint8Array([OP.local_tee, ...leb(units)])
  if (!GROWS.has(opcode)) return [keep, original, new Uint8Array(chargeUnits)]
  return [keep, original, new Uint8Array(chargeUnlessFailed(chargeUnits, units + 1))]
}

/** A grow gives -1 when it fails: then nothing is charged by size. */
function chargeUnlessFailed(chargeUnits: readonly number[], grown: number): number[] {
  const succeeded = [OP.local_tee, ...leb(grown), OP.i32_const, 0x7f, 0x47]
  return [...succeeded, OP.if, 0x40, ...chargeUnits, OP.end, OP.local_get, ...leb(grown)]
}
