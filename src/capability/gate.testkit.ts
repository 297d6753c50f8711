/** What tests of the gate and of drivers share: a clock that tests move, a log in memory, a gate in one line. */
import type { CallIntent, CallLog, CallResult, SyncCallRecord } from '../ports/call-log.ts'
import type { Clock } from '../ports/clock.ts'
import { Ledger } from './budget.ts'
import type { PendingCall } from './call.ts'
import type { Capability, InvokeContext } from './capability.ts'
import { createCapabilityTable } from './capability-table.ts'
import { checkCapability } from './define-capability.ts'
import type { CapabilityFailure } from './gate/gate-parts.ts'
import { createGate, type Gate, type GateOptions } from './gate.ts'
import type { Grant } from './grant.ts'
import { type GrantSet, grantSet } from './grant-set.ts'
import { StopSource } from './stop.ts'

export class ManualClock implements Clock {
  ms = 1_000
  now(): number {
    return this.ms
  }
  monotonic(): number {
    return this.ms
  }
}

/** Real time, for tests that wait for real timers. */
export const realClock: Clock = { now: () => Date.now(), monotonic: () => performance.now() }

export class MemoryLog implements CallLog {
  readonly entries: string[] = []
  readonly intents: CallIntent[] = []
  readonly results: CallResult[] = []
  readonly syncRecords: SyncCallRecord[] = []
  intent(record: CallIntent): void {
    this.entries.push(`intent ${record.id}`)
    this.intents.push(record)
  }
  result(record: CallResult): void {
    this.entries.push(`result ${record.id} ${record.ok ? 'ok' : record.code}`)
    this.results.push(record)
  }
  syncCalls(records: readonly SyncCallRecord[]): void {
    this.entries.push(`sync ${records.length}`)
    this.syncRecords.push(...records)
  }
}

export interface TestGate {
  readonly gate: Gate
  readonly grants: GrantSet
  readonly ledger: Ledger
  readonly clock: ManualClock
  readonly stop: StopSource
  readonly reports: CapabilityFailure[]
  /** One awaited call; ids count up. */
  call(capability: string, args?: unknown, bytes?: number): ReturnType<Gate['call']>
}

/** A gate over `capabilities`, all of them granted unless `grants` says otherwise. */
export function testGate(
  capabilities: readonly Capability[],
  grants: readonly Grant[] = capabilities.map(({ name }) => name),
  options: Partial<GateOptions> = {},
): TestGate {
  const held = grantSet(createCapabilityTable(capabilities), grants)
  const ledger = options.ledger ?? new Ledger()
  const clock = new ManualClock()
  const stop = new StopSource()
  const reports: CapabilityFailure[] = []
  const gate = createGate({
    grants: held,
    ledger,
    clock,
    guestId: 'guest-1',
    report: (report) => reports.push(report),
    ...options,
  })
  let id = 0
  return {
    gate,
    grants: held,
    ledger,
    clock,
    stop,
    reports,
    call: (capability, args, bytes = 8) => gate.call(pendingCall(++id, capability, args, bytes), stop),
  }
}

export function pendingCall(id: number, capability: string, args?: unknown, bytes = 8): PendingCall {
  return { id, capability, args, bytes, askedAtMs: 1_000 }
}

/** The capability `a.tool`, which reads unless `more` says otherwise. */
export function tool(
  invoke: (input: unknown, context: InvokeContext) => unknown,
  more: object = {},
): Capability {
  return checkCapability({ name: 'a.tool', description: 'x', effect: 'read', invoke, ...more } as Capability)
}

/** `ok`, or the code of the failure. */
export function codeOf({ answer }: { readonly answer: { readonly ok: boolean } }): string {
  const { ok, error } = answer as { ok: boolean; error?: { code?: string } }
  return ok ? 'ok' : String(error?.code)
}
