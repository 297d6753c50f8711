/**
 * Whether a function keeps the fuel counter in a local, and where local and global must agree.
 *
 * 1. Before whatever may look at the global (a call, a bulk instruction, an exit, a throw) it holds the counter.
 * 2. Wherever the local is read it holds the counter.
 * 3. Nothing is stored that is stored already on every way (`dirty`), nothing is loaded that no way reads
 *    (`live`).
 *
 * Two flow analyses on bits: `dirty` forward, `live` backward; stores count as reads.
 */
import type { CheckSites } from './check-sites.ts'
import type { DecodedBody } from './decoded-body.ts'
import { EDGE, EXIT, type FlowGraph } from './flow-graph.ts'
import type { Frequencies, Outgoing } from './frequency.ts'
import { OP } from './opcode-table.ts'
import type { Placement } from './placement.ts'

/** Where a cached counter is stored and loaded. */
export interface CounterCache {
  /** 1 for blocks that may begin with a counter that was not stored. */
  readonly dirtyIn: Uint8Array
  /** 1 for blocks that may end so. */
  readonly dirtyOut: Uint8Array
  /** 1 for blocks at whose beginning the local must hold the counter. */
  readonly liveIn: Uint8Array
  /** 1 for blocks at whose end the local must hold the counter. */
  readonly liveOut: Uint8Array
  /** The last instruction of each block that looks at the global, -1 if none does. */
  readonly lastUse: Int32Array
}

/** Whether the instruction looks at the global counter, or may. A tail call is an exit: its edge stores. */
export function usesGlobalCounter(opcode: number): boolean {
  switch (opcode) {
    case OP.call:
    case OP.callIndirect:
    case OP.callRef:
    case OP.throw:
    case OP.rethrow:
    case OP.throwRef:
    case OP.memoryGrow:
    case OP.memoryInit:
    case OP.memoryCopy:
    case OP.memoryFill:
    case OP.tableInit:
    case OP.tableCopy:
    case OP.tableGrow:
    case OP.tableFill:
      return true
    default:
      return false
  }
}

/** A charge on the global costs a load, a subtraction and a store that wait for each other. */
const GLOBAL_CHARGE = 2.5
/** A check on the global costs a load more than one on the local. */
const GLOBAL_CHECK = 1

/** Decides whether caching pays, and how. Undefined: charge the global. */
export function planCounterCache(
  body: DecodedBody,
  graph: FlowGraph,
  outgoing: Outgoing,
  frequencies: Frequencies,
  placement: Placement,
  checks: CheckSites,
): CounterCache | undefined {
  const saved = costOfGlobal(graph, frequencies, placement, checks)
  if (saved === 0) return undefined
  const cache = analyse(body, graph, outgoing, placement, checks)
  return saved > costOfCaching(graph, frequencies, placement, cache) ? cache : undefined
}

function costOfGlobal(
  graph: FlowGraph,
  frequencies: Frequencies,
  placement: Placement,
  checks: CheckSites,
): number {
  let cost = 0
  for (let block = 0; block < graph.blocks; block++) {
    const frequency = frequencies.blocks[block] as number
    if (placement.blocks[block] !== 0) cost += frequency * GLOBAL_CHARGE
    if (checks.blocks[block] === 1) cost += frequency * GLOBAL_CHECK
  }
  for (let edge = 0; edge < graph.edges; edge++) {
    if (placement.edges[edge] !== 0) cost += (frequencies.edges[edge] as number) * GLOBAL_CHARGE
  }
  return cost
}

function analyse(
  body: DecodedBody,
  graph: FlowGraph,
  outgoing: Outgoing,
  placement: Placement,
  checks: CheckSites,
): CounterCache {
  const lastUse = new Int32Array(graph.blocks).fill(-1)
  for (let at = 0; at < body.length; at++) {
    const block = graph.blockOf.at(at)
    if (block >= 0 && usesGlobalCounter(body.opcodes.at(at))) lastUse[block] = at
  }
  const dirtyIn = new Uint8Array(graph.blocks)
  const dirtyOut = new Uint8Array(graph.blocks)
  const liveIn = new Uint8Array(graph.blocks)
  const liveOut = new Uint8Array(graph.blocks)
  for (let changed = true; changed; ) {
    changed = false
    for (let block = 0; block < graph.blocks; block++) {
      const charged = placement.blocks[block] !== 0
      const out = lastUse[block] === -1 && (charged || dirtyIn[block] === 1) ? 1 : 0
      dirtyOut[block] = out
      const last = outgoing.first[block + 1] as number
      for (let slot = outgoing.first[block] as number; slot < last; slot++) {
        const edge = outgoing.list[slot] as number
        const to = graph.to.at(edge)
        if (to === EXIT || (out === 0 && placement.edges[edge] === 0) || dirtyIn[to] === 1) continue
        dirtyIn[to] = 1
        changed = true
      }
    }
  }
  for (let changed = true; changed; ) {
    changed = false
    for (let block = graph.blocks - 1; block >= 0; block--) {
      let out = 0
      const last = outgoing.first[block + 1] as number
      for (let slot = outgoing.first[block] as number; slot < last && out === 0; slot++) {
        const edge = outgoing.list[slot] as number
        const to = graph.to.at(edge)
        const used = placement.edges[edge] !== 0 || checks.edges[edge] === 1
        if (to === EXIT) out = graph.kinds.at(edge) !== EDGE.fixed && (used || dirtyOut[block] === 1) ? 1 : 0
        else out = used ? 1 : (liveIn[to] as number)
      }
      liveOut[block] = out
      let live = out
      if (lastUse[block] !== -1) live = dirtyIn[block] as number
      if (placement.blocks[block] !== 0 || checks.blocks[block] === 1) live = 1
      if (live !== liveIn[block]) changed = true
      liveIn[block] = live
    }
  }
  return { dirtyIn, dirtyOut, liveIn, liveOut, lastUse }
}

/** Loads and stores, weighted. Uses within one block count as one: only the first may have to store. */
function costOfCaching(
  graph: FlowGraph,
  frequencies: Frequencies,
  placement: Placement,
  cache: CounterCache,
): number {
  let cost = cache.liveIn[0] === 1 ? (frequencies.blocks[0] as number) : 0
  for (let block = 0; block < graph.blocks; block++) {
    const last = cache.lastUse[block] as number
    if (last === -1) continue
    const frequency = frequencies.blocks[block] as number
    if (cache.dirtyIn[block] === 1 || placement.blocks[block] !== 0) cost += frequency
    if (cache.liveOut[block] === 1) cost += frequency
  }
  for (let edge = 0; edge < graph.edges; edge++) {
    if (graph.to.at(edge) !== EXIT || graph.kinds.at(edge) === EDGE.fixed) continue
    const dirty = cache.dirtyOut[graph.from.at(edge)] === 1 || placement.edges[edge] !== 0
    if (dirty) cost += frequencies.edges[edge] as number
  }
  return cost
}
