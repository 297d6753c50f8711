/**
 * Nodes that could not be undone, as a run that was compensated tells them.
 *
 * Invariant: the event is one small record, however many there are. The nodes themselves say it (`node_not_undone`), and
 * the fold has all of them; the event names the first and counts the rest.
 */
import type { NodeState } from './node-state.ts'
import type { RunEvent } from './run-event.ts'

/** Named in the event. */
const MOST_NAMED = 100

/** Paths of all of them, in the order in which the nodes began. */
export function leftUndone(nodes: Iterable<NodeState>): readonly string[] {
  const left: string[] = []
  for (const { status, path } of nodes) if (status === 'uncompensated') left.push(path)
  return left
}

export function compensatedEvent(nodes: Iterable<NodeState>): Extract<RunEvent, { type: 'compensated' }> {
  const left = leftUndone(nodes)
  const more = left.length - MOST_NAMED
  return { type: 'compensated', left: left.slice(0, MOST_NAMED), ...(more > 0 && { more }) }
}
