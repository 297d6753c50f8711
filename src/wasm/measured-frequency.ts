/**
 * How often each edge of a function runs, given how often its blocks did (`countBlocks`).
 *
 * What flows into a block flows out of it. Counts are known within about one percent, so small differences say
 * nothing.
 */
import { EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import { type Frequencies, incomingEdges, type Outgoing } from './frequency.ts'

/** How much a guess weighs against a measured count: it only breaks ties. */
const GUESS_WEIGHT = 1e-4

/** Differences between measured counts below this share of them are taken for rounding. */
const ROUNDING = 0.03

/**
 * Combines measured counts of blocks with the guess. What flows into a block flows out of it: where one edge of a
 * block is left unknown its count follows from the others. Where several are left the guess divides the rest.
 */
export function measuredFrequencies(
  graph: FlowGraph,
  outgoing: Outgoing,
  guess: Frequencies,
  counts: ArrayLike<number>,
): Frequencies {
  const blocks = new Float64Array(graph.blocks)
  for (let block = 0; block < graph.blocks; block++) {
    blocks[block] = (counts[block] ?? 0) + (guess.blocks[block] as number) * GUESS_WEIGHT
  }
  return {
    blocks,
    edges: new EdgeCounts(graph, outgoing, guess, blocks).find(),
  }
}

/** One side of a block: what flows in, or what flows out. */
interface Side {
  /** Edges whose count is not known. */
  readonly unknown: Int32Array
  /** What the unknown edges have in all. */
  readonly rest: Float64Array
}

class EdgeCounts {
  readonly #graph: FlowGraph
  readonly #outgoing: Outgoing
  readonly #incoming: Outgoing
  readonly #guess: Frequencies
  readonly #blocks: Float64Array
  readonly #edges: Float64Array
  readonly #known: Uint8Array
  readonly #in: Side
  readonly #out: Side
  readonly #ready: number[] = []

  constructor(graph: FlowGraph, outgoing: Outgoing, guess: Frequencies, blocks: Float64Array) {
    this.#graph = graph
    this.#outgoing = outgoing
    this.#incoming = incomingEdges(graph)
    this.#guess = guess
    this.#blocks = blocks
    this.#edges = new Float64Array(graph.edges)
    this.#known = new Uint8Array(graph.edges)
    this.#in = { unknown: new Int32Array(graph.blocks), rest: blocks.slice() }
    this.#out = { unknown: new Int32Array(graph.blocks), rest: blocks.slice() }
    for (let edge = 0; edge < graph.edges; edge++) {
      const from = graph.from.at(edge)
      const to = graph.to.at(edge)
      this.#out.unknown[from] = (this.#out.unknown[from] as number) + 1
      if (to !== EXIT) this.#in.unknown[to] = (this.#in.unknown[to] as number) + 1
    }
  }

  find(): Float64Array {
    for (let block = 0; block < this.#graph.blocks; block++) {
      // Pads were not counted, and the entry is reached by no edge.
      if (block > 0 && this.#isCounted(block)) this.#close(this.#in, this.#incoming, block)
      if (this.#isCounted(block)) this.#close(this.#out, this.#outgoing, block)
      this.#spread()
    }
    for (let block = 0; block < this.#graph.blocks; block++) this.#divide(block)
    return this.#edges
  }

  #isCounted(block: number): boolean {
    return this.#graph.roles.at(block) !== ROLE.pad
  }

  /** If one edge of the side is unknown, it has the rest. */
  #close(side: Side, edges: Outgoing, block: number): void {
    if (side.unknown[block] !== 1) return
    const last = edges.first[block + 1] as number
    for (let slot = edges.first[block] as number; slot < last; slot++) {
      const edge = edges.list[slot] as number
      if (this.#known[edge] === 1) continue
      const rest = side.rest[block] as number
      const rounded = rest > (this.#blocks[block] as number) * ROUNDING ? rest : 0
      this.#know(edge, rounded + (this.#guess.edges[edge] as number) * GUESS_WEIGHT)
    }
  }

  #know(edge: number, count: number): void {
    this.#known[edge] = 1
    this.#edges[edge] = count
    const from = this.#graph.from.at(edge)
    const to = this.#graph.to.at(edge)
    this.#take(this.#out, from, count)
    if (to !== EXIT) this.#take(this.#in, to, count)
    this.#ready.push(edge)
  }

  #take(side: Side, block: number, count: number): void {
    side.unknown[block] = (side.unknown[block] as number) - 1
    side.rest[block] = Math.max((side.rest[block] as number) - count, 0)
  }

  /** Follows what became known to both ends. */
  #spread(): void {
    for (let edge = this.#ready.pop(); edge !== undefined; edge = this.#ready.pop()) {
      const from = this.#graph.from.at(edge)
      const to = this.#graph.to.at(edge)
      if (this.#isCounted(from)) this.#close(this.#out, this.#outgoing, from)
      if (to > 0 && this.#isCounted(to)) this.#close(this.#in, this.#incoming, to)
    }
  }

  /** Divides what is left of a block's count among its unknown edges. */
  #divide(block: number): void {
    const { first, list } = this.#outgoing
    let unknown = 0
    for (let slot = first[block] as number; slot < (first[block + 1] as number); slot++) {
      const edge = list[slot] as number
      if (this.#known[edge] === 0) unknown += this.#guess.edges[edge] as number
    }
    if (unknown === 0) return
    const scale = (this.#out.rest[block] as number) / unknown
    for (let slot = first[block] as number; slot < (first[block + 1] as number); slot++) {
      const edge = list[slot] as number
      if (this.#known[edge] === 0)
        this.#edges[edge] = (this.#guess.edges[edge] as number) * (scale + GUESS_WEIGHT)
    }
  }
}
