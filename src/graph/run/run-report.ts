/**
 * What a run came to, for people and for lists: counts, times and failures by node and by capability, and what somebody
 * should look at. Pure over the events of its journal.
 *
 * Invariants
 * 1. Times are those that the journal has: the same journal gives the same report everywhere.
 * 2. A journal that ends anywhere has a report: what is under way is counted as that.
 */
import type { ErrorClass, Plan, PlanNode } from '../plan/plan.ts'
import { type Finding, findingsOf } from './findings.ts'
import type { Failure, GrantUsed, RecordedEvent, Used } from './run-event.ts'
import { RunState } from './run-state.ts'
import type { RunStatus } from './transitions.ts'
import { addGrantUsed } from './used.ts'

/** Durations in milliseconds, of what has ended. */
export interface Latency {
  readonly count: number
  readonly medianMs: number
  readonly p95Ms: number
  readonly mostMs: number
}

/** Failures by class, and by code in it. */
export type Failures = Readonly<Partial<Record<ErrorClass, Readonly<Record<string, number>>>>>

export interface NodeKindReport {
  readonly kind: PlanNode['kind']
  /** Nodes that began: of an `each` and a `loop` every time. */
  readonly begun: number
  readonly completed: number
  readonly failed: number
  /** From its beginning to its end, waits and all attempts included. */
  readonly latency: Latency
}

export interface CapabilityReport {
  readonly capability: string
  /** Calls that were let in, those of programs included. */
  readonly calls: number
  /** Of call nodes: from when the call was let in to when it was answered. */
  readonly latency: Latency
  /** Answers of call nodes that were failures. */
  readonly failed: number
  readonly used: GrantUsed
}

export interface RunReport {
  readonly status: RunStatus | undefined
  /** From the start to the last event. */
  readonly tookMs: number | undefined
  readonly events: number
  readonly used: Used
  /** Attempts of nodes that failed, whatever became of the node. */
  readonly failures: Failures
  /** Attempts after the first one. */
  readonly retries: number
  /** Nodes that something stood in for. */
  readonly fallbacks: number
  /** Answers of people, and how long they were waited for. */
  readonly approvals: {
    readonly asked: number
    readonly approved: number
    readonly rejected: number
    readonly waited: Latency
  }
  /** Times that the run stood still and somebody let it go on. */
  readonly confirmations: number
  readonly undone: number
  readonly notUndone: number
  /** In the order of the vocabulary of plans. */
  readonly kinds: readonly NodeKindReport[]
  /** By their names. */
  readonly capabilities: readonly CapabilityReport[]
  readonly findings: readonly Finding[]
}

/**
 * @param plan that was run
 * @param events of its journal, from the first on
 */
export function reportOf(plan: Plan, events: readonly RecordedEvent[]): RunReport {
  const tally = new Tally(plan)
  for (const event of events) tally.add(event)
  return tally.report(events.length, findingsOf(plan, events))
}

interface KindTally {
  begun: number
  completed: number
  failed: number
  readonly took: number[]
}

interface CapabilityTally {
  calls: number
  failed: number
  used: GrantUsed
  readonly took: number[]
}

const KINDS: readonly PlanNode['kind'][] = [
  'program',
  'call',
  'approval',
  'choice',
  'each',
  'loop',
  'plan',
  'wait',
]

class Tally {
  readonly #state: RunState
  readonly #kinds = new Map<PlanNode['kind'], KindTally>()
  readonly #capabilities = new Map<string, CapabilityTally>()
  readonly #failures = new Map<ErrorClass, Map<string, number>>()
  /** When calls were let in, by the paths of their nodes. */
  readonly #called = new Map<string, number>()
  /** Since when people are waited for. */
  readonly #waiting = new Map<string, number>()
  readonly #waited: number[] = []
  #retries = 0
  #fallbacks = 0
  /** Digests of requests: a node that goes on waiting asks nothing anew. */
  readonly #asked = new Set<string>()
  #approved = 0
  #rejected = 0
  #confirmations = 0
  #undone = 0
  #notUndone = 0

  constructor(plan: Plan) {
    this.#state = new RunState(plan)
  }

