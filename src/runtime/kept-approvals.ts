/** What people decided over calls of kept runs, as their gates look it up. */
import type { Approvals } from '../capability/approvals.ts'
import type { GateOptions } from '../capability/gate.ts'
import type { PersonDecision } from '../capability/person-request.ts'

/** Of a kept run: calls that people decide over are named by the guest, which no other run has, and their numbers. */
export function approvalsOf(run: string, guestId: string, decisions: readonly PersonDecision[]): Approvals {
  const byRequest = new Map(decisions.map((decision) => [decision.request, decision]))
  return {
    about: ({ id }) => ({ id: `${guestId}#${id}`, run, node: '' }),
    decided: (request) => byRequest.get(request),
  }
}

/** For a gate that no call passes. */
export const ASK_NOBODY: Pick<GateOptions, 'approvals'> = { approvals: approvalsOf('', '', []) }
