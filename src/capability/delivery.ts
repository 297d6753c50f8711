/** An answer on its way to the guest, and what the driver must know about it. */
import { type AskedRequest, AwaitsDecision } from './approvals.ts'
import type { Answer, Refusal } from './call.ts'
import { FatalRefusal } from './gate/refuse.ts'

export interface Delivery {
  readonly answer: Answer
  /** Canonical size of what the guest receives, counted against `bytesIn`. */
  readonly bytes: number
  /** The run must end: what follows could not be recorded, or is another worker's to do. */
  readonly fatal: boolean
  /** There is no answer yet: a person is asked this. */
  readonly asked?: AskedRequest
}

/** The answer to a call that was refused or failed. */
export function refusedDelivery(id: number, refusal: Refusal): Delivery {
  return {
    answer: { id, ok: false, error: refusal.failure },
    bytes: refusal.failure.message.length,
    fatal: refusal instanceof FatalRefusal,
    ...(refusal instanceof AwaitsDecision && { asked: refusal.asked }),
  }
}
