/**
 * Whether a person has to decide over a call: because its grant says so, its capability, or the host for all calls with
 * such an effect. Fails closed: a demand that cannot be evaluated is one.
 */
import { CaissonError } from '../../base/errors.ts'
import type { ApprovalDemand, Capability, Effect } from '../capability.ts'
import type { FinalValue } from './final-value.ts'
import type { GateParts } from './gate-parts.ts'
import type { Passage } from './passage.ts'

export function demandsApproval(
  passage: Passage,
  final: FinalValue,
  callId: number,
  parts: GateParts,
): boolean {
  if (alwaysDemands(passage, parts.approveEffects)) return true
  const { approve, cost } = passage.capability
  if (approve === undefined || approve === true) return false
  try {
    if (approve.when !== undefined && approve.when(final.view()) !== false) return true
    return approve.above !== undefined && isAbove(approve.above, cost?.(final.view()) ?? {})
  } catch (cause) {
    parts.report({ callId, capability: passage.name, code: 'approval_rejected', cause })
    return true
  }
}

/** Whether it has to whatever the arguments are. */
function alwaysDemands(
  { grant, capability }: Pick<Passage, 'grant' | 'capability'>,
  effects: ReadonlySet<Effect>,
): boolean {
  return grant.rule.approve === true || isUnconditional(capability) || effects.has(capability.effect)
}

/**
 * Somebody must be there to ask where it is certain that a person has to decide.
 * @throws CaissonError `invalid_argument`
 */
export function checkAskable({ name, grant, capability }: Passage, parts: GateParts): void {
  if (!alwaysDemands({ grant, capability }, parts.approveEffects)) return
  if (capability.sync === true)
    throw askNobody(name, `"${name}" needs approvals, and is answered inside a turn: nobody can be asked.`)
  if (parts.approver !== undefined || parts.approvals !== undefined) return
  throw askNobody(
    name,
    `"${name}" needs approvals, and there is no approver and nobody else to ask: give one, or keep the run in a store.`,
  )
}

function askNobody(capability: string, message: string): CaissonError {
  return new CaissonError('invalid_argument', message, { details: { capability } })
}

function isUnconditional({ approve }: Capability): boolean {
  return (
    approve === true || (approve !== undefined && approve.when === undefined && approve.above === undefined)
  )
}

function isAbove(
  above: NonNullable<Exclude<ApprovalDemand, true>['above']>,
  cost: Readonly<Record<string, number>>,
): boolean {
  // Not "greater": what is no number is above everything.
  return Object.entries(above).some(
    ([unit, most]) => !(((Object.hasOwn(cost, unit) ? cost[unit] : 0) as number) <= most),
  )
}
