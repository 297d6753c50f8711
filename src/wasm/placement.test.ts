import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { EDGE, EXIT, FlowGraph, ROLE } from './flow-graph.ts'
import { estimateFrequencies, type Frequencies, outgoingEdges } from './frequency.ts'
import { type LookPoints, MAX_OWED, type Placement, placeCharges } from './placement.ts'

/** A graph by hand: blocks with costs, edges as `[from, to, kind]`. */
function graphOf(costs: readonly number[], edges: readonly (readonly [number, number, number])[]): FlowGraph {
  const graph = new FlowGraph()
  for (const [block, cost] of costs.entries()) {
    graph.starts.push(block - 1)
    graph.costs.push(cost)
    graph.advances.push(0)
    graph.loopEnds.push(0)
    graph.loopArities.push(0)
    graph.loopDepths.push(0)
    graph.roles.push(ROLE.plain)
  }
  for (const [from, to, kind] of edges) {
    graph.from.push(from)
    graph.to.push(to)
    graph.kinds.push(kind)
    graph.instructions.push(from)
    if (to !== EXIT && to <= from) graph.loopEnds.items[to] = Math.max(graph.loopEnds.at(to), from + 1)
  }
  return graph
}

const noLooks = (graph: FlowGraph): LookPoints => ({
  blocks: new Uint8Array(graph.blocks),
  edges: new Uint8Array(graph.edges),
  calls: new Uint8Array(graph.blocks),
})

function place(
  graph: FlowGraph,
  looks: LookPoints,
  freeEntry: boolean,
  frequencies?: Frequencies,
): Placement {
  const guess = estimateFrequencies(graph, outgoingEdges(graph))
  return placeCharges(graph, frequencies ?? guess, looks, freeEntry)
}

/** A random graph: every block leads on to later ones or back, by edges of random kinds. */
const graphs = fc
  .record({
    costs: fc.array(fc.nat(50), { minLength: 1, maxLength: 12 }),
    ways: fc.array(fc.tuple(fc.nat(11), fc.nat(12), fc.constantFrom(0, 0, 2, 2, 4)), { maxLength: 24 }),
  })
  .map(({ costs, ways }) => {
    const last = costs.length - 1
    const edges: [number, number, number][] = costs.map((_, block) => [
      block,
      block === last ? EXIT : block + 1,
      EDGE.before,
    ])
    for (const [from, to, kind] of ways) {
      if (from <= last && to <= last && from < last) edges.push([from, to === 0 ? EXIT : to, kind])
    }
    return graphOf(costs, edges)
  })

/** Walks the graph at random from the entry and compares charges with costs wherever somebody looks. */
function expectExact(graph: FlowGraph, looks: LookPoints, placement: Placement, choose: () => number): void {
  const outgoing = outgoingEdges(graph)
  let charged = placement.entryCharge
  let spent = 0
  const look = (): void => {
    expect(charged - spent).toBeLessThanOrEqual(0)
    expect(charged - spent).toBeGreaterThanOrEqual(-MAX_OWED)
  }
  let block = 0
  for (let step = 0; step < 2_000; step++) {
    if (placement.checksFirst && looks.blocks[block] === 1) look()
    charged += placement.blocks[block] as number
    if (!placement.checksFirst && looks.blocks[block] === 1) look()
    spent += graph.costs[block] as number
    if (looks.calls[block] === 1) look()
    const first = outgoing.first[block] as number
    const ways = (outgoing.first[block + 1] as number) - first
    // Leave in the end: the first way out of each block leads on.
    const edge = outgoing.list[first + (step > 1_900 ? 0 : choose() % ways)] as number
    charged += placement.edges[edge] as number
    if (looks.edges[edge] === 1) look()
    block = graph.to.at(edge)
    if (block === EXIT) {
      expect(charged).toBe(spent)
      return
    }
  }
}

describe('placeCharges', () => {
  it('charges what is spent on every way, and never ahead where somebody looks (invariants 1 and 2)', () => {
    const flags = fc.array(fc.boolean(), { minLength: 40, maxLength: 40 })
    fc.assert(
      fc.property(graphs, flags, fc.boolean(), fc.nat(), (graph, marks, freeEntry, seed) => {
        const looks = noLooks(graph)
        for (let block = 0; block < graph.blocks; block++) {
          looks.blocks[block] = marks[block] === true ? 1 : 0
          looks.calls[block] = marks[block + 13] === true ? 1 : 0
        }
        for (let edge = 0; edge < Math.min(graph.edges, 12); edge++) {
          const insertable = graph.kinds.at(edge) !== EDGE.fixed && graph.to.at(edge) !== EXIT
          looks.edges[edge] = insertable && marks[edge + 26] === true ? 1 : 0
        }
        const placement = place(graph, looks, freeEntry)
        let state = seed
        const choose = (): number => {
          state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
          return state >> 8
        }
        for (let walk = 0; walk < 5; walk++) expectExact(graph, looks, placement, choose)
      }),
      { numRuns: 400 },
    )
  })

  it('puts nothing on edges that hold no code (invariant 4)', () => {
    fc.assert(
      fc.property(graphs, fc.boolean(), (graph, freeEntry) => {
        const placement = place(graph, noLooks(graph), freeEntry)
        for (let edge = 0; edge < graph.edges; edge++) {
          if (graph.kinds.at(edge) === EDGE.fixed) expect(placement.edges[edge]).toBe(0)
        }
      }),
    )
  })

  it('lets callers pay for straight code', () => {
    const graph = graphOf(
      [5, 7],
      [
        [0, 1, EDGE.before],
        [1, EXIT, EDGE.before],
      ],
    )
    const placement = place(graph, noLooks(graph), true)
    expect([placement.entryCharge, ...placement.blocks, ...placement.edges]).toEqual([12, 0, 0, 0, 0])
  })

  it('charges a loop once a round, and the way that runs least where there is a choice', () => {
    const graph = graphOf(
      [1, 10, 20, 30, 2],
      [
        [0, 1, EDGE.before],
        [1, 2, EDGE.after],
        [1, 3, EDGE.taken],
        [2, 4, EDGE.before],
        [3, 4, EDGE.before],
        [4, 1, EDGE.taken],
        [4, EXIT, EDGE.before],
      ],
    )
    const frequencies = {
      blocks: Float64Array.of(1, 100, 99, 1, 100),
      edges: Float64Array.of(1, 99, 1, 99, 1, 99, 1),
    }
    const placement = place(graph, noLooks(graph), true, frequencies)
    const executed =
      [...placement.blocks].reduce(
        (sum, charge, at) => sum + (charge === 0 ? 0 : (frequencies.blocks[at] ?? 0)),
        0,
      ) +
      [...placement.edges].reduce(
        (sum, charge, at) => sum + (charge === 0 ? 0 : (frequencies.edges[at] ?? 0)),
        0,
      )
    expect(executed).toBeLessThanOrEqual(101)
  })

  it('ties what exceptions may leave (invariant 3)', () => {
    const graph = graphOf(
      [5, 7],
      [
        [0, EXIT, EDGE.fixed],
        [0, 1, EDGE.after],
        [1, EXIT, EDGE.before],
      ],
    )
    const placement = place(graph, noLooks(graph), false)
    expect(placement.blocks[0]).toBe(5)
    expect(
      (placement.blocks[1] as number) + (placement.edges[1] as number) + (placement.edges[2] as number),
    ).toBe(7)
  })
})
