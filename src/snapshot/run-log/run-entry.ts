/**
 * What the host writes down of a run beside its checkpoints, in the order in which it happened: enough to take the
 * guest from its last checkpoint to where it was without asking the world again, and to know what it has used up.
 *
 * No checkpoint can turn this back: calls, answers and budgets are counted here.
 */
import type { LedgerState } from '../../capability/budget.ts'
import type { Answer, GuestCapability } from '../../capability/call.ts'
import type { Limits } from '../../machine/limits.ts'
import type { ModuleGraph } from '../../machine/module-graph.ts'
import type { RunEnd, RunUsage } from '../../machine/outcome.ts'
import type { TimeSpent } from '../../machine/time-keeper.ts'
import type { AtEnd, GuestError, LogEntry, MachineStart, ProgramForm } from '../../machine/turn.ts'
import type { CallIntent, SyncCallRecord } from '../../ports/call-log.ts'

/** What the run began with. The seed is as secret as anything that the guest sees. */
export interface StartEntry {
  readonly type: 'start'
  readonly version: 1
  readonly engine: string
  readonly guestId: string
  readonly tenant: string
  readonly principal: string
  readonly label: 'plain' | 'secret'
  /** As the machine got it. */
  readonly source: string
  /** What a machine was started with that runs no JavaScript. */
  readonly program?: unknown
  /** What its author wrote, where that is something else. */
  readonly written?: MachineStart['written']
  /** Its end, where it could not begin. */
  readonly ended?: MachineStart['ended']
  readonly form: ProgramForm
  readonly fileName: string
  readonly input: unknown
  readonly capabilities: readonly GuestCapability[]
  readonly limits: Limits
  readonly seed: Uint8Array
  /** The time in the guest. */
  readonly nowMs: number
  /** Left out: it waited for what was pending at its end. */
  readonly atEnd?: AtEnd | undefined
  /** What the program imports statically, with its sources: the run is taken again where nobody else has them. */
  readonly modules?: ModuleGraph | undefined
  /** When it was, by the host's clock. Left out by builds that did not keep it. */
  readonly atMs?: number
  /** What its grants reached, in the host's words. Left out by builds that did not keep it. */
  readonly scope?: readonly string[]
}

/** A process took the run up, to go on with it under these limits. */
export interface OpenEntry {
  readonly type: 'open'
  readonly atMs: number
  readonly limits: Limits
}

/** A call that was let in: from here on its effect may have happened. */
export interface IntentEntry extends CallIntent {
  readonly type: 'intent'
}

export interface ResultEntry {
  readonly type: 'result'
  readonly answer: Answer
}

/** Calls of `sync` capabilities in the turn before, in order. */
export interface SyncEntry {
  readonly type: 'sync'
  readonly records: readonly SyncCallRecord[]
}

/** Answers were delivered, or none were, for a timer that was due: ids of recorded results, or what was refused without one. */
export interface TurnEntry {
  readonly type: 'turn'
  readonly nowMs: number
  readonly answers: readonly (number | Answer)[]
}

/** What all grants have used up by now. */
export interface BudgetEntry {
  readonly type: 'budget'
  /** Wall time, milliseconds since the epoch: rates go on while nobody runs. */
  readonly atMs: number
  readonly ledger: LedgerState
  /** Time that the run has used up by now. Left out by earlier builds. */
  readonly spent?: TimeSpent
}

/** The guest was captured here: whoever goes on from that checkpoint reads from here. */
export interface MarkEntry {
  readonly type: 'mark'
  /** Names the capture, as its checkpoint does. Left out by builds that did not tie the two. */
  readonly name?: string
  readonly budget: BudgetEntry
  /** Calls that were let in and not answered by then. */
  readonly open: readonly IntentEntry[]
  /** Answers that were there and not delivered by then, in order of arrival. */
  readonly known: readonly Answer[]
}

/** The guest came to its end. After one by a limit, the run can go on with more. */
export interface EndEntry {
  readonly type: 'end'
  readonly atMs: number
  readonly end: Exclude<RunEnd, { status: 'suspended' }>
  readonly usage: RunUsage
  readonly logs: readonly LogEntry[]
  /** Left out by builds that did not keep them. */
  readonly unhandledRejections?: readonly GuestError[]
}

export type RunEntry =
  | StartEntry
  | OpenEntry
  | IntentEntry
  | ResultEntry
  | SyncEntry
  | TurnEntry
  | BudgetEntry
  | MarkEntry
  | EndEntry

/** A start entry as a machine is started with it. */
export function startOf(entry: StartEntry): MachineStart {
  const {
    source,
    form,
    fileName,
    input,
    capabilities,
    limits,
    seed,
    nowMs,
    atEnd,
    modules,
    written,
    ended,
    program,
  } = entry
  const start = { source, form, fileName, input, capabilities, limits, seed, nowMs }
  return {
    ...start,
    ...(atEnd && { atEnd }),
    ...(modules && { modules }),
    ...(written && { written }),
    ...(ended && { ended }),
    ...(program !== undefined && { program }),
  }
}