  add(event: RecordedEvent): void {
    try {
      this.#state.apply(event)
    } catch {
      return // told among the findings
    }
    if (event.type === 'confirmed') this.#confirmations += 1
    if (!('node' in event) || event.type === 'failing') return
    const node = this.#state.node(event.node)
    if (node === undefined) return
    const kind = this.#kind(node.node.kind)
    this.#countRights(event.used?.by, node.node)
    switch (event.type) {
      case 'node_started':
        if (event.attempt === 1) kind.begun += 1
        else this.#retries += 1
        return
      case 'node_called':
        this.#called.set(event.node, event.timeMs)
        this.#capability(capabilityOf(node.node, node === this.#state.undoing)).calls += 1
        return
      case 'node_answered':
        this.#answered(
          event.node,
          event.timeMs,
          event.answer?.ok === false,
          node.node,
          node === this.#state.undoing,
        )
        return
      case 'node_waiting':
        if (event.waiting.for !== 'person') return
        for (const { request } of event.waiting.asked) this.#asked.add(request)
        this.#waiting.set(event.node, event.timeMs)
        return
      case 'node_decided': {
        if (event.approved) this.#approved += 1
        else this.#rejected += 1
        const since = this.#waiting.get(event.node)
        if (since !== undefined) this.#waited.push(event.timeMs - since)
        return
      }
      case 'node_retrying':
        this.#failed(event.error)
        return
      case 'node_failed':
        this.#failed(event.error)
        kind.failed += 1
        kind.took.push(event.timeMs - (node.startedAtMs ?? event.timeMs))
        return
      case 'node_recovered':
        this.#fallbacks += 1
        // One that failed before was counted then.
        if (node.standby === undefined) this.#failed(event.error)
        else kind.failed -= 1
        kind.completed += 1
        if (node.standby === undefined) kind.took.push(event.timeMs - (node.startedAtMs ?? event.timeMs))
        return
      case 'node_completed':
        kind.completed += 1
        kind.took.push(event.timeMs - (node.startedAtMs ?? event.timeMs))
        return
      case 'node_undone':
        this.#undone += 1
        return
      case 'node_not_undone':
        this.#failed(event.error)
        this.#notUndone += 1
        return
      default:
    }
  }

  report(events: number, findings: readonly Finding[]): RunReport {
    const { status, startedAtMs, timeMs, used } = this.#state
    return {
      status,
      tookMs: startedAtMs === undefined ? undefined : Math.max(0, timeMs - startedAtMs),
      events,
      used,
      failures: Object.fromEntries(
        [...this.#failures].map(([kind, codes]) => [kind, Object.fromEntries(codes)] as const),
      ),
      retries: this.#retries,
      fallbacks: this.#fallbacks,
      approvals: {
        asked: this.#asked.size,
        approved: this.#approved,
        rejected: this.#rejected,
        waited: latencyOf(this.#waited),
      },
      confirmations: this.#confirmations,
      undone: this.#undone,
      notUndone: this.#notUndone,
      kinds: KINDS.flatMap((kind) => {
        const tally = this.#kinds.get(kind)
        if (tally === undefined) return []
        const { took, ...counts } = tally
        return [{ kind, ...counts, latency: latencyOf(took) }]
      }),
      capabilities: [...this.#capabilities]
        .map(([capability, { took, ...counts }]) => ({ capability, ...counts, latency: latencyOf(took) }))
        .sort((a, b) => (a.capability < b.capability ? -1 : 1)),
      findings,
    }
  }

  #answered(path: string, timeMs: number, failed: boolean, node: PlanNode, undoing: boolean): void {
    const since = this.#called.get(path)
    this.#called.delete(path)
    const tally = this.#capability(capabilityOf(node, undoing))
    if (failed) tally.failed += 1
    if (since !== undefined) tally.took.push(timeMs - since)
  }

  /** Calls of call nodes are told by events of their own. */
  #countRights(by: Used['by'], node: PlanNode): void {
    for (const [name, used] of Object.entries(by ?? {})) {
      const tally = this.#capability(name)
      tally.used = addGrantUsed(tally.used, used)
      if (node.kind === 'program') tally.calls += used.calls ?? 0
    }
  }

  #failed({ class: kind, code }: Failure): void {
    const codes = this.#failures.get(kind) ?? new Map<string, number>()
    codes.set(code, (codes.get(code) ?? 0) + 1)
    this.#failures.set(kind, codes)
  }

  #kind(kind: PlanNode['kind']): KindTally {
    const tally = this.#kinds.get(kind) ?? { begun: 0, completed: 0, failed: 0, took: [] }
    this.#kinds.set(kind, tally)
    return tally
  }

  #capability(name: string): CapabilityTally {
    const tally = this.#capabilities.get(name) ?? { calls: 0, failed: 0, used: {}, took: [] }
    this.#capabilities.set(name, tally)
    return tally
  }
}

function capabilityOf(node: PlanNode, undoing: boolean): string {
  if (undoing && 'compensate' in node && node.compensate?.kind === 'call') return node.compensate.capability
  return node.kind === 'call' ? node.capability : ''
}

/** Exact, and not estimated: a run has as many as its journal holds. */
function latencyOf(took: readonly number[]): Latency {
  const sorted = [...took].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0
  return { count: sorted.length, medianMs: at(0.5), p95Ms: at(0.95), mostMs: at(1) }
}
