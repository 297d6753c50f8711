/**
 * A gate that tells telemetry of the calls that pass it: one span for each awaited call, one inside of it for the time
 * that a person takes, and counts of sync calls turn by turn. It stands around the gate, so that a runtime without
 * telemetry has none of it.
 *
 * Invariants
 * 1. What is told changes nothing: every value, refusal and promise is that of the gate.
 * 2. A capability that the guest does not have is told as `unknown`, whatever it asked for.
 */
import { CaissonError } from '../base/errors.ts'
import { type PendingCall, Refusal } from '../capability/call.ts'
import type { Effect } from '../capability/capability.ts'
import { type Delivery, refusedDelivery } from '../capability/delivery.ts'
import type { Admission } from '../capability/gate/admission.ts'
import type { CallWatcher, Gate } from '../capability/gate.ts'
import type { SpanError, Telemetry, TelemetrySpan } from '../ports/telemetry.ts'
import { spanError } from './span-facts.ts'

export interface TracedGateParts {
  readonly telemetry: Telemetry
  /** Of the guest, as idempotency keys begin. */
  readonly guestId: string
  /** Of the capabilities that the guest has, in the order of the gate's. */
  readonly effects: ReadonlyMap<string, Effect>
  /** Whether values may be told. */
  readonly content: boolean
  /** What a call is a part of. */
  readonly spanOf: ((call: number) => TelemetrySpan | undefined) | undefined
}

interface OpenCall {
  readonly span: TelemetrySpan
  attempts: number
  /** What a person decides over, until it is known what they did. */
  approval: TelemetrySpan | undefined
}

/** What is under way at one gate. */
export class CallSpans {
  readonly #parts: TracedGateParts
  readonly #open = new Map<number, OpenCall>()

  constructor(parts: TracedGateParts) {
    this.#parts = parts
  }

  /** For `GateOptions.retrying`. */
  readonly retrying = (idempotencyKey: string, attempt: number, because: unknown): void => {
    const call = this.#open.get(Number(idempotencyKey.slice(this.#parts.guestId.length + 1)))
    if (call === undefined) return
    call.attempts = attempt
    const code = CaissonError.is(because) ? because.code : 'capability_failed'
    call.span.event?.('retrying', { attempt, error: spanError(code) })
  }

  /** What is around a gate that tells of its calls. */
  around(gate: Gate): Gate {
    const { sync } = gate
    const traced: Gate = {
      ...gate,
      sync: countedSync(sync, gate, this.#parts.telemetry),
      admit: async (call, stop, watcher) => {
        this.#begin(call)
        return this.#admitted(call, await gate.admit(call, stop, this.#watched(call, watcher)))
      },
      readmit: async (call, stop) => {
        this.#begin(call)
        return this.#admitted(call, await gate.readmit(call, stop))
      },
      invoke: (admission, stop) => {
        const span = this.#open.get(admission.call.id)?.span
        return span?.within === undefined
          ? gate.invoke(admission, stop)
          : span.within(() => gate.invoke(admission, stop))
      },
      conclude: async (admission, ended, stop) => {
        const delivery = await gate.conclude(admission, ended, stop)
        this.#end(admission.call, delivery, ended instanceof Refusal)
        return delivery
      },
      call: async (call, stop, watcher) => {
        const admission = await traced.admit(call, stop, watcher)
        if (admission instanceof Refusal) return refusedDelivery(call.id, admission)
        return traced.conclude(admission, await traced.invoke(admission, stop), stop)
      },
      callAgain: async (call, recorded, stop, watcher) => {
        const span = this.#begin(call)
        const again = (): Promise<Delivery> =>
          gate.callAgain(call, recorded, stop, this.#watched(call, watcher))
        const delivery = await (span?.within === undefined ? again() : span.within(again))
        this.#end(call, delivery, false)
        return delivery
      },
    }
    return traced
  }

  #admitted(call: PendingCall, admission: Admission | Refusal): Admission | Refusal {
    if (admission instanceof Refusal) this.#end(call, refusedDelivery(call.id, admission), true)
    else this.#endApproval(this.#open.get(call.id), 'approved')
    return admission
  }

  #begin(call: PendingCall): TelemetrySpan | undefined {
    const { telemetry, effects, content, spanOf } = this.#parts
    const effect = effects.get(call.capability)
    const capability = effect === undefined ? 'unknown' : call.capability
    const parent = spanOf?.(call.id)
    const span = telemetry.span?.({
      kind: 'call',
      name: capability,
      parent,
      attributes: {
        capability,
        callId: call.id,
        bytesOut: call.bytes,
        ...(effect !== undefined && { effect }),
      },
      ...(content && { content: { args: call.args } }),
    })
    if (span !== undefined) this.#open.set(call.id, { span, attempts: 1, approval: undefined })
    return span
  }

  #end({ id }: PendingCall, { answer, bytes, asked }: Delivery, wasRefused: boolean): void {
    const call = this.#open.get(id)
    if (call === undefined) return
    this.#open.delete(id)
    const { attempts, span } = call
    const attributes = { attempts, bytesIn: bytes }
    const code = answer.ok ? undefined : answer.error.code
    const outcomes = { approval_rejected: 'rejected', aborted: 'stopped' } as const
    this.#endApproval(call, outcomes[code as keyof typeof outcomes] ?? 'approved')
    if (answer.ok) {
      const content = this.#parts.content && { content: { result: answer.value } }
      span.end({ outcome: 'completed', attributes, ...content })
      return
    }
    const error: SpanError = spanError(answer.error.code)
    if (asked !== undefined) span.end({ outcome: 'asked', attributes: { request: asked.digest } })
    else if (error.code === 'aborted') span.end({ outcome: 'stopped', error, attributes })
    else span.end({ outcome: wasRefused ? 'refused' : 'failed', error, attributes })
  }

  #endApproval(call: OpenCall | undefined, outcome: string): void {
    call?.approval?.end({ outcome })
    if (call !== undefined) call.approval = undefined
  }

  /** Tells how long a person took, beside whom the gate tells of it. */
  #watched(call: PendingCall, watcher: CallWatcher | undefined): CallWatcher {
    return {
      approvalBegins: () => {
        const { capability, id: callId } = call
        const open = this.#open.get(callId)
        if (open !== undefined) {
          const attributes = { capability, callId }
          open.approval = this.#parts.telemetry.span?.({
            kind: 'approval',
            name: capability,
            parent: open.span,
            attributes,
          })
        }
        watcher?.approvalBegins()
      },
      approvalEnds: () => watcher?.approvalEnds(),
    }
  }
}

/** Counts what is answered inside of turns, and tells it when each has ended. */
function countedSync(sync: Gate['sync'], { capabilities }: Gate, telemetry: Telemetry): Gate['sync'] {
  const counts = capabilities.map(({ name }) => ({ name, count: 0, failed: 0 }))
  let any = false
  return {
    call(index, args, argBytes) {
      const answer = sync.call(index, args, argBytes)
      const counted = counts[index]
      if (counted !== undefined) {
        any = true
        counted.count += 1
        if (answer instanceof Refusal) counted.failed += 1
      }
      return answer
    },
    takeRecords() {
      if (any) {
        any = false
        for (const counted of counts) {
          const { name: capability, count, failed } = counted
          if (count > 0) telemetry.event('capability.sync_calls', { capability, count, failed })
          counted.count = 0
          counted.failed = 0
        }
      }
      return sync.takeRecords()
    },
  }
}
