/**
 * What a run came to, for people and for lists: counts, times and failures by node and by capability, and what somebody
 * should look at. Pure over the events of its journal.
 *
 * Invariants
 * 1. Times are those that the journal has: the same journal gives the same report everywhere.
 * 2. A journal that ends anywhere has a report: what is under way is counted as that.
 */
import { isGuest, REGISTERED_KINDS } from '../plan/node-kinds.ts'
import type { Plan, PlanNode } from '../plan/plan.ts'
import { placeOf } from '../plan/rights-at.ts'
import { type Finding, findingsOf } from './findings.ts'
import {
  countFailure,
  type Failures,
  type FailureTally,
  failuresOf,
  type Latency,
  latencyOf,
} from './report-figures.ts'
import type { Failure, GrantUsed, RecordedEvent, Used } from './run-event.ts'
import { RunState } from './run-state.ts'
import type { RunStatus } from './transitions.ts'
import { addGrantUsed } from './used.ts'

export interface NodeKindReport {
  readonly kind: PlanNode['kind']
  /** Nodes that began: of an `each` and a `loop` every time. */
  readonly begun: number
  readonly completed: number
  readonly failed: number
  /** From its beginning to its end, waits and all attempts included. */
  readonly latency: Latency
}

export interface NodeReport {
  /** Place of the node in its plan: ids, without numbers of items and rounds. */
  readonly node: string
  /** Times that it began. */
  readonly begun: number
  readonly completed: number
  readonly failed: number
  /** Attempts after the first one, of all times. */
  readonly retries: number
  /** Attempts that failed, whatever became of the node. */
  readonly failures: Failures
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
  readonly failures: Failures
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
  /** In the order in which they first began. Nodes that did not begin are not told. */
  readonly nodes: readonly NodeReport[]
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

interface NodeTally extends KindTally {
  retries: number
  readonly failures: FailureTally
}

interface CapabilityTally {
  readonly failures: FailureTally
  calls: number
  failed: number
  used: GrantUsed
  readonly took: number[]
}

const KINDS: readonly PlanNode['kind'][] = [
  'program',
  ...REGISTERED_KINDS,
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
  readonly #failures: FailureTally = new Map()
  /** By their places. */
  readonly #nodes = new Map<string, NodeTally>()
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
    const place = this.#node(event.node)
    const took = (): void => {
      const ms = event.timeMs - (node.startedAtMs ?? event.timeMs)
      kind.took.push(ms)
      place.took.push(ms)
    }
    this.#countRights(event.used?.by, node.node)
    switch (event.type) {
      case 'node_started':
        if (event.attempt > 1) {
          this.#retries += 1
          place.retries += 1
          return
        }
        kind.begun += 1
        place.begun += 1
        return
      case 'node_called':
        this.#called.set(event.node, event.timeMs)
        this.#capability(capabilityOf(node.node, node === this.#state.undoing)).calls += 1
        return
      case 'node_answered':
        this.#answered(
          event.node,
          event.timeMs,
          event.answer?.ok === false ? event.answer.error : undefined,
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
        this.#failed(event.error, place)
        return
      case 'node_failed':
        this.#failed(event.error, place)
        kind.failed += 1
        place.failed += 1
        took()
        return
      case 'node_recovered':
        this.#fallbacks += 1
        // One that failed before was counted then.
        if (node.standby === undefined) {
          this.#failed(event.error, place)
          took()
        } else {
          kind.failed -= 1
          place.failed -= 1
        }
        kind.completed += 1
        place.completed += 1
        return
      case 'node_completed':
        kind.completed += 1
        place.completed += 1
        took()
        return
      case 'node_undone':
        this.#undone += 1
        return
      case 'node_not_undone':
        this.#failed(event.error, place)
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
      failures: failuresOf(this.#failures),
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
      nodes: [...this.#nodes]
        .filter(([, { begun }]) => begun > 0)
        .map(([node, { took, failures, ...counts }]) => ({
          node,
          ...counts,
          failures: failuresOf(failures),
          latency: latencyOf(took),
        })),
      capabilities: [...this.#capabilities]
        .map(([capability, { took, failures, ...counts }]) => ({
          capability,
          ...counts,
          failures: failuresOf(failures),
          latency: latencyOf(took),
        }))
        .sort((a, b) => (a.capability < b.capability ? -1 : 1)),
      findings,
    }
  }

  #answered(
    path: string,
    timeMs: number,
    failure: Failure | undefined,
    node: PlanNode,
    undoing: boolean,
  ): void {
    const since = this.#called.get(path)
    this.#called.delete(path)
    const tally = this.#capability(capabilityOf(node, undoing))
    if (failure !== undefined) {
      tally.failed += 1
      countFailure(tally.failures, failure)
    }
    if (since !== undefined) tally.took.push(timeMs - since)
  }

  /** Calls of call nodes are told by events of their own. */
  #countRights(by: Used['by'], node: PlanNode): void {
    for (const [name, used] of Object.entries(by ?? {})) {
      const tally = this.#capability(name)
      tally.used = addGrantUsed(tally.used, used)
      if (isGuest(node)) tally.calls += used.calls ?? 0
    }
  }

  #failed(error: Failure, node: NodeTally): void {
    countFailure(this.#failures, error)
    countFailure(node.failures, error)
  }

  #node(path: string): NodeTally {
    const place = placeOf(path)
    const tally = this.#nodes.get(place) ?? {
      begun: 0,
      completed: 0,
      failed: 0,
      retries: 0,
      failures: new Map(),
      took: [],
    }
    this.#nodes.set(place, tally)
    return tally
  }

  #kind(kind: PlanNode['kind']): KindTally {
    const tally = this.#kinds.get(kind) ?? { begun: 0, completed: 0, failed: 0, took: [] }
    this.#kinds.set(kind, tally)
    return tally
  }

  #capability(name: string): CapabilityTally {
    const tally = this.#capabilities.get(name) ?? {
      calls: 0,
      failed: 0,
      failures: new Map(),
      used: {},
      took: [],
    }
    this.#capabilities.set(name, tally)
    return tally
  }
}

function capabilityOf(node: PlanNode, undoing: boolean): string {
  if (undoing && 'compensate' in node && node.compensate?.kind === 'call') return node.compensate.capability
  return node.kind === 'call' ? node.capability : ''
}
