/** The instructions of one function body as flat arrays: what the decoder fills and everything else reads. */
import { IntList } from './int-list.ts'

/** Block type of a block without parameters and results, in `DecodedBody.first`. */
export const BLOCK_EMPTY = -1
/** Block type of a block without parameters and with one result. Others are type indices. */
export const BLOCK_VALUE = -2

/**
 * The instructions of one body. A decoder fills the same object again and again: what is in it is valid until
 * the next `decodeBody` into it.
 *
 * `first` and `second` hold immediates in the order of the binary format: function, type, local, global, label,
 * block type, tag; `type, table`; `data, memory`; `element, table`; destination and source. For `br_table` they
 * are an offset into `pool` and the number of labels there, default last; for `try_table` the block type and an
 * offset into `pool`, where the number of clauses is followed by kind, tag and label of each.
 */
export class DecodedBody {
  readonly opcodes: IntList = new IntList()
  /** Where each instruction begins in `bytes`; one more entry for the end. */
  readonly starts: IntList = new IntList()
  readonly first: IntList = new IntList()
  readonly second: IntList = new IntList()
  readonly pool: IntList = new IntList()
  bytes: Uint8Array = new Uint8Array(0)
  functionIndex = 0
  typeIndex = 0
  /** Parameters and locals. */
  locals = 0
  /** The greatest height of the operand stack, an upper bound in unreachable code. */
  maxStack = 0
  /** One bit per entry of `FEATURES`. */
  features = 0

  /** Number of instructions. */
  get length(): number {
    return this.opcodes.length
  }

  reset(bytes: Uint8Array, functionIndex: number, typeIndex: number): void {
    for (const list of [this.opcodes, this.starts, this.first, this.second, this.pool]) list.length = 0
    this.bytes = bytes
    this.functionIndex = functionIndex
    this.typeIndex = typeIndex
    this.locals = 0
    this.maxStack = 0
    this.features = 0
  }
}
