/**
 * What the work of nodes asks people, between the requests of a plan and those of gates and kept runs.
 *
 * Invariants
 * 1. What was decided over a request of the plan counts for the call that it shows, and for nothing else: the gate makes
 *    the request anew from what the call is now, and a kept run has one of its own, which that of the plan names.
 * 2. What cannot be gone on with as it was decided is asked for again, under another id: nobody decides twice over one.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError } from '../../base/errors.ts'
import type { Approvals, AskedRequest, WaitingCall } from '../../capability/approvals.ts'
import type { PersonDecision, PersonRequest } from '../../capability/person-request.ts'
import type {
  CallWork,
  ProgramWork,
  WantedRequest,
  WorkEnd,
  WorkRequests,
} from '../../graph/run/node-work.ts'

/**
 * For the gate of calls of nodes.
 * @param works by the numbers of the calls that they make
 * @param policyOf the rules of the plan under which a node calls a capability
 */
export function approvalsOfCalls(works: ReadonlyMap<number, CallWork>, policyOf: PolicyOf): Approvals {
  return {
    about({ id, capability }) {
      const work = works.get(id)
      // No node makes this call: nobody can have decided over it.
      if (work === undefined) return { id: '', run: '', node: '' }
      const { before, about } = work.requests
      const [known] = before
      const { note } = known?.request ?? {}
      return {
        ...about(0),
        policy: policyOf(work.path, capability),
        ...(known && { id: known.request.id }),
        ...(note !== undefined && { note }),
      }
    },
    decided(request) {
      for (const { requests } of works.values())
        for (const { digest, decision } of requests.before) if (digest === request) return decision
      return undefined
    },
  }
}

/** The rules of a plan for the calls of a capability by the node at a path, as data. */
export type PolicyOf = (path: string, capability: string) => unknown

/** What was decided over the call of a node. */
export function decisionOf({ before }: WorkRequests): PersonDecision | undefined {
  return before[0]?.decision
}

/** A call of a node asks. @param note why it is asked again, where what a person wrote cannot be taken */
export function asksOfCall(asked: AskedRequest, { before, about }: WorkRequests, note?: string): WorkEnd {
  const { digest, expiresAtMs, ...request } = asked
  const known = before.find((one) => one.digest === digest && one.decision === undefined)
  if (known !== undefined && note === undefined)
    return { end: 'asks', asked: [{ request: known.request, expiresAtMs }] }
  return { end: 'asks', asked: [{ request: anew(request, about(0), note), expiresAtMs }] }
}

/**
 * The calls of a program ask.
 * @param notes by the requests of its own run: why what a person wrote there cannot be taken
 */
export function asksOfProgram(
  pending: readonly WaitingCall[],
  { path, requests: { before, about } }: Pick<ProgramWork, 'path' | 'requests'>,
  policyOf: PolicyOf,
  notes: ReadonlyMap<Digest, string>,
): readonly WantedRequest[] {
  const asked = pending.flatMap(({ approval }) => approval ?? [])
  let fresh = 0
  return asked.map(({ digest, expiresAtMs, ...own }) => {
    const known = before.find(({ request, decision }) => request.within === digest && decision === undefined)
    if (known !== undefined) return { request: known.request, expiresAtMs }
    const names = about(fresh)
    fresh += 1
    const policy = policyOf(path, own.action ?? '')
    return { request: { ...anew(own, names, notes.get(digest)), policy, within: digest }, expiresAtMs }
  })
}

/** What was decided over calls of a program, as its own run takes it. */
export function decisionsOfProgram({ before }: WorkRequests): readonly PersonDecision[] {
  return before.flatMap(({ request: { within }, decision }) =>
    within === undefined || decision === undefined ? [] : [{ ...decision, request: within }],
  )
}

/** The request that a kept run does not take a decision over: it was used already, is void, or cannot be taken so. */
export function refusedRequest(error: unknown, decisions: readonly PersonDecision[]): Digest | undefined {
  if (!CaissonError.is(error)) return undefined
  const { request } = error.details ?? {}
  return decisions.find((decision) => decision.request === request)?.request
}

function anew(
  { note: _before, ...request }: PersonRequest,
  names: ReturnType<WorkRequests['about']>,
  note: string | undefined,
): PersonRequest {
  return { ...request, ...names, ...(note !== undefined && { note }) }
}
