/**
 * Where a function charges fuel, and how much: an event counting placement after Knuth and Ball & Larus.
 *
 * Give every point of the flow graph a potential: what was charged so far minus what was spent so far. Along a
 * maximum spanning tree, weighted by frequency, nothing is charged: spending alone lowers the potential. What
 * remains, the chords, are the ways that run least; each is charged the difference that makes all ways agree.
 *
 * 1. On every way from the entry to an exit the charges sum up to the costs: the potential of all exits is 0.
 * 2. It is also 0 where a check stands and where an exception leaves the function.
 * 3. Code is put only where the graph allows it: edges that hold no code are in the tree before all others.
 * 4. The entry's potential is 0, or, with `freeEntry`, whatever suits best and is not negative: direct callers
 *    add it to the price of their call (`entryCharge`).
 */
import { EDGE, EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import type { Frequencies } from './frequency.ts'

/** Charges of one function, in fuel; some may be negative. */
export interface Placement {
  /** Charged where a block begins. */
  readonly blocks: Float64Array
  /** Charged when an edge is taken. */
  readonly edges: Float64Array
  /** Charged by callers in advance. */
  readonly entryCharge: number
  /** The most that is charged ahead of the work at any point. */
  readonly maxPrepaid: number
  /** The most that the work is ahead of the charges at any point. */
  readonly maxOwed: number
}

/** Weights beside frequency: what charging costs in code, so that equals are decided by size. */
const TAKEN_WEIGHT = 1.2
const OTHERWISE_WEIGHT = 1.1
const EDGE_WEIGHT = 0.999

/**
 * Places the charges of one function.
 *
 * @param settled blocks at whose beginning nothing may be pending, because a check stands there.
 * @param freeEntry whether every caller can be made to pay in advance.
 */
export function placeCharges(
  graph: FlowGraph,
  frequencies: Frequencies,
  settled: Iterable<number>,
  freeEntry: boolean,
): Placement {
  const settledBlocks = [...settled]
  const placement = new ChargePlacer(graph, frequencies, settledBlocks, freeEntry).place()
  if (placement.entryCharge >= 0) return placement
  return new ChargePlacer(graph, frequencies, settledBlocks, false).place()
}

/** Points of the graph: block `b` begins at `2b` and ends at `2b + 1`; all exits are one point behind them. */
class ChargePlacer {
  readonly #graph: FlowGraph
  readonly #exit: number
  readonly #points: number
  readonly #parent: Int32Array
  // Links: blocks first, then edges, then the ties of settled points to the exit.
  readonly #tail: Int32Array
  readonly #head: Int32Array
  readonly #weight: Float64Array
  readonly #inTree: Uint8Array
  readonly #links: number

  constructor(graph: FlowGraph, frequencies: Frequencies, settled: readonly number[], freeEntry: boolean) {
    this.#graph = graph
    this.#points = 2 * graph.blocks + 1
    this.#exit = 2 * graph.blocks
    this.#links = graph.blocks + graph.edges + settled.length + 1
    this.#tail = new Int32Array(this.#links)
    this.#head = new Int32Array(this.#links)
    this.#weight = new Float64Array(this.#links)
    this.#inTree = new Uint8Array(this.#links)
    this.#parent = new Int32Array(this.#points)
    for (let point = 0; point < this.#points; point++) this.#parent[point] = point
    let link = 0
    for (let block = 0; block < graph.blocks; block++) {
      const pad = graph.roles.at(block) === ROLE.pad
      const weight = pad ? Number.POSITIVE_INFINITY : (frequencies.blocks[block] as number)
      this.#link(link++, 2 * block, 2 * block + 1, weight)
    }
    for (let edge = 0; edge < graph.edges; edge++) {
      const to = graph.to.at(edge)
      const target = to === EXIT ? this.#exit : 2 * to
      const weight = edgeWeight(graph.kinds.at(edge), frequencies.edges[edge] as number)
      this.#link(link++, 2 * graph.from.at(edge) + 1, target, weight)
    }
    for (const block of settled) this.#link(link++, this.#exit, 2 * block, Number.POSITIVE_INFINITY)
    this.#link(link, this.#exit, 0, freeEntry ? -1 : Number.POSITIVE_INFINITY)
  }

  #link(link: number, tail: number, head: number, weight: number): void {
    this.#tail[link] = tail
    this.#head[link] = head
    this.#weight[link] = weight
  }

  #cost(link: number): number {
    return link < this.#graph.blocks ? (this.#graph.costs[link] as number) : 0
  }

  place(): Placement {
    this.#span()
    const potential = this.#potentials()
    const { blocks, edges } = this.#graph
    const placement = { blocks: new Float64Array(blocks), edges: new Float64Array(edges) }
    for (let link = 0; link < blocks + edges; link++) {
      if (this.#inTree[link] === 1) continue
      const tail = potential[this.#tail[link] as number] as number
      const head = potential[this.#head[link] as number] as number
      const charge = head - tail + this.#cost(link)
      if (link < blocks) placement.blocks[link] = charge
      else placement.edges[link - blocks] = charge
    }
    let highest = 0
    let lowest = 0
    for (const value of potential) {
      if (value > highest) highest = value
      if (value < lowest) lowest = value
    }
    return { ...placement, entryCharge: potential[0] as number, maxPrepaid: highest, maxOwed: -lowest }
  }

  #root(point: number): number {
    let at = point
    while (this.#parent[at] !== at) {
      const up = this.#parent[this.#parent[at] as number] as number
      this.#parent[at] = up
      at = up
    }
    return at
  }

  /** Kruskal: the heaviest links that close no circle. Equal weights go by order, so the result is one. */
  #span(): void {
    const order = new Int32Array(this.#links)
    for (let link = 0; link < this.#links; link++) order[link] = link
    const weight = this.#weight
    order.sort((a, b) => {
      const difference = (weight[b] as number) - (weight[a] as number)
      return difference > 0 ? 1 : difference < 0 ? -1 : a - b
    })
    for (const link of order) {
      const tail = this.#root(this.#tail[link] as number)
      const head = this.#root(this.#head[link] as number)
      if (tail === head) continue
      this.#parent[tail] = head
      this.#inTree[link] = 1
    }
  }

  /** Follows the tree from the exit, then from a point of every part that is not tied to it. */
  #potentials(): Float64Array {
    const firstLink = new Int32Array(this.#points).fill(-1)
    const nextLink = new Int32Array(2 * this.#links).fill(-1)
    for (let link = 0; link < this.#links; link++) {
      if (this.#inTree[link] === 0) continue
      const tail = this.#tail[link] as number
      const head = this.#head[link] as number
      nextLink[2 * link] = firstLink[tail] as number
      firstLink[tail] = 2 * link
      nextLink[2 * link + 1] = firstLink[head] as number
      firstLink[head] = 2 * link + 1
    }
    const potential = new Float64Array(this.#points)
    const known = new Uint8Array(this.#points)
    const stack: number[] = []
    const spread = (root: number): void => {
      known[root] = 1
      stack.push(root)
      for (let point = stack.pop(); point !== undefined; point = stack.pop()) {
        const value = potential[point] as number
        for (let half = firstLink[point] as number; half >= 0; half = nextLink[half] as number) {
          const link = half >> 1
          const forward = (half & 1) === 0
          const other = (forward ? this.#head : this.#tail)[link] as number
          if (known[other] === 1) continue
          known[other] = 1
          potential[other] = forward ? value - this.#cost(link) : value + this.#cost(link)
          stack.push(other)
        }
      }
    }
    spread(this.#exit)
    for (let point = 0; point < this.#points; point++) if (known[point] === 0) spread(point)
    return potential
  }
}

function edgeWeight(kind: number, frequency: number): number {
  switch (kind) {
    case EDGE.fixed:
      return Number.POSITIVE_INFINITY
    case EDGE.taken:
      return frequency * EDGE_WEIGHT * TAKEN_WEIGHT
    case EDGE.otherwise:
      return frequency * EDGE_WEIGHT * OTHERWISE_WEIGHT
    default:
      return frequency * EDGE_WEIGHT
  }
}
