/**
 * Requests of nodes to people, as the journal has them: asked, decided, taken back, used.
 *
 * Invariants
 * 1. A decision stands for one request, by its digest: that of another one, or of none, is refused.
 * 2. What was decided is decided once; it can be taken back until the node goes on with it.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { NodeState, RequestState } from './node-state.ts'
import type { NodeEvent, Waiting } from './run-event.ts'

type Deciding = Extract<NodeEvent, { type: 'node_decided' | 'node_withdrawn' }>

/** @throws CaissonError `approval_mismatch` where a decision is over something else than what is asked */
export function checkDecided(node: NodeState | undefined, event: NodeEvent): void {
  if (event.type !== 'node_decided' && event.type !== 'node_withdrawn') return
  const request = node?.requests.get(event.request)
  if (request === undefined)
    throw mismatch('No request with this digest waits for a decision.', event.request)
  if (event.type === 'node_decided') {
    if (request.decision !== undefined)
      throw mismatch('The request has been decided: take that back first, if it still can be.', event.request)
  } else if (request.decision === undefined) {
    throw mismatch('Nobody has decided yet: there is nothing to take back.', event.request)
  } else if (request.used) {
    throw mismatch('The decision was used: it cannot be taken back any more.', event.request)
  }
}

/** What is asked now. Decisions that were made meanwhile over the same requests stand. */
export function noteAsked(node: NodeState, waiting: Waiting): void {
  if (waiting.for !== 'person') return
  node.instead = waiting.instead
  const before = new Map(node.requests)
  node.requests.clear()
  for (const asked of waiting.asked) {
    const known = before.get(asked.request)
    if (known === undefined) node.asks += 1
    const isOpen = known === undefined || known.used
    node.requests.set(asked.request, isOpen ? { ...asked, decision: undefined, used: false } : known)
  }
}

export function noteDecision(node: NodeState, event: Deciding, atMs: number): void {
  const request = node.requests.get(event.request)
  if (request === undefined) return
  if (event.type === 'node_withdrawn') {
    node.requests.set(event.request, { ...request, decision: undefined })
    return
  }
  const { by, approved, comment = '', reason = '', value } = event
  node.requests.set(event.request, { ...request, decision: { by, approved, comment, reason, value, atMs } })
}

/** The node goes on with all that was decided. */
export function useDecisions(node: NodeState): void {
  for (const [digest, request] of node.requests)
    if (request.decision !== undefined) node.requests.set(digest, { ...request, used: true })
}

export function hasUnusedDecision({ requests }: NodeState): boolean {
  for (const { decision, used } of requests.values()) if (decision !== undefined && !used) return true
  return false
}

/** Whether somebody can decide. */
export function isOpen({ decision, used }: RequestState): boolean {
  return decision === undefined && !used
}

/** When the first request that nobody decided is over, or the node goes on by itself. */
export function dueOfRequests({ requests, waiting }: NodeState): number | undefined {
  const times = [...requests.values()].filter(isOpen).map(({ expiresAtMs }) => expiresAtMs)
  if (waiting?.for === 'person') times.push(waiting.wakeAtMs)
  const known = times.filter((time) => time !== undefined)
  return known.length === 0 ? undefined : Math.min(...known)
}

export function mismatch(message: string, request: Digest): CaissonError {
  return new CaissonError('approval_mismatch', message, { details: { request } })
}
