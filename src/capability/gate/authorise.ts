/** Stage: may this guest make this call with exactly these arguments, now? */
import type { Refusal } from '../call.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse } from './refuse.ts'

/** Undefined when allowed. Fails closed: a constraint that throws or answers anything but `true` refuses. */
export function authorise(
  passage: Passage,
  final: FinalValue,
  callId: number,
  parts: GateParts,
): Refusal | undefined {
  const revoked = checkRevoked(passage)
  if (revoked !== undefined) return revoked
  const { rule } = passage.grant
  if (rule.constrain === undefined) return undefined
  let decision: unknown
  try {
    decision = rule.constrain(final.view())
  } catch (cause) {
    parts.report({ callId, capability: passage.name, code: 'denied', cause })
    return refuse('denied', `A constraint forbids this call of "${passage.name}".`)
  }
  if (decision === true) return undefined
  const reason = typeof decision === 'string' ? `: ${decision}` : '.'
  return refuse('denied', `A constraint forbids this call of "${passage.name}"${reason}`)
}

/** Asked again after every wait: a grant may be taken back while a person thinks. */
export function checkRevoked(passage: Passage): Refusal | undefined {
  return passage.grant.revoked
    ? refuse('revoked', `The grant of "${passage.name}" was taken back.`)
    : undefined
}
