import { describe, expect, it } from 'vitest'
import { EDGE, EXIT, FlowGraph } from './flow-graph.ts'
import { estimateFrequencies, outgoingEdges } from './frequency.ts'
import { measuredFrequencies } from './measured-frequency.ts'

/** Counts of edges from counts of blocks; edges are `[from, to]`. */
function edgeCounts(blocks: readonly number[], edges: readonly (readonly [number, number])[]): number[] {
  const graph = new FlowGraph()
  for (const block of blocks.keys()) {
    graph.starts.push(block - 1)
    graph.costs.push(1)
    graph.advances.push(0)
    for (const list of [graph.loopEnds, graph.loopArities, graph.loopDepths, graph.roles]) list.push(0)
  }
  for (const [from, to] of edges) {
    graph.from.push(from)
    graph.to.push(to)
    graph.kinds.push(EDGE.before)
    graph.instructions.push(0)
  }
  const outgoing = outgoingEdges(graph)
  const frequencies = measuredFrequencies(graph, outgoing, estimateFrequencies(graph, outgoing), blocks)
  return Array.from(frequencies.edges, (count) => Math.round(count))
}

describe('counts of edges', () => {
  it('follow from those of blocks with one way in', () => {
    const diamond = [
      [0, 1],
      [0, 2],
      [1, 3],
      [2, 3],
      [3, EXIT],
    ] as const
    expect(edgeCounts([100, 30, 70, 100], diamond)).toEqual([30, 70, 30, 70, 100])
  })

  it('follow from what is left at either end', () => {
    // A loop: 1 is entered 100 times, and 900 times from 2, which leads back to it directly or past 3.
    const loop = [
      [0, 1],
      [1, 2],
      [2, 1],
      [2, 3],
      [3, 1],
      [2, EXIT],
    ] as const
    expect(edgeCounts([100, 1000, 1000, 300], loop)).toEqual([100, 1000, 600, 300, 300, 100])
  })

  it('are nothing where only rounding is left', () => {
    // A dispatch of 1 that seems to lead back to itself a few times.
    const dispatch = [
      [0, 1],
      [1, 2],
      [1, 3],
      [1, 1],
      [2, 1],
      [3, 1],
      [1, EXIT],
    ] as const
    const [, , , again] = edgeCounts([0, 1000, 600, 390], dispatch)
    expect(again).toBeLessThan(11)
  })

  it('are divided as guessed where several are open', () => {
    const twice = [
      [0, 1],
      [0, 1],
      [1, EXIT],
    ] as const
    expect(edgeCounts([100, 100], twice)).toEqual([50, 50, 100])
  })
})
