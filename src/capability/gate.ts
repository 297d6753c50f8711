/**
 * The one gate. Every awaited call of every guest passes these stages in this order; `SyncCalls` (see
 * `sync-calls.ts`) passes the same ones inside a turn. (Arguments arrive decoded and bounded by the machine.)
 *
 *   admit     resolve, validate once to the final value, authorise, reserve budget and rate,
 *             deadline and abort, loop guard, approve, record the intent
 *             (where nobody waits for people, what they decided is looked up after "authorise", before anything is taken)
 *   invoke    lease, stop, revocation; a copy of exactly the final value; timeout; retry where allowed
 *   conclude  validate and bound the result, redact a failure, take its bytes, record the result
 *
 * Invariants
 * 1. What is authorised, approved, recorded and invoked is one value, which nothing changes in between.
 * 2. Nothing is invoked whose intent was not recorded; nothing is delivered whose result was not recorded.
 * 3. A call that was reserved stays counted, however it ends.
 * 4. `call` never rejects, and no promise of an implementation is left unhandled.
 * 5. A call that was at work when the run was stopped has an intent and no result: it is in doubt.
 * 6. The guest sees codes and redacted, bounded messages. Causes go to `report`.
 */
import type { CaissonError } from '../base/errors.ts'
import type { Approver } from '../ports/approver.ts'
import type { CallIntent, CallLog } from '../ports/call-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Lease } from '../ports/lease.ts'
import { digestValue } from '../values/digest-value.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from '../values/limits.ts'
import { type Approvals, type AskedRequest, AwaitsDecision } from './approvals.ts'
import type { Ledger } from './budget.ts'
import type { GuestCapability, PendingCall } from './call.ts'
import { Refusal } from './call.ts'
import type { Effect, InvokeContext } from './capability.ts'
import { type Delivery, refusedDelivery } from './delivery.ts'
import type { Admission } from './gate/admission.ts'
import { approve as askPerson } from './gate/approve.ts'
import { authorise, checkRevoked } from './gate/authorise.ts'
import { checkAnswer } from './gate/check-answer.ts'
import { checkStop } from './gate/check-stop.ts'
import { createConclude } from './gate/conclude.ts'
import { type Approved, askFor, decided, editProblem } from './gate/decided.ts'
import { checkAskable, demandsApproval } from './gate/demand.ts'
import type { FinalValue } from './gate/final-value.ts'
import { DEFAULT_VALIDATED_NODES, type GateParts, type ReportToHost } from './gate/gate-parts.ts'
import { LoopStage } from './gate/guard-loops.ts'
import { invoke } from './gate/invoke.ts'
import { createPassage, type Passage } from './gate/passage.ts'
import { recordIntent } from './gate/record.ts'
import { refuse } from './gate/refuse.ts'
import { reserve, wouldReserve } from './gate/reserve.ts'
import { resolve } from './gate/resolve.ts'
import type { Settled } from './gate/settled.ts'
import { validateInput } from './gate/validate-input.ts'
import type { GrantSet } from './grant-set.ts'
import type { LoopGuardRule } from './loop-guard.ts'
import type { PersonDecision } from './person-request.ts'
import type { Stop } from './stop.ts'
import { createSyncCalls, type GatedSyncCalls } from './sync-calls.ts'

export interface GateOptions {
  readonly grants: GrantSet
  /** What the grants have used up, now and in earlier lives of the guest. */
  readonly ledger: Ledger
  readonly clock: Clock
  /** Unique per guest and tenant, stable across its restores; idempotency keys are derived from it. */
  readonly guestId: string
  /** Without one, nothing is recorded. */
  readonly callLog?: CallLog
  /** Needed where a person has to decide, or `approvals` is. It is asked, and waited for. */
  readonly approver?: Approver
  /** Where nobody waits for people: what they decided. Of no use beside an approver. */
  readonly approvals?: Approvals
  /** What people decided over calls that were let in. Default: none is known. */
  readonly decisions?: InvokeContext['decisions']
  /** Of which calls need an approval, whatever grants and capabilities say. Default none. */
  readonly approveEffects?: readonly Effect[]
  /** What approvals are bound to. Default: the digest of the canonical encoding. */
  readonly digest?: (value: unknown) => string | Promise<string>
  readonly lease?: Lease
  /** When it stops a guest that does the same again and again. Without, it never does. */
  readonly guard?: LoopGuardRule | undefined
  /** Receives what no guest may see: what implementations, schemas and ports threw. */
  readonly report?: ReportToHost
  /** Told before an effect is attempted again. Must not throw. */
  readonly retrying?: GateParts['retrying']
  /** Bounds of one call's arguments. */
  readonly argsLimits?: ValueLimits
  /** Bounds of one call's result. */
  readonly resultLimits?: ValueLimits
  /** Nodes, counted as a tree, of a value that a schema is run over. Default 100,000. */
  readonly validatedNodes?: number
}

