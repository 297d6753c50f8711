/**
 * How often each block and edge of a function runs, relative to one call of it, guessed from the code's shape. Plain
 * arithmetic on doubles in a fixed order: the same everywhere. From measurements: `measured-frequency.ts`.
 */
import { EDGE, EXIT, type FlowGraph, ROLE } from './flow-graph.ts'

/** Relative frequencies. `edges` runs parallel to the edges of the graph. */
export interface Frequencies {
  readonly blocks: Float64Array
  readonly edges: Float64Array
}

/** How often a loop is guessed to go round. */
const LOOP_ROUNDS = 8
/** How likely a conditional branch back to a loop's head is guessed to be taken. */
const BACK_BRANCH = 0.88
/** The share of a way that ends in a trap. */
const DEAD_END = 0.001
/** How often an exception is guessed to be thrown. */
const EXCEPTION = 0.001
/** How deep loops count; deeper ones are all the same. */
const MAX_LOOP_DEPTH = 12

/** Edges by their source, in order: `list[first[b] .. first[b + 1]]`. */
export interface Outgoing {
  readonly first: Int32Array
  readonly list: Int32Array
}

/** Groups the edges of a graph by source. */
export function outgoingEdges(graph: FlowGraph): Outgoing {
  return groupEdges(graph, (edge) => graph.from.at(edge))
}

/** Groups the edges of a graph by target; those that leave the function are in no group. */
export function incomingEdges(graph: FlowGraph): Outgoing {
  return groupEdges(graph, (edge) => graph.to.at(edge))
}

function groupEdges(graph: FlowGraph, blockOf: (edge: number) => number): Outgoing {
  const first = new Int32Array(graph.blocks + 1)
  for (let edge = 0; edge < graph.edges; edge++) {
    const slot = blockOf(edge) + 1
    if (slot > 0) first[slot] = (first[slot] as number) + 1
  }
  for (let block = 0; block < graph.blocks; block++) {
    first[block + 1] = (first[block + 1] as number) + (first[block] as number)
  }
  const next = first.slice()
  const list = new Int32Array(first[graph.blocks] as number)
  for (let edge = 0; edge < graph.edges; edge++) {
    const block = blockOf(edge)
    if (block < 0) continue
    const slot = next[block] as number
    list[slot] = edge
    next[block] = slot + 1
  }
  return { first, list }
}

/** Blocks from which every way ends in a trap or an exception. */
function deadEnds(graph: FlowGraph, outgoing: Outgoing): Uint8Array {
  const dead = new Uint8Array(graph.blocks)
  for (let block = graph.blocks - 1; block >= 0; block--) {
    let alive = false
    for (let slot = outgoing.first[block] as number; slot < (outgoing.first[block + 1] as number); slot++) {
      const edge = outgoing.list[slot] as number
      const to = graph.to.at(edge)
      if (graph.kinds.at(edge) === EDGE.fixed && (to === EXIT || graph.roles.at(to) === ROLE.pad)) continue
      if (to === EXIT || to <= block || dead[to] === 0) {
        alive = true
        break
      }
    }
    dead[block] = alive ? 0 : 1
  }
  return dead
}

/** Guesses frequencies from loops, branches and dead ends. */
export function estimateFrequencies(graph: FlowGraph, outgoing: Outgoing): Frequencies {
  const blocks = new Float64Array(graph.blocks)
  const edges = new Float64Array(graph.edges)
  const dead = deadEnds(graph, outgoing)
  blocks[0] = 1
  const shares: number[] = []
  for (let block = 0; block < graph.blocks; block++) {
    if (graph.roles.at(block) === ROLE.pad) blocks[block] = EXCEPTION
    const isHead = graph.loopEnds.at(block) > 0
    if (isHead) blocks[block] = (blocks[block] as number) * LOOP_ROUNDS
    const begin = outgoing.first[block] as number
    const end = outgoing.first[block + 1] as number
    shares.length = 0
    let total = 0
    for (let slot = begin; slot < end; slot++) {
      const share = edgeShare(graph, dead, outgoing.list[slot] as number, end - begin)
      shares.push(share)
      total += share
    }
    for (let slot = begin; slot < end; slot++) {
      const edge = outgoing.list[slot] as number
      const to = graph.to.at(edge)
      let frequency = ((blocks[block] as number) * (shares[slot - begin] as number)) / total
      if (to !== EXIT && !graph.isBack(edge)) {
        frequency /= leavingFactor(graph.loopDepths.at(block) - graph.loopDepths.at(to))
        if (graph.roles.at(to) !== ROLE.pad) blocks[to] = (blocks[to] as number) + frequency
      }
      edges[edge] = frequency
    }
  }
  return { blocks, edges }
}

/** A weight for one of `ways` edges out of a block. */
function edgeShare(graph: FlowGraph, dead: Uint8Array, edge: number, ways: number): number {
  const to = graph.to.at(edge)
  const fixed = graph.kinds.at(edge) === EDGE.fixed
  if (fixed && (to === EXIT || graph.roles.at(to) === ROLE.pad) && ways > 1) return EXCEPTION
  if (ways !== 2) return 1
  if (to !== EXIT && dead[to] === 1) return DEAD_END
  return graph.isBack(edge) ? BACK_BRANCH : 1 - BACK_BRANCH
}

function leavingFactor(levels: number): number {
  let factor = 1
  for (let level = 0; level < Math.min(levels, MAX_LOOP_DEPTH); level++) factor *= LOOP_ROUNDS
  return factor
}
