/**
 * The control flow of one function as basic blocks and edges, made for placing code on them.
 *
 * 1. A block begins right behind one instruction (`starts`, -1 for the entry) and holds the cost of all its
 *    instructions. Calls and bulk instructions end their blocks: where they begin others see the fuel counter.
 * 2. Every edge says where code that runs exactly when it is taken can be put (`EDGE`), if anywhere.
 * 3. The only edges backward lead to heads of loops: without them, and without pads, the order of the blocks is
 *    topological.
 * 4. A pad stands for the handlers of one `try` or `try_table`: what may unwind has a second edge to the innermost
 *    pad, a pad has edges to its handlers and to the next pad outside. Pads hold no code.
 * 5. Code that cannot be reached has no block.
 */
import { IntList } from './int-list.ts'

/** The block that all ends of the function lead to, as the target of an edge. */
export const EXIT = -1

/** Where code on an edge goes, relative to the edge's instruction. */
export const EDGE = {
  /** Right before it. */
  before: 0,
  /** Right behind it. */
  after: 1,
  /** Into the taken way of a conditional branch, which becomes an `if` around a branch. */
  taken: 2,
  /** Into an `else` that is added before the `end`. */
  otherwise: 3,
  /** Nowhere. */
  fixed: 4,
  /** Behind a block that is put around a `br_table`, and left by this entry alone. */
  entry: 5,
} as const

/** A function's blocks and edges. */
export class FlowGraph {
  /** The instruction that each block begins behind. */
  readonly starts: IntList = new IntList()
  /** Fuel that one execution of each block costs. */
  readonly costs: number[] = []
  /** Fuel that each block pays in advance for functions that it calls; it may be negative. */
  readonly advances: number[] = []
  /** For the head of a loop, the first block behind the loop; 0 for any other block. */
  readonly loopEnds: IntList = new IntList()
  /** For the head of a loop, the number of its parameters: operands that every branch to it must carry. */
  readonly loopArities: IntList = new IntList()
  /** How many loops the block is in. */
  readonly loopDepths: IntList = new IntList()
  /** 1 for a pad, 2 for a block that exceptions lead to, 0 for any other block. */
  readonly roles: IntList = new IntList()

  readonly from: IntList = new IntList()
  readonly to: IntList = new IntList()
  readonly kinds: IntList = new IntList()
  readonly instructions: IntList = new IntList()
  /** For every edge of kind `entry`, the label that its entries name. */
  readonly entryLabels: Map<number, number> = new Map()

  /** Block of each instruction, -1 if it cannot be reached. */
  readonly blockOf: IntList = new IntList()
  /**
   * Whether the body must be wrapped in a block: some conditional branch leaves the function. Then the last
   * block begins behind that wrapper's end.
   */
  wrapped = false

  get blocks(): number {
    return this.starts.length
  }

  get edges(): number {
    return this.from.length
  }

  /** Whether the block is the head of a loop that a branch without operands leads to. */
  isPlainHead(block: number): boolean {
    return this.loopEnds.at(block) > 0 && this.loopArities.at(block) === 0
  }

  /** Whether the edge leads back to the head of a loop that its source is in. */
  isBack(edge: number): boolean {
    const to = this.to.at(edge)
    const from = this.from.at(edge)
    return to >= 0 && to <= from && this.roles.at(to) !== ROLE.pad
  }
}

/** Values of `FlowGraph.roles`. */
export const ROLE = { plain: 0, pad: 1, handler: 2 } as const