/** Told when a call begins and ends to wait for a person, so that idle time is not taken for active time. */
export interface CallWatcher {
  approvalBegins(): void
  approvalEnds(): void
}

/** A call that was let in before, by the host's own record. */
export type RecordedCall = Pick<CallIntent, 'args' | 'approved'>

export interface Gate {
  /** What the guest sees, in the order of indexes for sync calls. */
  readonly capabilities: readonly GuestCapability[]
  /** Answers calls inside a turn. */
  readonly sync: GatedSyncCalls
  /** The whole way: `admit`, `invoke`, `conclude`. Never rejects. */
  call(call: PendingCall, stop: Stop, watcher?: CallWatcher): Promise<Delivery>
  /**
   * What is wrong with a value as the answer to a call by hand; undefined also where the gate will refuse the call
   * itself. Nothing is counted, recorded or reported. Never rejects.
   */
  checkAnswer(call: PendingCall, value: unknown, stop: Stop): Promise<CaissonError | undefined>
  /**
   * The whole way for a call that was recorded before: `readmit`, `invoke`, `conclude`. What is made again is what was
   * recorded, or it is refused; a person is asked who was not asked then. Never rejects.
   */
  callAgain(call: PendingCall, recorded: RecordedCall, stop: Stop, watcher?: CallWatcher): Promise<Delivery>
  /**
   * What a person has to be asked before a call is made; undefined where nobody has, and where the gate refuses the
   * call. Nothing is counted or recorded. Never rejects.
   */
  asks(call: PendingCall, stop: Stop): Promise<AskedRequest | undefined>
  /** Now, as times of requests are compared with it: milliseconds since the epoch. */
  nowMs(): number
  /** What is wrong with a decision that puts other arguments in the place of those of a call. Never rejects. */
  checkEdit(
    call: PendingCall,
    decision: PersonDecision & { readonly decision: 'approve' },
    stop: Stop,
  ): Promise<CaissonError | undefined>
  /** Everything before the effect. Never rejects. */
  admit(call: PendingCall, stop: Stop, watcher?: CallWatcher): Promise<Admission | Refusal>
  /**
   * A call whose intent was recorded before the guest was restored, and whose result is not known: authorised
   * against the policy of now. It was counted and recorded then, and is not again. Never rejects.
   */
  readmit(call: PendingCall, stop: Stop): Promise<Admission | Refusal>
  /** Whether a call that may have taken effect may be made again without asking anybody. */
  isRepeatable(capability: string): boolean
  /** The effect of an admitted call; not needed when the embedder has an answer. Never rejects. */
  invoke(admission: Admission, stop: Stop): Promise<Settled | Refusal>
  /** Everything after the effect. Never rejects. */
  conclude(admission: Admission, ended: Settled | Refusal, stop: Stop): Promise<Delivery>
}

