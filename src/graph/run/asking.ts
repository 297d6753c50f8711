/** Requests of nodes to people: how they are made, kept and answered. */
import type { Digest } from '../../base/digest.ts'
import { type PersonDecision, type PersonRequest, requestDigest } from '../../capability/person-request.ts'
import type { NodeState, RequestDecision, RequestState } from './node-state.ts'
import type { AskedBefore, WantedRequest, WorkRequests } from './node-work.ts'
import type { RunContext } from './run-context.ts'
import type { Asked, Failure, NodeEvent, Waiting } from './run-event.ts'
import type { RunValues } from './run-values.ts'

export const EXPIRED: Failure = {
  class: 'timeout',
  code: 'approval_expired',
  message: 'Nobody has decided in time.',
}

/** What a node asks, with what names it among all other requests. */
export function questionOf(
  { run, state }: Pick<RunContext, 'run' | 'state'>,
  node: NodeState,
  asked: Pick<PersonRequest, 'kind' | 'question' | 'args'>,
): PersonRequest {
  const plan = state.proposal?.plan
  return {
    id: requestId(state, node.path, node.asks + 1),
    run,
    node: node.path,
    ...asked,
    ...(plan && { plan }),
  }
}

/** Unlike that of any other run, one of the same name that was there before included: what was decided then is over. */
function requestId(
  { proposal }: Pick<RunContext['state'], 'proposal'>,
  path: string,
  number: number,
): string {
  return `${proposal?.id ?? ''}/${path}#${number}`
}

/** @throws CaissonError as `RunValues.keep` */
export async function askedOf(
  values: RunValues,
  request: PersonRequest,
  expiresAtMs: number | undefined,
): Promise<Asked> {
  const shown = await values.keep(request)
  return { request: requestDigest(request), shown, ...(expiresAtMs !== undefined && { expiresAtMs }) }
}

/** What a piece of work of a node asks people. @param path with `#undo` where it undoes the node */
export async function requestsFor(
  { run, state, values }: Pick<RunContext, 'run' | 'state' | 'values'>,
  node: NodeState,
  path: string,
): Promise<WorkRequests> {
  const before: AskedBefore[] = []
  for (const { request: digest, shown, decision, used } of node.requests.values()) {
    const request = (await values.load(shown)) as PersonRequest
    const counts = decision !== undefined && used
    before.push({
      digest,
      request,
      decision: counts ? await decisionOf(values, digest, decision) : undefined,
    })
  }
  const plan = state.proposal?.plan
  return {
    before,
    about: (number) => ({
      id: requestId(state, path, node.asks + 1 + number),
      run,
      node: path,
      ...(plan && { plan }),
    }),
  }
}

async function decisionOf(
  values: RunValues,
  request: Digest,
  { by, approved, comment, reason, value }: RequestDecision,
): Promise<PersonDecision> {
  const common = { request, by, comment }
  if (!approved) return { ...common, decision: 'reject', reason }
  return { ...common, decision: 'approve', ...(value && { value: await values.load(value) }) }
}

/** Writes down that people are asked. */
export async function ask(
  { values, emit }: Pick<RunContext, 'values'> & { readonly emit: (event: NodeEvent) => void },
  { path }: NodeState,
  wanted: readonly WantedRequest[],
  more: Omit<Extract<Waiting, { for: 'person' }>, 'for' | 'asked'> = {},
): Promise<void> {
  const asked: Asked[] = []
  for (const { request, expiresAtMs } of wanted) asked.push(await askedOf(values, request, expiresAtMs))
  emit({ node: path, type: 'node_waiting', waiting: { for: 'person', asked, ...more } })
}

/** Whether what was decided counts no more. */
export function isOver({ expiresAtMs }: Pick<RequestState, 'expiresAtMs'>, nowMs: number): boolean {
  return expiresAtMs !== undefined && nowMs > expiresAtMs
}

/** As the plan, and a program, hear of it. */
export function rejection(what: string, by: string, reason: string, comment: string): Failure {
  const why = [reason, comment].filter((text) => text !== '').join(' ')
  const message = `${what} was rejected by ${by}${why === '' ? '.' : `: ${why}`}`
  return { class: 'denied', code: 'approval_rejected', message: message.slice(0, 2_000) }
}
