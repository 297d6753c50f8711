/** Which functions can come back to themselves, directly or through others. */
import type { CallGraph } from './call-graph.ts'

/** 1 for every node that lies on a cycle (Tarjan's algorithm, without recursion). */
export function cyclicNodes(graph: CallGraph): Uint8Array {
  const cyclic = new Uint8Array(graph.nodes)
  const number = new Int32Array(graph.nodes).fill(-1)
  const low = new Int32Array(graph.nodes)
  const onStack = new Uint8Array(graph.nodes)
  const next = graph.first.slice()
  const path: number[] = []
  const stack: number[] = []
  let counter = 0
  const enter = (node: number): void => {
    number[node] = counter
    low[node] = counter++
    onStack[node] = 1
    stack.push(node)
    path.push(node)
  }
  for (let root = 0; root < graph.nodes; root++) {
    if (number[root] !== -1) continue
    enter(root)
    while (path.length > 0) {
      const node = path[path.length - 1] as number
      const slot = next[node] as number
      if (slot < (graph.first[node + 1] as number)) {
        next[node] = slot + 1
        const to = graph.list[slot] as number
        if (to === node) cyclic[node] = 1
        if (number[to] === -1) enter(to)
        else if (onStack[to] === 1) low[node] = Math.min(low[node] as number, number[to] as number)
        continue
      }
      path.pop()
      const parent = path[path.length - 1]
      if (parent !== undefined) low[parent] = Math.min(low[parent] as number, low[node] as number)
      if (low[node] !== number[node]) continue
      const alone = stack[stack.length - 1] === node
      for (let member = stack.pop(); member !== undefined; member = stack.pop()) {
        onStack[member] = 0
        if (!alone) cyclic[member] = 1
        if (member === node) break
      }
    }
  }
  return cyclic
}