/** @throws CaissonError `invalid_argument` when a grant needs an approval and there is no approver */
export function createGate(options: GateOptions): Gate {
  const parts = partsOf(options)
  const now = options.clock.monotonic()
  const passages = new Map<string, Passage>()
  for (const grant of options.grants.held) {
    const { name } = grant.capability
    const passage = createPassage(grant, options.ledger.open(name, grant.rule, now))
    passages.set(name, passage)
    checkAskable(passage, parts)
  }

  const loops = new LoopStage(options.guard && options.ledger.openLoops(options.guard))
  const conclude = createConclude(passages, parts, loops)

  async function admit(call: PendingCall, stop: Stop, watcher?: CallWatcher): Promise<Admission | Refusal> {
    const admission = await letIn(call, stop, watcher)
    if (admission instanceof Refusal && !(admission instanceof AwaitsDecision)) loops.leave(call, admission)
    return admission
  }

  async function letIn(call: PendingCall, stop: Stop, watcher?: CallWatcher): Promise<Admission | Refusal> {
    try {
      const passage = resolve(call.capability, passages, options.grants)
      if (passage instanceof Refusal) return passage
      const validating = validateInput(passage, call.args, call.id, parts, stop)
      const final = validating instanceof Promise ? await validating : validating
      if (final instanceof Refusal) return final
      const denied = authorise(passage, final, call.id, parts)
      if (denied !== undefined) return denied
      const needsPerson = demandsApproval(passage, final, call.id, parts)
      const passed =
        needsPerson && parts.approver === undefined ? await letPass(passage, final, call, stop) : undefined
      if (passed instanceof Refusal) return passed
      const value = passed?.final ?? final
      const refused =
        reserve(passage, value, passed?.bytes ?? call.bytes, call.id, parts) ??
        checkStop(stop) ??
        loops.enter(call)
      if (refused !== undefined) return refused
      const rejected =
        needsPerson && passed === undefined ? await approve(passage, final, call, stop, watcher) : undefined
      if (rejected !== undefined) return rejected
      const idempotencyKey = `${parts.guestId}/${call.id}`
      const { effect } = passage.capability
      const recording = recordIntent(
        {
          id: call.id,
          capability: passage.name,
          effect,
          idempotencyKey,
          args: value.view(),
          askedAtMs: call.askedAtMs,
          repeatable: isRepeatable(passage),
          approved: needsPerson,
          ...(passed && { decision: recordOf(passed.by) }),
        },
        parts,
        stop,
      )
      const unrecorded = recording instanceof Promise ? await recording : recording
      return unrecorded ?? { call, passage, final: value, idempotencyKey }
    } catch (cause) {
      // No stage throws; if one does, it is a defect of ours, and the call is refused like any failure.
      parts.report({ callId: call.id, capability: call.capability, code: 'capability_failed', cause })
      return refuse('capability_failed', 'The call could not be admitted.')
    }
  }

  /** What people decided over a call, where one has to and they are not waited for. */
  async function letPass(
    passage: Passage,
    final: FinalValue,
    call: PendingCall,
    stop: Stop,
  ): Promise<Approved | Refusal> {
    if (parts.approvals === undefined)
      return refuse(
        'approval_rejected',
        `"${passage.name}" needs an approval and nobody is there to give one.`,
      )
    const would = wouldReserve(passage, final, call.bytes, call.id, parts)
    if (would instanceof Refusal) return would
    return decided(passage, final, call, would.cost, parts, parts.approvals, stop)
  }

  /** Asks a person, and waits. */
  async function approve(
    passage: Passage,
    final: FinalValue,
    call: PendingCall,
    stop: Stop,
    watcher: CallWatcher | undefined,
  ): Promise<Refusal | undefined> {
    watcher?.approvalBegins()
    const rejected = await askPerson(passage, final, call, parts, stop)
    watcher?.approvalEnds()
    return rejected ?? checkStop(stop) ?? checkRevoked(passage)
  }

  /** Before a call is made again: what was recorded, and approved, is what is invoked. */
  async function sameAsRecorded(
    { passage, final, call }: Admission,
    recorded: RecordedCall,
    stop: Stop,
    watcher: CallWatcher | undefined,
  ): Promise<Refusal | undefined> {
    if (digestValue(final.view()) !== digestValue(recorded.args)) {
      return refuse(
        'denied',
        `The rules of now make other arguments of the call of "${passage.name}" than were let in before.`,
      )
    }
    if (recorded.approved === true || !demandsApproval(passage, final, call.id, parts)) return undefined
    if (parts.approver !== undefined) return approve(passage, final, call, stop, watcher)
    const passed = await letPass(passage, final, call, stop)
    if (passed instanceof Refusal) return passed
    if (digestValue(passed.final.view()) === digestValue(final.view())) return undefined
    return refuse(
      'denied',
      `The call of "${passage.name}" was let in before: its arguments cannot be changed.`,
    )
  }

  async function readmit(call: PendingCall, stop: Stop): Promise<Admission | Refusal> {
    try {
      const passage = resolve(call.capability, passages, options.grants)
      if (passage instanceof Refusal) return passage
      const final = await validateInput(passage, call.args, call.id, parts, stop)
      if (final instanceof Refusal) return final
      const refused = authorise(passage, final, call.id, parts) ?? checkStop(stop)
      if (refused === undefined) loops.enterAgain(call)
      return refused ?? { call, passage, final, idempotencyKey: `${parts.guestId}/${call.id}` }
    } catch (cause) {
      parts.report({ callId: call.id, capability: call.capability, code: 'capability_failed', cause })
      return refuse('capability_failed', 'The call could not be admitted.')
    }
  }

  async function invokeInTurn(admission: Admission, stop: Stop): Promise<Settled | Refusal> {
    const { passage, final, idempotencyKey } = admission
    if (passage.line === undefined) return invoke(passage, final, idempotencyKey, parts, stop)
    const leave = await passage.line.enter(stop)
    if (leave === undefined) return refuse('aborted', 'The run was stopped.')
    try {
      return await invoke(passage, final, idempotencyKey, parts, stop)
    } finally {
      leave()
    }
  }

  return {
    capabilities: options.grants.held.map(({ capability: { name, sync = false, continues } }) => ({
      name,
      sync,
      ...(continues !== undefined && { continues }),
    })),
    sync: createSyncCalls([...passages.values()], parts),
    async checkAnswer(call, value, stop) {
      const passage = passages.get(call.capability)
      return passage && checkAnswer(passage, value, call.id, parts, stop)
    },
    async asks(call, stop) {
      const passage = passages.get(call.capability)
      if (passage === undefined || parts.approver !== undefined || parts.approvals === undefined)
        return undefined
      const quiet: GateParts = { ...parts, report: () => {} }
      const final = await validateInput(passage, call.args, call.id, quiet, stop)
      if (final instanceof Refusal || authorise(passage, final, call.id, quiet) !== undefined)
        return undefined
      if (!demandsApproval(passage, final, call.id, quiet)) return undefined
      const would = wouldReserve(passage, final, call.bytes, call.id, quiet)
      return would instanceof Refusal ? undefined : askFor(passage, final, call, would.cost, parts.approvals)
    },
    nowMs: () => parts.clock.now(),
    async checkEdit(call, decision, stop) {
      const passage = passages.get(call.capability)
      return passage && editProblem(passage, decision, call, parts, stop)
    },
    admit,
    readmit,
    isRepeatable(name) {
      const passage = passages.get(name)
      return passage !== undefined && isRepeatable(passage)
    },
    invoke: invokeInTurn,
    conclude,
    async call(call, stop, watcher) {
      const admission = await admit(call, stop, watcher)
      if (admission instanceof Refusal) return refusedDelivery(call.id, admission)
      return conclude(admission, await invokeInTurn(admission, stop), stop)
    },
    async callAgain(call, recorded, stop, watcher) {
      const admission = await readmit(call, stop)
      if (admission instanceof Refusal) return refusedDelivery(call.id, admission)
      try {
        const refused = await sameAsRecorded(admission, recorded, stop, watcher)
        if (refused !== undefined) return refusedDelivery(call.id, refused)
      } catch (cause) {
        parts.report({ callId: call.id, capability: call.capability, code: 'capability_failed', cause })
        return refusedDelivery(call.id, refuse('capability_failed', 'The call could not be admitted.'))
      }
      return conclude(admission, await invokeInTurn(admission, stop), stop)
    },
  }
}

const noDecisions: InvokeContext['decisions'] = async () => []

function recordOf(decision: PersonDecision): NonNullable<CallIntent['decision']> {
  const { request, by, comment = '' } = decision
  return { request, by, comment, edited: 'value' in decision }
}

function isRepeatable({ capability }: Passage): boolean {
  return capability.idempotent ?? capability.effect === 'read'
}

function partsOf(options: GateOptions): GateParts {
  return {
    clock: options.clock,
    guestId: options.guestId,
    callLog: options.callLog,
    approver: options.approver,
    approvals: options.approvals,
    decisions: options.decisions ?? noDecisions,
    approveEffects: new Set(options.approveEffects),
    digest: options.digest ?? digestValue,
    lease: options.lease,
    report(report) {
      try {
        options.report?.(report)
      } catch {
        // Reporting never changes what happens.
      }
    },
    retrying: options.retrying,
    argsLimits: options.argsLimits ?? DEFAULT_VALUE_LIMITS,
    resultLimits: options.resultLimits ?? DEFAULT_VALUE_LIMITS,
    validatedNodes: options.validatedNodes ?? DEFAULT_VALIDATED_NODES,
  }
}
