/** A construct that is open while a flow graph is built. */

const NONE = -1

/** A construct that is open at the current instruction. */
export interface Frame {
  /** The opcode that opened it; `nop` for the function itself, `unreachable` if it cannot be reached. */
  readonly opcode: number
  /** Values that a branch to its label carries. */
  readonly arity: number
  /** The loop's head, the block that ends in the `if`, or the pad of the `try`. */
  readonly block: number
  /** Where exceptions go now; once a handler began, the pad of the outer constructs. */
  pad: number
  readonly outerPad: number
  /** Edges that wait for the end of the construct: the latest, and the one before each in `nextPending`. */
  pending: number
  hasElse: boolean
  catchesAll: boolean
  handles: boolean
  /** The instruction that last branched here: several equal targets of a `br_table` make one edge. */
  stamp: number
}

/** A construct that was just opened; exceptions go to `pad`. */
export function createFrame(opcode: number, arity: number, block: number, pad: number): Frame {
  return {
    opcode,
    arity,
    block,
    pad,
    outerPad: pad,
    pending: NONE,
    hasElse: false,
    catchesAll: false,
    handles: false,
    stamp: NONE,
  }
}
