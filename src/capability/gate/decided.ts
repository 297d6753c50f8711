/**
 * Stage: what people decided over a call, where the gate does not wait for them.
 *
 * Invariants
 * 1. A decision counts for the request whose digest it names, and that is made anew here from what the call is now: with
 *    other arguments, another rule or another version of the tool there is none, and it is asked for again.
 * 2. What a person put in the place of the arguments passes validation and authorisation like what a guest asks for, and
 *    is invoked exactly as they wrote it, or not at all.
 * 3. Before a person is asked, the call has passed everything else that could refuse it, and nothing of it is counted yet.
 */
import type { Digest } from '../../base/digest.ts'
import { CaissonError, type ErrorCode } from '../../base/errors.ts'
import { measureValue } from '../../values/copy-value.ts'
import { digestValue } from '../../values/digest-value.ts'
import { type Approvals, type AskedRequest, AwaitsDecision } from '../approvals.ts'
import type { PendingCall } from '../call.ts'
import { Refusal } from '../call.ts'
import type { Capability, Cost } from '../capability.ts'
import type { GrantRule } from '../grant.ts'
import { type PersonDecision, type PersonRequest, requestDigest } from '../person-request.ts'
import type { Stop } from '../stop.ts'
import { toolDigest } from '../tool-digest.ts'
import { authorise } from './authorise.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'
import { refuse } from './refuse.ts'
import { validateInput } from './validate-input.ts'

/** A call that people let pass. */
export interface Approved {
  /** What is invoked. */
  readonly final: FinalValue
  /** What its arguments take. */
  readonly bytes: number
  readonly by: PersonDecision
}

/** Never throws. */
export async function decided(
  passage: Passage,
  final: FinalValue,
  call: PendingCall,
  cost: Cost | undefined,
  parts: GateParts,
  approvals: Approvals,
  stop: Stop,
): Promise<Approved | Refusal> {
  const asked = askFor(passage, final, call, cost, approvals)
  const decision = approvals.decided(asked.digest)
  if (asked.expiresAtMs !== undefined && parts.clock.now() > asked.expiresAtMs)
    return refuse('approval_expired', `Nobody let this call of "${passage.name}" pass in time.`)
  if (decision === undefined) return new AwaitsDecision(asked)
  if (decision.decision === 'reject') return rejected(passage.name, decision)
  if (!('value' in decision)) return { final, bytes: call.bytes, by: decision }
  return edited(passage, decision.value, decision, call, parts, stop)
}

/** All that a person has to see of a call. */
export function askFor(
  passage: Passage,
  final: FinalValue,
  call: PendingCall,
  cost: Cost | undefined,
  approvals: Approvals,
): AskedRequest {
  const { capability, name, grant } = passage
  const request: PersonRequest = {
    kind: 'call',
    action: name,
    effect: capability.effect,
    args: final.view(),
    ...(cost !== undefined && { cost }),
    policy: policyOf(grant.rule),
    tool: versionOf(capability),
    ...approvals.about(call),
  }
  const expiresMs = typeof capability.approve === 'object' ? capability.approve.expiresMs : undefined
  return {
    ...request,
    digest: requestDigest(request),
    ...(expiresMs !== undefined && { expiresAtMs: call.askedAtMs + expiresMs }),
  }
}

async function edited(
  passage: Passage,
  value: unknown,
  by: PersonDecision,
  call: PendingCall,
  parts: GateParts,
  stop: Stop,
): Promise<Approved | Refusal> {
  const problem = (why: string): Refusal =>
    refuse('invalid_arguments', `What was put in the place of the arguments of "${passage.name}" ${why}.`)
  try {
    const { bytes } = measureValue(value, parts.argsLimits)
    const final = await validateInput(passage, value, call.id, parts, stop)
    if (final instanceof Refusal) return final
    if (digestValue(final.view()) !== digestValue(value))
      return problem('is something else after its validation: write what that makes of it')
    return authorise(passage, final, call.id, parts) ?? { final, bytes, by }
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    return problem(`cannot be taken: ${error.message}`)
  }
}

/** What is wrong with what a person put in the place of the arguments. Nothing is reported. */
export async function editProblem(
  passage: Passage,
  decision: PersonDecision & { readonly decision: 'approve' },
  call: PendingCall,
  parts: GateParts,
  stop: Stop,
): Promise<CaissonError | undefined> {
  const quiet: GateParts = { ...parts, report: () => {} }
  const found = await edited(passage, decision.value, decision, call, quiet, stop)
  if (!(found instanceof Refusal)) return undefined
  return new CaissonError(found.failure.code as ErrorCode, found.failure.message, {
    details: { id: call.id, capability: passage.name, request: decision.request },
  })
}

function rejected(name: string, decision: PersonDecision & { decision: 'reject' }): Refusal {
  const { by, reason, comment = '' } = decision
  const why = [reason, comment].filter((text) => text !== '').join(' ')
  return refuse(
    'approval_rejected',
    `This call of "${name}" was not approved${why === '' ? '.' : `: ${why}`}`,
    {
      by,
      reason,
      comment,
    },
  )
}

/** The conditions of a grant as data. That there are functions among them is part of it; what they do is not. */
function policyOf(rule: GrantRule): Readonly<Record<string, unknown>> {
  const parts = Object.entries(rule).map(([name, value]) => [
    name,
    typeof value === 'function' || name === 'within' ? true : value,
  ])
  return Object.fromEntries(parts.filter(([name]) => name !== 'capability'))
}

const versions = new WeakMap<Capability, Digest>()

function versionOf(capability: Capability): Digest {
  const known = versions.get(capability)
  if (known !== undefined) return known
  const version = toolDigest(capability)
  versions.set(capability, version)
  return version
}
