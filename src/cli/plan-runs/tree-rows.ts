/**
 * The nodes of a run as rows, as many of them as there is room for: what is under way, waits or failed is told first,
 * the rest is counted.
 *
 * Invariants
 * 1. There are never more rows than there is room for.
 * 2. Every node is in a row of its own, or in the count of one.
 */
import type { NodeView } from '../../runtime/plans/run-view.ts'

export type NodeStatusShown = NodeView['status']

export type TreeRow =
  | { readonly depth: number; readonly node: NodeView; readonly name: string }
  /** Nodes that have no row. */
  | { readonly depth: number; readonly counts: ReadonlyMap<NodeStatusShown, number> }

/** @param room in rows, at least 1 */
export function treeRows(nodes: readonly NodeView[], room: number): readonly TreeRow[] {
  for (const fold of [showAll, closeSettled, foldRuns, foldQuiet]) {
    const rows = rowsOf(nodes, '', 0, fold)
    if (rows.length <= room) return rows
  }
  return clipped(rowsOf(nodes, '', 0, foldQuiet), room)
}

const QUIET: ReadonlySet<NodeStatusShown> = new Set([
  'pending',
  'completed',
  'skipped',
  'compensated',
  'cancelled',
])

interface Fold {
  /** Whether what is inside of the node has rows. */
  opens(node: NodeView): boolean
  /** Siblings that are told together are in one group; undefined for a node with a row of its own. */
  group(node: NodeView): string | undefined
  /** How many there have to be in a row. */
  readonly least: number
}

const showAll: Fold = { opens: () => true, group: () => undefined, least: 1 }
const closeSettled: Fold = { ...showAll, opens: ({ status }) => !QUIET.has(status) }
/** Those that stand beside one another and are as far. */
const foldRuns: Fold = {
  ...closeSettled,
  group: ({ status }) => (QUIET.has(status) ? (status === 'pending' ? 'pending' : 'ended') : undefined),
  least: 2,
}
const foldQuiet: Fold = {
  ...closeSettled,
  group: ({ status }) => (QUIET.has(status) ? 'all' : undefined),
  least: 1,
}

function rowsOf(nodes: readonly NodeView[], above: string, depth: number, fold: Fold): readonly TreeRow[] {
  const rows: TreeRow[] = []
  let group: NodeView[] = []
  const flush = (): void => {
    if (group.length >= fold.least && group.length > 0) rows.push({ depth, counts: countsOf(group) })
    else for (const node of group) rows.push({ depth, node, name: node.path.slice(above.length) })
    group = []
  }
  for (const node of nodes) {
    const key = fold.group(node)
    const [first] = group
    if (first !== undefined && fold.group(first) !== key) flush()
    if (key !== undefined) {
      group.push(node)
      continue
    }
    rows.push({ depth, node, name: node.path.slice(above.length) })
    if (fold.opens(node)) rows.push(...rowsOf(node.nodes, `${node.path}/`, depth + 1, fold))
  }
  flush()
  return rows
}

/** Those inside of them included: what has no row is counted. */
function countsOf(nodes: readonly NodeView[]): ReadonlyMap<NodeStatusShown, number> {
  const counts = new Map<NodeStatusShown, number>()
  const count = (node: NodeView): void => {
    counts.set(node.status, (counts.get(node.status) ?? 0) + 1)
    for (const inner of node.nodes) count(inner)
  }
  for (const node of nodes) count(node)
  return counts
}

function clipped(rows: readonly TreeRow[], room: number): readonly TreeRow[] {
  if (rows.length <= room) return rows
  const shown = rows.slice(0, Math.max(0, room - 1))
  const counts = new Map<NodeStatusShown, number>()
  const add = (status: NodeStatusShown, more: number): void => {
    counts.set(status, (counts.get(status) ?? 0) + more)
  }
  for (const row of rows.slice(shown.length)) {
    if ('node' in row) add(row.node.status, 1)
    else for (const [status, more] of row.counts) add(status, more)
  }
  return [...shown, { depth: 0, counts }]
}
