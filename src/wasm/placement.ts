/**
 * Where a function charges fuel, and how much: an event counting placement after Knuth, and Ball and Larus.
 *
 * Give every point of the flow graph a potential: what was charged so far minus what was spent so far. Along a
 * maximum spanning tree, weighted by frequency, nothing is charged: spending alone lowers the potential. What
 * remains, the chords, are the ways that run least; each is charged the difference that makes all ways agree.
 *
 * 1. On every way from the entry to an exit the charges sum up to the costs: the potential of all exits is 0, and
 *    that of the entry is what callers pay in advance (`entryCharge`), 0 unless all callers are known.
 * 2. Where somebody may look at the counter (a check, a call of what may check) the potential is not positive:
 *    charges never run ahead of the work, so that a counter below zero means that the fuel was really used up. Nor
 *    do they lag by more than `MAX_OWED`, so that a check does not overlook work that waits to be charged.
 * 3. Where an exception may leave the function it is 0.
 * 4. Code is put only where the graph allows it: edges that hold no code are in the tree before all others.
 */
import { EDGE, EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import type { Frequencies } from './frequency.ts'

/** Points where the counter is looked at. */
export interface LookPoints {
  /** 1 for blocks that begin with a check. */
  readonly blocks: Uint8Array
  /** 1 for edges that end with a check. */
  readonly edges: Uint8Array
  /** 1 for blocks that end in a call of what may look. */
  readonly calls: Uint8Array
}

/** Charges of one function, in fuel; some may be negative. */
export interface Placement {
  /** Charged where a block begins. */
  readonly blocks: Float64Array
  /** Charged when an edge is taken. */
  readonly edges: Float64Array
  /** Whether checks stand before the charges of their blocks instead of behind them. */
  readonly checksFirst: boolean
  /** Charged by callers in advance; negative if they pay less than the price of the call. */
  readonly entryCharge: number
  /** The most that the work is ahead of the charges where somebody looks. */
  readonly maxOwed: number
}

/** Where somebody looks, each open call may owe so much fuel at most. */
export const MAX_OWED: number = 1 << 12

/** Weights beside frequency: what charging costs in code, so that equals are decided by size. */
const TAKEN_WEIGHT = 1.2
const OTHERWISE_WEIGHT = 1.1
const EDGE_WEIGHT = 0.999

/**
 * Places the charges of one function.
 *
 * @param freeEntry whether every caller can be made to pay in advance.
 */
export function placeCharges(
  graph: FlowGraph,
  frequencies: Frequencies,
  looks: LookPoints,
  freeEntry: boolean,
): Placement {
  const place = (shape: Shape): Candidate =>
    new ChargePlacer(graph, frequencies, looks, freeEntry, shape).place()
  const joined = place('joined')
  if (joined.sound) return joined.placement
  const tied = place('tied')
  if (hasFixedExit(graph)) return tied.placement
  const open = place('open')
  return open.sound && open.executed < tied.executed ? open.placement : tied.placement
}

/** A placement, and how good it is. */
interface Candidate {
  readonly placement: Placement
  /** Whether everybody sees a potential between -`MAX_OWED` and 0. */
  readonly sound: boolean
  /** How often charges are executed, relative to the same function's other candidates. */
  readonly executed: number
}

function hasFixedExit(graph: FlowGraph): boolean {
  for (let edge = 0; edge < graph.edges; edge++) {
    if (graph.to.at(edge) === EXIT && graph.kinds.at(edge) === EDGE.fixed) return true
  }
  return false
}

/**
 * How entry, exits and the points between hang together.
 *
 * - `joined`: entry and exits are one point like any other. The cheapest, and sound if the potential happens to be
 *   positive nowhere where somebody looks.
 * - `tied`: where somebody looks, the potential is tied to 0. Good where that is rare.
 * - `open`: every exit is charged, so that all potentials between can be lowered together until none is positive
 *   that somebody sees. Good where many look; impossible where exceptions leave the function.
 */
type Shape = 'joined' | 'tied' | 'open'

interface Bounds {
  readonly highest: number
  readonly lowest: number
}

/** Points of the graph: block `b` begins at `2b` and ends at `2b + 1`; all exits are one point behind them. */
class ChargePlacer {
  readonly #graph: FlowGraph
  readonly #frequencies: Frequencies
  readonly #looks: LookPoints
  readonly #freeEntry: boolean
  readonly #shape: Shape
  readonly #exit: number
  readonly #points: number
  readonly #parent: Int32Array
  // Links: blocks first, then edges, then ties of points to the exit.
  readonly #tail: number[] = []
  readonly #head: number[] = []
  readonly #weight: number[] = []
  readonly #inTree: Uint8Array

  constructor(
    graph: FlowGraph,
    frequencies: Frequencies,
    looks: LookPoints,
    freeEntry: boolean,
    shape: Shape,
  ) {
    this.#graph = graph
    this.#frequencies = frequencies
    this.#looks = looks
    this.#freeEntry = freeEntry
    this.#shape = shape
    this.#points = 2 * graph.blocks + 1
    this.#exit = 2 * graph.blocks
    for (let block = 0; block < graph.blocks; block++) this.#linkBlock(block)
    for (let edge = 0; edge < graph.edges; edge++) this.#linkEdge(edge)
    if (shape === 'tied') this.#tieLooks()
    if (shape !== 'open' && !freeEntry) this.#link(this.#exit, 0, Number.POSITIVE_INFINITY)
    this.#inTree = new Uint8Array(this.#weight.length)
    this.#parent = Int32Array.from({ length: this.#points }, (_, point) => point)
  }

  #link(tail: number, head: number, weight: number): void {
    this.#tail.push(tail)
    this.#head.push(head)
    this.#weight.push(weight)
  }

  #linkBlock(block: number): void {
    const frequency = this.#frequencies.blocks[block] as number
    const pad = this.#graph.roles.at(block) === ROLE.pad
    this.#link(2 * block, 2 * block + 1, pad ? Number.POSITIVE_INFINITY : frequency)
  }

  #linkEdge(edge: number): void {
    const to = this.#graph.to.at(edge)
    const target = to === EXIT ? this.#exit : 2 * to
    const outside = to === EXIT && this.#shape === 'open'
    const weight = edgeWeight(this.#graph.kinds.at(edge), this.#frequencies.edges[edge] as number)
    this.#link(2 * this.#graph.from.at(edge) + 1, target, outside ? CHORD : weight)
  }

  /** Ties what is seen to the exit. Checks come before the charges of their blocks then. */
  #tieLooks(): void {
    const tie = (point: number): void => this.#link(this.#exit, point, Number.POSITIVE_INFINITY)
    const { blocks, edges, calls } = this.#looks
    for (const [block, checked] of blocks.entries()) if (checked === 1) tie(2 * block)
    for (const [edge, checked] of edges.entries()) if (checked === 1) tie(2 * this.#graph.to.at(edge))
    for (const [block, looks] of calls.entries()) if (looks === 1) tie(2 * block + 1)
  }

  #cost(link: number): number {
    const { blocks, costs, advances } = this.#graph
    return link < blocks ? (costs[link] as number) + (advances[link] as number) : 0
  }

  place(): Candidate {
    this.#span()
    const potential = this.#potentials()
    const charges = this.#charges(potential)
    let seen = this.#seen(potential, charges.blocks)
    if (this.#shape === 'open') {
      const shift = this.#shift(potential, seen)
      for (let point = 0; point < this.#exit; point++) potential[point] = (potential[point] as number) + shift
      seen = { highest: seen.highest + shift, lowest: seen.lowest + shift }
    }
    const { blocks, edges } = this.#shape === 'open' ? this.#charges(potential) : charges
    const entry = potential[0] as number
    if (!this.#freeEntry) blocks[0] = (blocks[0] as number) + entry
    const placement: Placement = {
      blocks,
      edges,
      checksFirst: this.#shape === 'tied',
      entryCharge: this.#freeEntry ? entry : 0,
      maxOwed: Number.isFinite(seen.lowest) ? Math.max(-seen.lowest, 0) : 0,
    }
    const sound = seen.highest <= 0 && seen.lowest >= -MAX_OWED
    return { placement, sound, executed: this.#executed(blocks, edges) }
  }

  #executed(blocks: Float64Array, edges: Float64Array): number {
    let executed = 0
    for (const [block, charge] of blocks.entries()) {
      if (charge !== 0) executed += this.#frequencies.blocks[block] as number
    }
    for (const [edge, charge] of edges.entries()) {
      if (charge !== 0) executed += this.#frequencies.edges[edge] as number
    }
    return executed
  }

  /** What each chord has to charge. */
  #charges(potential: Float64Array): { blocks: Float64Array; edges: Float64Array } {
    const graph = this.#graph
    const blocks = new Float64Array(graph.blocks)
    const edges = new Float64Array(graph.edges)
    for (let link = 0; link < graph.blocks + graph.edges; link++) {
      if (this.#inTree[link] === 1) continue
      const tail = potential[this.#tail[link] as number] as number
      const head = potential[this.#head[link] as number] as number
      const charge = head - tail + this.#cost(link)
      if (link < graph.blocks) blocks[link] = charge
      else edges[link - graph.blocks] = charge
    }
    return { blocks, edges }
  }

  /** The bounds of the potential where a check or a callee sees it; empty bounds if nobody does. */
  #seen(potential: Float64Array, charges: Float64Array): Bounds {
    const { blocks, edges, calls } = this.#looks
    let highest = Number.NEGATIVE_INFINITY
    let lowest = Number.POSITIVE_INFINITY
    const see = (value: number): void => {
      highest = Math.max(highest, value)
      lowest = Math.min(lowest, value)
    }
    for (const [block, checked] of blocks.entries()) {
      if (checked === 1) see((potential[2 * block] as number) + (charges[block] as number))
    }
    for (const [edge, checked] of edges.entries()) {
      if (checked === 1) see(potential[2 * this.#graph.to.at(edge)] as number)
    }
    for (const [block, looks] of calls.entries()) if (looks === 1) see(potential[2 * block + 1] as number)
    return { highest, lowest }
  }

  /** What to add to all points but the exit, so that nobody sees a positive potential, and it spares a charge. */
  #shift(potential: Float64Array, seen: Bounds): number {
    if (!this.#freeEntry) return Math.min(-seen.highest, 0)
    const graph = this.#graph
    let best = -seen.highest
    let busiest = -1
    for (let edge = 0; edge < graph.edges; edge++) {
      if (graph.to.at(edge) !== EXIT) continue
      const needed = -(potential[2 * graph.from.at(edge) + 1] as number)
      const frequency = this.#frequencies.edges[edge] as number
      const allowed = needed <= -seen.highest && needed + seen.lowest >= -MAX_OWED
      if (!allowed || frequency <= busiest) continue
      busiest = frequency
      best = needed
    }
    return best
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
    const weight = this.#weight
    const order = Int32Array.from({ length: weight.length }, (_, link) => link)
    order.sort((a, b) => {
      const difference = (weight[b] as number) - (weight[a] as number)
      return difference > 0 ? 1 : difference < 0 ? -1 : a - b
    })
    for (const link of order) {
      if (weight[link] === CHORD) break
      const tail = this.#root(this.#tail[link] as number)
      const head = this.#root(this.#head[link] as number)
      if (tail === head) continue
      this.#parent[tail] = head
      this.#inTree[link] = 1
    }
  }

  /** Follows the tree from the exit and the entry, then from a point of every part that is tied to neither. */
  #potentials(): Float64Array {
    const links = this.#weight.length
    const firstLink = new Int32Array(this.#points).fill(-1)
    const nextLink = new Int32Array(2 * links).fill(-1)
    for (let link = 0; link < links; link++) {
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
      if (known[root] === 1) return
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
    for (let point = 0; point < this.#points; point++) spread(point)
    return potential
  }
}

/** Weight of a link that must not be in the tree. */
const CHORD = -1

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
