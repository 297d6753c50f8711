/**
 * Where a function compares the fuel counter with zero.
 *
 * 1. Every cycle of the flow graph passes a check, or a call of a function that checks on each of its ways.
 * 2. No way through the function spends more than `MAX_UNCHECKED` and one block between two checks.
 * 3. Whoever catches an exception checks first.
 * 4. Where a check stands nothing is pending: the charges of this call so far equal its work so far.
 *
 * A loop needs no check of its own where 1 holds already. Otherwise the check goes to its head or to its ways
 * back, whichever runs less often. Nothing cheaper exists: what flows back to the head has to pass any other
 * cut as well.
 */
import { EDGE, EXIT, type FlowGraph, ROLE } from './flow-graph.ts'
import type { Frequencies, Outgoing } from './frequency.ts'

/** What a call of a function does to its caller's checks, in fuel. */
export interface CheckSummary {
  /** The most that a call spends without passing a check; -1 if it always passes one. */
  readonly through: number
  /** The most from the call to the first check; -1 if there is none. */
  readonly before: number
  /** The most from the last check to the return; -1 if there is none. */
  readonly after: number
}

/** The calls in one block, joined. */
export interface BlockCalls {
  /** Whether some call in it always passes a check. */
  readonly cuts: boolean
  /** The most that its calls spend without passing a check, those that always pass one left out. */
  readonly through: number
  /** The most that a call spends before its first check; -1 if no call has one. */
  readonly before: number
  /** The most that a call spends behind its last check; -1 if no call has one. */
  readonly after: number
}

/** The most fuel between two checks within one function, one block aside. */
const MAX_UNCHECKED = 1 << 18
/** A function that may spend more than this without a check gets one at its entry. */
const MAX_THROUGH = 1 << 14
/** Blocks are divided when they, with what they call, spend more than this. */
export const MAX_BLOCK: number = 1 << 16

/** The checks of one function. */
export interface CheckSites {
  /** 1 for blocks that begin with a check. */
  readonly blocks: Uint8Array
  /** 1 for edges that end with a check. */
  readonly edges: Uint8Array
  readonly summary: CheckSummary
  /** The most fuel between two checks that was found. */
  readonly longest: number
}

/** Several ways back share a check at the head unless checks on them run so much less often. */
const SPREAD = 0.7
const MAX_WAYS_BACK = 4
/** Visited edges per edge of the graph before loops simply get checks at their heads. */
const SEARCH_BUDGET = 48

/** Chooses the checks of one function. `entry` demands one at its entry: it is part of a recursion. */
export function chooseChecks(
  graph: FlowGraph,
  outgoing: Outgoing,
  frequencies: Frequencies,
  calls: ReadonlyMap<number, BlockCalls>,
  entry: boolean,
): CheckSites {
  const chooser = new CheckChooser(graph, outgoing, frequencies, calls)
  chooser.cutHandlers()
  if (entry) chooser.blocks[0] = 1
  chooser.cutLoops()
  return chooser.cutLongWays()
}

class CheckChooser {
  readonly blocks: Uint8Array
  readonly edges: Uint8Array
  readonly #graph: FlowGraph
  readonly #outgoing: Outgoing
  readonly #frequencies: Frequencies
  readonly #calls: ReadonlyMap<number, BlockCalls>
  readonly #seen: Int32Array
  readonly #stack: number[] = []
  readonly #waysBack: number[] = []
  #budget: number

  constructor(
    graph: FlowGraph,
    outgoing: Outgoing,
    frequencies: Frequencies,
    calls: ReadonlyMap<number, BlockCalls>,
  ) {
    this.#graph = graph
    this.#outgoing = outgoing
    this.#frequencies = frequencies
    this.#calls = calls
    this.blocks = new Uint8Array(graph.blocks)
    this.edges = new Uint8Array(graph.edges)
    this.#seen = new Int32Array(graph.blocks).fill(-1)
    this.#budget = 1024 + graph.edges * SEARCH_BUDGET
  }

  cutHandlers(): void {
    for (let block = 0; block < this.#graph.blocks; block++) {
      if (this.#graph.roles.at(block) === ROLE.handler) this.blocks[block] = 1
    }
  }

  /** Inner loops first: their checks often serve the outer ones. */
  cutLoops(): void {
    for (let block = this.#graph.blocks - 1; block >= 0; block--) {
      if (this.#graph.loopEnds.at(block) > 0 && !this.#isCut(block)) this.#cutLoop(block)
    }
  }

  #isCut(block: number): boolean {
    return this.blocks[block] === 1 || this.#calls.get(block)?.cuts === true
  }

  #cutLoop(head: number): void {
    if (this.#budget < 0) {
      this.blocks[head] = 1
      return
    }
    const ways = this.#findWaysBack(head)
    if (ways.length === 0) return
    let frequency = 0
    let insertable = true
    for (const edge of ways) {
      frequency += this.#frequencies.edges[edge] as number
      const kind = this.#graph.kinds.at(edge)
      if (kind !== EDGE.before && kind !== EDGE.taken) insertable = false
    }
    const bound = (this.#frequencies.blocks[head] as number) * SPREAD
    if (insertable && ways.length <= MAX_WAYS_BACK && frequency < bound) {
      for (const edge of ways) this.edges[edge] = 1
    } else {
      this.blocks[head] = 1
    }
  }

  /** The edges that lead back to `head` on ways inside its loop that no check cuts. */
  #findWaysBack(head: number): readonly number[] {
    const graph = this.#graph
    const end = graph.loopEnds.at(head)
    const ways = this.#waysBack
    ways.length = 0
    this.#stack.push(head)
    this.#seen[head] = head
    while (this.#stack.length > 0) {
      const block = this.#stack.pop() as number
      const last = this.#outgoing.first[block + 1] as number
      for (let slot = this.#outgoing.first[block] as number; slot < last; slot++) {
        this.#budget--
        const edge = this.#outgoing.list[slot] as number
        const to = graph.to.at(edge)
        if (this.edges[edge] === 1) continue
        if (to === head) ways.push(edge)
        else if (to > head && to < end && this.#seen[to] !== head && !this.#isCut(to)) {
          this.#seen[to] = head
          this.#stack.push(to)
        }
      }
    }
    return ways
  }

