/** What `admit` of a gate gives: `invoke` and `conclude` go on from it. */
import type { PendingCall } from '../call.ts'
import type { FinalValue } from './final-value.ts'
import type { Passage } from './passage.ts'

/** A call that may be invoked: everything up to the intent is done. */
export interface Admission {
  readonly call: PendingCall
  readonly passage: Passage
  readonly final: FinalValue
  readonly idempotencyKey: string
}
