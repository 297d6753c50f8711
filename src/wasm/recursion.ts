/**
 * Which functions end recursion: they check fuel on entry, or count their depth.
 *
 * 1. Without the functions of `checked`, the call graph has no cycle; without those of `counted`, neither.
 * 2. `checked` is a subset of `counted`.
 * 3. Frames that no function counts take at most `MOST_UNCOUNTED_BYTES`, also in a long chain without recursion.
 * 4. In a module with tail calls every function of a cycle counts: one that leaves by a tail call takes its
 *    count along, and would be no cut.
 * 5. `order` names callees before callers, wherever the callee is not in `checked`.
 *
 * Functions that run often are spared where others of the same cycles serve. Frames of functions that do not
 * count are charged to those that do (`weights`): each counted frame pays for the largest chain of uncounted
 * ones that may follow it before the next counted one. What may stand at the very top of the stack, behind the
 * last counted frame, is `uncounted`.
 */
import type { CallGraph } from './call-graph.ts'
import { cyclicNodes } from './cyclic-nodes.ts'
import type { FunctionSummary } from './scan-module.ts'

/** The functions (by index without imports) that end recursion. */
export interface RecursionCuts {
  readonly checked: Uint8Array
  readonly counted: Uint8Array
  /** Native bytes that one frame of each counted function stands for; 0 for all others. */
  readonly weights: Float64Array
  /** Native bytes that uncounted frames may take in addition, at most. */
  readonly uncounted: number
  /** All nodes of the call graph, callees first. */
  readonly order: Int32Array
}

/** Chains of functions that are spared from counting may take so many bytes: more would falsify the count. */
const SPARED_CHAIN_BYTES = 384
/** Of every so many calls, at least one makes a function worth to be spared from counting. */
const SPARED_SHARE = 20_000
/** Chains of uncounted functions take at most so many bytes; then one of them counts. */
const MOST_UNCOUNTED_BYTES = 65_536
/** Visited edges, in all, before functions are simply not spared any more. */
const SEARCH_BUDGET = 30_000_000

/**
 * Chooses the functions that end recursion.
 *
 * @param calls how often each defined function is called, relative to the others.
 */
export function cutRecursion(
  graph: CallGraph,
  summaries: readonly FunctionSummary[],
  calls: Float64Array,
): RecursionCuts {
  const cyclic = cyclicNodes(graph)
  const busiestFirst = [...calls.keys()].filter((index) => cyclic[index] === 1)
  busiestFirst.sort((a, b) => (calls[b] as number) - (calls[a] as number) || a - b)
  const cutter = new RecursionCutter(graph, summaries, cyclic)
  let total = 0
  for (const count of calls) total += count
  const tailCalls = summaries.some((summary) => summary.tailCalls)
  for (const index of tailCalls ? [] : busiestFirst) {
    if ((calls[index] as number) * SPARED_SHARE >= total) cutter.spare(index, SPARED_CHAIN_BYTES)
  }
  const counted = cutter.cuts.slice(0, graph.functions)
  for (const index of busiestFirst) cutter.spare(index, Number.POSITIVE_INFINITY)
  const checked = cutter.cuts.slice(0, graph.functions)
  countInLongChains(graph, summaries, counted)
  const frames = chainFrames(graph, summaries, counted)
  return {
    checked,
    counted,
    weights: frames.weights,
    uncounted: frames.uncounted,
    order: calleesFirst(graph, checked),
  }
}

/** Starts with every cyclic function as a cut and takes back those that are not needed. */
class RecursionCutter {
  readonly cuts: Uint8Array
  readonly #graph: CallGraph
  readonly #summaries: readonly FunctionSummary[]
  readonly #callers: Adjacency
  readonly #cyclic: Uint8Array
  readonly #seen: Int32Array
  /** Bytes of the longest chain of spared functions that ends in, and that begins with, each spared one. */
  readonly #above: Float64Array
  readonly #below: Float64Array
  #stamp = 0
  #budget = SEARCH_BUDGET

  constructor(graph: CallGraph, summaries: readonly FunctionSummary[], cyclic: Uint8Array) {
    this.#graph = graph
    this.#summaries = summaries
    this.#cyclic = cyclic
    this.#callers = reverse(graph)
    this.cuts = cyclic.slice()
    this.cuts.fill(0, graph.functions)
    this.#seen = new Int32Array(graph.nodes)
    this.#above = new Float64Array(graph.nodes)
    this.#below = new Float64Array(graph.nodes)
  }

  /**
   * Takes `index` out of the cuts, unless a cycle without any cut would appear, or a chain of more than
   * `chainBytes`.
   */
  spare(index: number, chainBytes: number): void {
    if (this.cuts[index] === 0 || this.#reachesItself(index)) return
    const frame = this.#frame(index)
    const above = this.#longest(index, this.#callers, this.#above)
    const below = this.#longest(index, this.#graph, this.#below)
    if (above + frame + below > chainBytes) return
    this.cuts[index] = 0
    this.#raise(index, above, this.#graph, this.#above)
    this.#raise(index, below, this.#callers, this.#below)
  }

  #frame(node: number): number {
    return this.#summaries[node]?.frameBytes ?? 0
  }