  /** Adds checks to ways that are too long, and sums up what callers need to know. */
  cutLongWays(): CheckSites {
    const ways = new LongWays(this.#graph, this.#outgoing, this.#calls, this)
    ways.settle()
    if (ways.throughEntry() > MAX_THROUGH) this.blocks[0] = 1
    const summary = ways.summarise()
    return { blocks: this.blocks, edges: this.edges, summary, longest: ways.longest }
  }
}

const NO_CALLS: BlockCalls = { cuts: false, through: 0, before: -1, after: -1 }

/** Passes over the graph until nothing changes, before every loop gets a check at its head. */
const MAX_PASSES = 8

/**
 * The longest ways between checks. Fuel since the entry and since the last check flows along the edges, maxima
 * meet at blocks; as every cycle is cut, some passes in the order of the blocks reach the fixed point.
 */
class LongWays {
  readonly #graph: FlowGraph
  readonly #outgoing: Outgoing
  readonly #calls: ReadonlyMap<number, BlockCalls>
  readonly #sites: { readonly blocks: Uint8Array; readonly edges: Uint8Array }
  /** Fuel since the entry where a block begins, on ways without a check; -1 if there is none. */
  readonly #fromEntry: Float64Array
  /** Fuel since the last check where a block begins; -1 if no way passes one. */
  readonly #fromCheck: Float64Array
  #changed = false
  #through = -1
  #before = -1
  #after = -1
  longest = 0

  constructor(
    graph: FlowGraph,
    outgoing: Outgoing,
    calls: ReadonlyMap<number, BlockCalls>,
    sites: { readonly blocks: Uint8Array; readonly edges: Uint8Array },
  ) {
    this.#graph = graph
    this.#outgoing = outgoing
    this.#calls = calls
    this.#sites = sites
    this.#fromEntry = new Float64Array(graph.blocks).fill(-1)
    this.#fromCheck = new Float64Array(graph.blocks).fill(-1)
    this.#fromEntry[0] = 0
  }

  /** Finds the fixed point, adding checks where a way is too long. */
  settle(): void {
    for (let pass = 0; pass < MAX_PASSES; pass++) {
      this.#pass()
      if (!this.#changed) return
    }
    for (let block = 0; block < this.#graph.blocks; block++) {
      if (this.#graph.loopEnds.at(block) > 0) this.#sites.blocks[block] = 1
    }
    this.#pass()
  }

  /** The most that a call spends on ways without any check. */
  throughEntry(): number {
    this.#pass()
    return this.#through
  }

  summarise(): CheckSummary {
    this.#through = -1
    this.#before = -1
    this.#after = -1
    this.#fromCheck.fill(-1)
    this.#fromEntry.fill(-1)
    this.#fromEntry[0] = 0
    this.settle()
    return { through: this.#through, before: this.#before, after: this.#after }
  }

  #pass(): void {
    this.#changed = false
    for (let block = 0; block < this.#graph.blocks; block++) {
      if (this.#graph.roles.at(block) !== ROLE.pad) this.#visit(block)
    }
  }

  #visit(block: number): void {
    const calls = this.#calls.get(block) ?? NO_CALLS
    const { blocks } = this.#sites
    const work = (this.#graph.costs[block] as number) + calls.through
    let entry = this.#fromEntry[block] as number
    let check = this.#fromCheck[block] as number
    if (block > 0 && Math.max(entry, check) + work > MAX_UNCHECKED) blocks[block] = 1
    if (blocks[block] === 1) {
      this.#arrive(entry, check)
      entry = -1
      check = 0
    }
    if (calls.before >= 0) this.#arrive(add(entry, work + calls.before), add(check, work + calls.before))
    entry = calls.cuts ? -1 : add(entry, work)
    check = calls.cuts ? -1 : add(check, work)
    if (calls.after >= 0) check = Math.max(check, work + calls.after)
    this.longest = Math.max(this.longest, check)
    this.#leave(block, entry, check)
  }

  /** A way ends at a check after so much fuel since the entry, or since the check before it. */
  #arrive(entry: number, check: number): void {
    this.#before = Math.max(this.#before, entry)
    this.longest = Math.max(this.longest, check)
  }

  #leave(block: number, entry: number, check: number): void {
    const last = this.#outgoing.first[block + 1] as number
    for (let slot = this.#outgoing.first[block] as number; slot < last; slot++) {
      const edge = this.#outgoing.list[slot] as number
      const to = this.#graph.to.at(edge)
      if (this.#sites.edges[edge] === 1) {
        this.#arrive(entry, check)
        this.#raise(to, -1, 0)
      } else {
        this.#raise(to, entry, check)
      }
    }
  }

  #raise(to: number, entry: number, check: number): void {
    if (to === EXIT) {
      this.#through = Math.max(this.#through, entry)
      this.#after = Math.max(this.#after, check)
      return
    }
    if (entry > (this.#fromEntry[to] as number)) {
      this.#fromEntry[to] = entry
      this.#changed = true
    }
    if (check > (this.#fromCheck[to] as number)) {
      this.#fromCheck[to] = check
      this.#changed = true
    }
  }
}

/** Adds fuel to a way, unless there is no such way. */
function add(way: number, fuel: number): number {
  return way < 0 ? -1 : way + fuel
}
