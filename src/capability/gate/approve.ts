/**
 * Stage: a person decides, where the grant asks for it. The decision is bound to the digest of capability and
 * final arguments: one for anything else is none.
 */
import type { ApprovalDecision } from '../../ports/approver.ts'
import type { PendingCall, Refusal } from '../call.ts'
import type { Stop } from '../stop.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse } from './refuse.ts'

/** Undefined when approved. Fails closed. There is no timeout here: people take their time, within `idleMs`. */
export async function approve(
  passage: Passage,
  final: FinalValue,
  call: PendingCall,
  parts: GateParts,
  stop: Stop,
): Promise<Refusal | undefined> {
  const { approver } = parts
  const { name, capability } = passage
  if (approver === undefined) {
    return refuse('approval_rejected', `"${name}" needs an approval and nobody is there to give one.`)
  }
  const controller = new AbortController()
  let forget: (() => void) | undefined
  try {
    const digest = await parts.digest({ capability: name, args: final.view() })
    const asked = approver.approve(
      { callId: call.id, capability: name, effect: capability.effect, args: final.view(), digest },
      controller.signal,
    )
    asked.then(undefined, () => {}) // when stopped first, its rejection comes too late to matter
    const decision = await Promise.race<ApprovalDecision | undefined>([
      asked,
      new Promise((resolve) => {
        if (stop.stopped) resolve(undefined)
        forget = stop.onStop(() => resolve(undefined))
      }),
    ])
    if (stop.stopped) {
      controller.abort()
      return refuse('aborted', 'The run was stopped.')
    }
    if (decision?.decision === 'approved') {
      if (decision.digest === digest) return undefined
      return refuse(
        'approval_rejected',
        `The approval was given for something else than this call of "${name}".`,
      )
    }
    const reason =
      decision?.decision === 'rejected' && typeof decision.reason === 'string' ? `: ${decision.reason}` : '.'
    return refuse('approval_rejected', `This call of "${name}" was not approved${reason}`)
  } catch (cause) {
    parts.report({ callId: call.id, capability: name, code: 'approval_rejected', cause })
    return refuse('approval_rejected', `This call of "${name}" could not be approved.`)
  } finally {
    forget?.()
  }
}
