/**
 * Stage: what a guest sees of a failure. By default the code and a sentence that says nothing; the message of
 * an error can hold paths, statements, secrets. What may be shown is what the definition exposes.
 */
import { CaissonError } from '../../base/errors.ts'
import { Refusal } from '../call.ts'
import type { Capability } from '../capability.ts'
import type { GateParts } from './gate-parts.ts'
import { boundFailure, refuse } from './refuse.ts'

/** Never throws, whatever was thrown and however `expose` behaves. */
export function redact(capability: Capability, error: unknown, callId: number, parts: GateParts): Refusal {
  const { name, expose } = capability
  let shown: CaissonError | undefined
  try {
    if (typeof expose === 'function') {
      const exposed = expose(error)
      if (CaissonError.is(exposed)) shown = exposed
    } else if (expose !== undefined && CaissonError.is(error) && expose.includes(error.code)) {
      shown = error
    }
    if (shown !== undefined) {
      const failure = boundFailure(shown.code, String(shown.message), shown.details)
      parts.report({ callId, capability: name, code: shown.code, cause: error })
      return new Refusal(failure)
    }
  } catch {
    // A hostile error or a broken `expose`: nothing of it is shown.
  }
  parts.report({ callId, capability: name, code: 'capability_failed', cause: error })
  return refuse('capability_failed', `The capability "${name}" failed.`)
}
