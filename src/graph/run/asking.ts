/** Requests of nodes to people: how they are made, kept and answered. */
import { type PersonRequest, requestDigest } from '../../capability/person-request.ts'
import type { NodeState, RequestState } from './node-state.ts'
import type { RunContext } from './run-context.ts'
import type { Asked, Failure } from './run-event.ts'
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
  return { id: requestId(node), run, node: node.path, ...asked, ...(plan && { plan }) }
}

/** Names the next request of a node. */
export function requestId({ path, asks }: Pick<NodeState, 'path' | 'asks'>): string {
  return `${path}#${asks + 1}`
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
