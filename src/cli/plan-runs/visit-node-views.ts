/** All nodes of a run as it is seen, those inside of others too. */
import type { NodeView } from '../../runtime/plans/run-view.ts'

/** Each before what is inside of it. */
export function visitNodeViews(nodes: readonly NodeView[], visit: (node: NodeView) => void): void {
  for (const node of nodes) {
    visit(node)
    visitNodeViews(node.nodes, visit)
  }
}