  /** Whether the node is part of chains: on a cycle, and spared or a hub. */
  #isSpared(node: number): boolean {
    return this.#cyclic[node] === 1 && this.cuts[node] === 0
  }

  /** The longest chain through the spared neighbours of `node`, itself left out. */
  #longest(node: number, neighbours: Adjacency, chains: Float64Array): number {
    let longest = 0
    for (let slot = neighbours.first[node] as number; slot < (neighbours.first[node + 1] as number); slot++) {
      const other = neighbours.list[slot] as number
      if (this.#isSpared(other)) longest = Math.max(longest, chains[other] as number)
    }
    return longest
  }

  /** Enters the chain of a newly spared node, and makes those that go on from it longer. */
  #raise(origin: number, beyond: number, onward: Adjacency, chains: Float64Array): void {
    chains[origin] = beyond + this.#frame(origin)
    const stack = [origin]
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      for (let slot = onward.first[node] as number; slot < (onward.first[node + 1] as number); slot++) {
        const to = onward.list[slot] as number
        if (!this.#isSpared(to)) continue
        this.#budget--
        const chain = (chains[node] as number) + this.#frame(to)
        if (chain <= (chains[to] as number)) continue
        chains[to] = chain
        stack.push(to)
      }
    }
  }

  #reachesItself(origin: number): boolean {
    const { first, list } = this.#graph
    this.#stamp++
    const stack = [origin]
    for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
      for (let slot = first[node] as number; slot < (first[node + 1] as number); slot++) {
        const to = list[slot] as number
        if (to === origin || --this.#budget < 0) return true
        if (this.#seen[to] === this.#stamp || this.cuts[to] === 1) continue
        this.#seen[to] = this.#stamp
        stack.push(to)
      }
    }
    return false
  }
}

interface Adjacency {
  readonly first: Int32Array
  readonly list: Int32Array
}

/** The same edges by their targets. */
function reverse(graph: CallGraph): Adjacency {
  const first = new Int32Array(graph.nodes + 1)
  for (const to of graph.list) first[to + 1] = (first[to + 1] as number) + 1
  for (let node = 0; node < graph.nodes; node++) {
    first[node + 1] = (first[node + 1] as number) + (first[node] as number)
  }
  const next = first.slice()
  const list = new Int32Array(graph.list.length)
  for (let node = 0; node < graph.nodes; node++) {
    for (let slot = graph.first[node] as number; slot < (graph.first[node + 1] as number); slot++) {
      const to = graph.list[slot] as number
      const place = next[to] as number
      list[place] = node
      next[to] = place + 1
    }
  }
  return { first, list }
}

/** Nodes in an order in which every callee that is no cut stands before its callers. */
function calleesFirst(graph: CallGraph, cuts: Uint8Array): Int32Array {
  const order = new Int32Array(graph.nodes)
  const entered = new Uint8Array(graph.nodes)
  const next = graph.first.slice()
  let length = 0
  for (let root = 0; root < graph.nodes; root++) {
    if (entered[root] === 1) continue
    entered[root] = 1
    const path = [root]
    while (path.length > 0) {
      const node = path[path.length - 1] as number
      const slot = next[node] as number
      if (slot === (graph.first[node + 1] as number)) {
        order[length++] = node
        path.pop()
        continue
      }
      next[node] = slot + 1
      const to = graph.list[slot] as number
      // Cuts are entered from the outer loop only: reached from here they could stand before their callees.
      if (entered[to] === 1 || cuts[to] === 1) continue
      entered[to] = 1
      path.push(to)
    }
  }
  return order
}

/** Makes a function count wherever the chain of uncounted frames below it has grown too long. */
function countInLongChains(
  graph: CallGraph,
  summaries: readonly FunctionSummary[],
  counted: Uint8Array,
): void {
  const chains = new Float64Array(graph.nodes)
  for (const node of calleesFirst(graph, counted)) {
    let longest = 0
    for (let slot = graph.first[node] as number; slot < (graph.first[node + 1] as number); slot++) {
      const to = graph.list[slot] as number
      if (counted[to] !== 1) longest = Math.max(longest, chains[to] as number)
    }
    chains[node] = longest + (summaries[node]?.frameBytes ?? 0)
    if (node < graph.functions && (chains[node] as number) > MOST_UNCOUNTED_BYTES) counted[node] = 1
  }
}

/** Sums up frames along chains of functions that do not count. */
function chainFrames(
  graph: CallGraph,
  summaries: readonly FunctionSummary[],
  counted: Uint8Array,
): { weights: Float64Array; uncounted: number } {
  const order = calleesFirst(graph, counted)
  const isCounted = (node: number): boolean => counted[node] === 1
  const frameOf = (node: number): number => summaries[node]?.frameBytes ?? 0
  // The largest chain of uncounted frames below each node: one that ends, and one that meets a counted function.
  const ending = new Float64Array(graph.nodes)
  const meeting = new Float64Array(graph.nodes).fill(-1)
  let uncounted = 0
  for (const node of order) {
    for (let slot = graph.first[node] as number; slot < (graph.first[node + 1] as number); slot++) {
      const to = graph.list[slot] as number
      if (isCounted(to)) {
        meeting[node] = Math.max(meeting[node] as number, 0)
        continue
      }
      ending[node] = Math.max(ending[node] as number, frameOf(to) + (ending[to] as number))
      const through = meeting[to] as number
      if (through >= 0) meeting[node] = Math.max(meeting[node] as number, frameOf(to) + through)
    }
    const own = isCounted(node) ? 0 : frameOf(node)
    uncounted = Math.max(uncounted, own + Math.max(ending[node] as number, meeting[node] as number))
  }
  const weights = new Float64Array(graph.functions)
  for (let index = 0; index < graph.functions; index++) {
    if (isCounted(index)) weights[index] = frameOf(index) + Math.max(meeting[index] as number, 0)
  }
  return { weights, uncounted }
}
