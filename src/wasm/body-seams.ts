/** Where code may be put into a body: which block and which edges have their seam at each instruction. */
import { EDGE, type FlowGraph, ROLE } from './flow-graph.ts'

/** No block, or no edge. */
export const NO_SEAM = -1

/** The seams of one body, by instruction. Those behind an instruction are shifted by one: the entry is 0. */
export class BodySeams {
  /** The block that begins behind the instruction. */
  readonly blockBehind: Int32Array
  readonly edgeBehind: Int32Array
  readonly edgeBefore: Int32Array
  readonly edgeTaken: Int32Array
  readonly edgeOtherwise: Int32Array
  readonly edgeEntry: Int32Array

  /** @param instructions number of instructions of the body */
  constructor(graph: FlowGraph, instructions: number) {
    const none = (): Int32Array => new Int32Array(instructions + 2).fill(NO_SEAM)
    this.blockBehind = none()
    this.edgeBehind = none()
    this.edgeBefore = none()
    this.edgeTaken = none()
    this.edgeOtherwise = none()
    this.edgeEntry = none()
    for (let block = 0; block < graph.blocks; block++) {
      if (graph.roles.at(block) !== ROLE.pad) this.blockBehind[graph.starts.at(block) + 1] = block
    }
    for (let edge = 0; edge < graph.edges; edge++) this.#locate(graph, edge)
  }

  #locate(graph: FlowGraph, edge: number): void {
    const at = graph.instructions.at(edge)
    switch (graph.kinds.at(edge)) {
      case EDGE.before:
        this.edgeBefore[at] = edge
        break
      case EDGE.after:
        this.edgeBehind[at + 1] = edge
        break
      case EDGE.taken:
        this.edgeTaken[at] = edge
        break
      case EDGE.otherwise:
        this.edgeOtherwise[at] = edge
        break
      case EDGE.entry:
        this.edgeEntry[at] = edge
        break
    }
  }
}
