/** Writes instructions. Immediates are given as the binary format orders them. */
import { ByteWriter } from './byte-writer.ts'
import type { Opcode } from './cost.ts'
import { OP } from './opcode-table.ts'

/** The block type without parameters and results. */
export const EMPTY_BLOCK = 0x40

/** A writer of code. */
export class CodeWriter {
  readonly out: ByteWriter

  constructor(out: ByteWriter = new ByteWriter()) {
    this.out = out
  }

  /** An instruction whose immediates are unsigned numbers. */
  op(opcode: Opcode, ...immediates: readonly number[]): this {
    if (opcode < 0x100) {
      this.out.byte(opcode)
    } else {
      this.out.byte(opcode >> 12)
      this.out.u32(opcode & 0xfff)
    }
    for (const immediate of immediates) this.out.u32(immediate)
    return this
  }

  i32(value: number): this {
    this.out.byte(OP.i32Const)
    this.out.signed(value)
    return this
  }

  i64(value: number): this {
    this.out.byte(OP.i64Const)
    this.out.signed(value)
    return this
  }

  /** `if` without parameters and results. */
  if(): this {
    this.out.byte(OP.if)
    this.out.byte(EMPTY_BLOCK)
    return this
  }

  /** `block` or `loop` without parameters and results. */
  open(opcode: typeof OP.block | typeof OP.loop): this {
    this.out.byte(opcode)
    this.out.byte(EMPTY_BLOCK)
    return this
  }
}
