/**
 * What people, and the world outside, say to a run that waits: as events, which are checked before they are recorded.
 *
 * Invariants
 * 1. A decision names its request by the digest of exactly what was shown: without one, or with that of another run, of
 *    another node, of what was asked before or decided already, nothing is recorded.
 * 2. What is decided together is recorded whole, or not at all.
 * 3. After its time nobody decides over a request any more.
 * 4. Nothing here acts: the runner goes on from what was recorded, in whatever process.
 */
import { type Digest, isDigest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { AskedRequest } from '../../capability/approvals.ts'
import { type PersonDecision, type PersonRequest, requestDigest } from '../../capability/person-request.ts'
import { isOver } from './asking.ts'
import { checkName, checkText } from './check-text.ts'
import type { NodeState, RequestDecision, RequestState } from './node-state.ts'
import { isOpen, mismatch } from './requests.ts'
import type { NodeEvent, RunEvent } from './run-event.ts'
import type { RunState } from './run-state.ts'
import type { RunValues } from './run-values.ts'

/** What somebody says to a request. A decision can be withdrawn until it was used. */
export type Decision =
  | PersonDecision
  | { readonly request: Digest; readonly by: string; readonly decision: 'withdraw' }

/** Something that happened outside. */
export interface OutsideEvent {
  readonly name: string
  readonly value: unknown
  readonly by: string
}

/** What somebody said to a request. */
export interface RequestDecided {
  readonly by: string
  readonly approved: boolean
  /** Milliseconds since the epoch. */
  readonly atMs: number
  readonly comment?: string
  /** Of a rejection. */
  readonly reason?: string
  /** What stands in the place of what was shown, where they gave something. */
  readonly value?: unknown
}

/** A request that waits for somebody, with all that is shown. */
export interface OpenRequest extends AskedRequest {
  /** How it was decided, where the run has not gone on with that yet. */
  readonly decided?: RequestDecided
}

/**
 * The events of decisions.
 * @throws CaissonError `invalid_argument`, `approval_mismatch`, `approval_expired`, `invalid_transition`, and what
 *   keeping an edited value throws
 */
export async function decisionEvents(
  state: RunState,
  values: RunValues,
  decisions: readonly Decision[],
  nowMs: number,
): Promise<readonly RunEvent[]> {
  checkDecidable(state)
  const events: RunEvent[] = []
  const named = new Set<Digest>()
  for (const decision of decisions) {
    if (typeof decision !== 'object' || decision === null)
      throw new CaissonError('invalid_argument', 'A decision is an object.')
    const { node, request } = requestOf(state, decision)
    if (named.has(request.request))
      throw mismatch('The same request is decided twice at once.', request.request)
    named.add(request.request)
    events.push(await decisionEvent(values, node, request, decision, nowMs))
  }
  return events
}

function isDecidable({ status }: RunState): boolean {
  return status === 'running' || status === 'frozen' || status === 'compensating'
}

function checkDecidable(state: RunState): void {
  const { status } = state
  if (isDecidable(state)) return
  throw new CaissonError(
    'invalid_transition',
    `Nothing can be decided in a run that ${status === undefined ? 'does not exist' : `is ${status}`}.`,
    { details: { status: status ?? 'nothing' } },
  )
}

function requestOf(
  state: RunState,
  { request: digest, by }: Decision,
): { readonly node: NodeState; readonly request: RequestState } {
  checkName('by', by)
  if (!isDigest(digest)) {
    const open = askingNodes(state).flatMap(({ requests }) => [...requests.values()].filter(isOpen))
    throw new CaissonError(
      'invalid_argument',
      `A decision names its request by the digest of what was shown. ${open.length} are open.`,
      { details: { option: 'request', open: open.length } },
    )
  }
  for (const node of askingNodes(state)) {
    const request = node.requests.get(digest)
    if (request !== undefined) return { node, request }
  }
  throw mismatch('No request with this digest waits for a decision in this run.', digest)
}

/** Nodes that may ask people something, the one that is being undone among them. */
function askingNodes({ live, undoing }: RunState): readonly NodeState[] {
  return [...live.values(), ...(undoing === undefined ? [] : [undoing])]
}

async function decisionEvent(
  values: RunValues,
  { path }: NodeState,
  request: RequestState,
  decision: Decision,
  nowMs: number,
): Promise<NodeEvent> {
  const { by, request: digest } = decision
  if (decision.decision === 'withdraw') {
    if (request.decision === undefined || request.used)
      throw mismatch('There is no decision that could be taken back: none, or used already.', digest)
    return { node: path, type: 'node_withdrawn', request: digest, by }
  }
  if (!isOpen(request))
    throw mismatch('The request has been decided: take that back first, if it still can be.', digest)
  if (isOver(request, nowMs)) {
    throw new CaissonError('approval_expired', 'The time in which the request could be decided is over.', {
      details: { request: digest, expiresAtMs: request.expiresAtMs ?? 0 },
    })
  }
  const { comment = '' } = decision
  checkText('comment', comment)
  const common = {
    node: path,
    type: 'node_decided',
    request: digest,
    by,
    ...(comment && { comment }),
  } as const
  switch (decision.decision) {
    case 'approve': {
      const shown = (await values.load(request.shown)) as PersonRequest
      if (!('value' in decision)) {
        if (shown.kind === 'value')
          throw new CaissonError('invalid_argument', 'A value is asked for: give it as `value`.')
        return { ...common, approved: true }
      }
      return { ...common, approved: true, value: await values.keep(decision.value) }
    }
    case 'reject':
      checkText('reason', decision.reason)
      return { ...common, approved: false, reason: decision.reason }
    default:
      throw new CaissonError('invalid_argument', 'A decision is "approve", "reject" or "withdraw".')
  }
}

/**
 * The events of something that happened outside: every node that waits for it goes on.
 * @throws CaissonError `invalid_argument`, `unknown_event`, `invalid_transition`, and what keeping the value throws
 */
export async function outsideEvents(
  state: RunState,
  values: RunValues,
  { name, value, by }: OutsideEvent,
  nowMs: number,
): Promise<readonly RunEvent[]> {
  checkDecidable(state)
  checkName('name', name)
  checkName('by', by)
  const waiting = [...state.live.values()].filter(
    ({ waiting: what }) => what?.for === 'event' && what.name === name && !isOver(what, nowMs),
  )
  if (waiting.length === 0) {
    throw new CaissonError(
      'unknown_event',
      `Nothing in the run waits for an event "${name.slice(0, 100)}" now.`,
      { details: { event: name.slice(0, 100) } },
    )
  }
  const kept = await values.keep(value)
  return waiting.map(({ path }) => ({ node: path, type: 'node_woken', value: kept, by }))
}

/**
 * Everything that waits for people, in the order in which it was asked.
 * @throws CaissonError `corrupted` where what is kept of a request is not what was asked; `not_found`, `store_failed`
 */
export async function requestsOf(state: RunState, values: RunValues): Promise<readonly OpenRequest[]> {
  // In a run that fails or is cancelled what waits is about to be called off: nobody decides over it any more.
  if (!isDecidable(state)) return []
  const open: OpenRequest[] = []
  for (const { requests } of askingNodes(state)) {
    for (const { request: digest, shown, decision, used, expiresAtMs } of requests.values()) {
      if (used) continue
      const request = (await values.load(shown)) as PersonRequest
      if (requestDigest(request) !== digest)
        throw new CaissonError('corrupted', 'What a request shows is not what it was when it was asked.')
      open.push({
        ...request,
        digest,
        ...(expiresAtMs !== undefined && { expiresAtMs }),
        ...(decision && { decided: await decidedOf(decision, values) }),
      })
    }
  }
  return open
}

async function decidedOf(
  { by, approved, atMs, comment, reason, value }: RequestDecision,
  values: RunValues,
): Promise<RequestDecided> {
  return {
    by,
    approved,
    atMs,
    ...(comment !== '' && { comment }),
    ...(!approved && { reason }),
    ...(value !== undefined && { value: await values.load(value) }),
  }
}
