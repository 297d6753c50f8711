/**
 * What people decided over the calls of a guest, for a gate that does not wait for them: a call that nobody has decided
 * over yet is left where it is, and asked for.
 */
import type { Digest } from '../base/digest.ts'
import type { PendingCall } from './call.ts'
import { Refusal } from './call.ts'
import type { PersonDecision, PersonRequest } from './person-request.ts'

/** What the host knows of decisions. Neither function may throw. */
export interface Approvals {
  /** What names the request of a call among all others, and what the host adds to it. */
  about(call: PendingCall): Pick<PersonRequest, 'id' | 'run' | 'node' | 'plan' | 'policy' | 'note'>
  /** What was decided over the request with exactly this digest. */
  decided(request: Digest): PersonDecision | undefined
}

/** A request as it is shown, with what decisions name. */
export interface AskedRequest extends PersonRequest {
  /** Digest of all else that stands here, but for the time. */
  readonly digest: Digest
  /** Milliseconds since the epoch, after which nobody may decide any more. */
  readonly expiresAtMs?: number
}

/** A pending call, with what a person is asked before it is made, if one is. */
export interface WaitingCall extends PendingCall {
  readonly approval?: AskedRequest
}

/** A call that waits for a person. Whoever does not know of such takes it for a refusal. */
export class AwaitsDecision extends Refusal {
  readonly asked: AskedRequest

  constructor(asked: AskedRequest) {
    super({
      code: 'approval_rejected',
      message: `"${asked.action ?? ''}" needs an approval, and nobody has given one.`,
    })
    this.asked = asked
  }
}
