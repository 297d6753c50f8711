/**
 * The last third of the way: what the guest gets for how an effect ended, bounded or redacted, counted and recorded.
 *
 * Invariants
 * 1. Nothing is delivered whose result was not recorded.
 * 2. A call of which nobody knows how it ended gets no result on record: it stays in doubt.
 */
import type { CallResult } from '../../ports/call-log.ts'
import type { PendingCall } from '../call.ts'
import { Refusal } from '../call.ts'
import { type Delivery, refusedDelivery } from '../delivery.ts'
import type { Stop } from '../stop.ts'
import type { Admission } from './admission.ts'
import { checkResult } from './check-result.ts'
import type { GateParts } from './gate-parts.ts'
import type { LoopStage } from './guard-loops.ts'
import { timeoutOf } from './invoke.ts'
import type { Passage } from './passage.ts'
import { recordResult } from './record.ts'
import { redact } from './redact.ts'
import { FatalRefusal, refuse } from './refuse.ts'
import type { Settled } from './settled.ts'

/** Everything after the effect. Never rejects. */
export type Conclude = (admission: Admission, ended: Settled | Refusal, stop: Stop) => Promise<Delivery>

/** @param passages of the gate, by the names of their capabilities */
export function createConclude(
  passages: ReadonlyMap<string, Passage>,
  parts: GateParts,
  loops: LoopStage,
): Conclude {
  /** Takes the bytes of a result from the grant, and from the one that it continues. */
  function receive({ account, grant }: Passage, bytes: number, call: number): boolean {
    const continued = grant.continued && passages.get(grant.continued.capability.name)
    return account.receive(bytes, call) && (continued === undefined || continued.account.receive(bytes, call))
  }

  async function conclude(admission: Admission, ended: Settled | Refusal, stop: Stop): Promise<Delivery> {
    const { call, passage } = admission
    try {
      // Who lost the lease must not write to the log either; who was stopped at work does not know the result.
      if (ended instanceof FatalRefusal) return refusedDelivery(call.id, ended)
      if (isInDoubt(ended, stop)) return refusedDelivery(call.id, refuse('aborted', 'The run was stopped.'))
      const outcome = await outcomeOf(admission, ended, stop)
      if (outcome === undefined) return refusedDelivery(call.id, refuse('aborted', 'The run was stopped.'))
      loops.leave(call, outcome)
      const recording = recordOutcome(admission, outcome, stop)
      const unrecorded = recording instanceof Promise ? await recording : recording
      if (unrecorded?.failure.code === 'value_too_large') return await concludeTooLarge(admission, stop)
      if (unrecorded !== undefined) return refusedDelivery(call.id, unrecorded)
      if (outcome instanceof Refusal) return refusedDelivery(call.id, outcome)
      return { answer: { id: call.id, ok: true, value: outcome.value }, bytes: outcome.bytes, fatal: false }
    } catch (cause) {
      parts.report({ callId: call.id, capability: passage.name, code: 'capability_failed', cause })
      return refusedDelivery(call.id, refuse('capability_failed', `The capability "${passage.name}" failed.`))
    }
  }

  function recordOutcome(
    { call, passage }: Admission,
    outcome: { readonly value: unknown } | Refusal,
    stop: Stop,
  ): Refusal | undefined | Promise<Refusal | undefined> {
    const result: CallResult =
      outcome instanceof Refusal
        ? { id: call.id, ok: false, ...outcome.failure }
        : { id: call.id, ok: true, value: outcome.value }
    return recordResult(result, passage.name, parts, stop)
  }

  /** The effect happened, and its result is more than the record takes: that is what is recorded. */
  async function concludeTooLarge(admission: Admission, stop: Stop): Promise<Delivery> {
    const { call, passage } = admission
    const refusal = refuse(
      'result_too_large',
      `The result of "${passage.name}" is more than the record takes.`,
    )
    return refusedDelivery(call.id, (await recordOutcome(admission, refusal, stop)) ?? refusal)
  }

  /**
   * What the guest gets for how the effect ended: plain data within its bounds, or a redacted failure. Undefined
   * where the stop came while the result of an effect that did happen was still looked at.
   */
  async function outcomeOf(
    { call, passage }: Admission,
    ended: Settled | Refusal,
    stop: Stop,
  ): Promise<{ readonly value: unknown; readonly bytes: number } | Refusal | undefined> {
    if (ended instanceof Refusal) return ended
    switch (ended.end) {
      case 'stopped':
        return refuse('aborted', 'The run was stopped.')
      case 'timeout':
        return refuseLate(passage, call, parts)
      case 'error':
        return redact(passage.capability, ended.error, call.id, parts)
      case 'value': {
        const checking = checkResult(passage, ended.value, call.id, parts, stop)
        const result = checking instanceof Promise ? await checking : checking
        if (result instanceof Refusal && result.failure.code === 'aborted') return undefined
        if (result instanceof Refusal || receive(passage, result.bytes, call.id)) return result
        return refuse('budget_exhausted', `The bytes of results of "${passage.name}" are used up.`, {
          unit: 'bytesIn',
        })
      }
    }
  }

  return conclude
}

function refuseLate(passage: Passage, call: PendingCall, parts: GateParts): Refusal {
  const cause = timeoutOf(passage)
  parts.report({ callId: call.id, capability: passage.name, code: 'timeout', cause })
  return refuse('timeout', cause.message, { timeoutMs: passage.timeoutMs })
}

/**
 * Whether the stop came before how the effect ended: nobody will know whether it happened, or it was let in and not
 * begun. Either way there is no result to record, and whoever goes on with the run decides.
 */
function isInDoubt(ended: Settled | Refusal, stop: Stop): boolean {
  if (ended instanceof Refusal) return stop.stopped && ended.failure.code === 'aborted'
  return ended.end === 'stopped'
}
