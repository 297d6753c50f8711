/**
 * What telemetry is told of a run of a plan while this process drives it: the run, its nodes, and how long people were
 * waited for. Made of the events of the run, as they are added to its journal.
 *
 * Invariants
 * 1. Nothing of it is in the journal: runs with and without telemetry are the same. The head of the run keeps the
 *    `traceparent` of the span that told last, so that who goes on links to it.
 * 2. A node that an earlier process began is told as taken up when something happens to it here.
 * 3. Whatever is open when the run comes to rest ends with it, as what it then is.
 */
import { CaissonError } from '../../base/errors.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import { placeOf, UNDO } from '../../graph/plan/rights-at.ts'
import type { NodeState } from '../../graph/run/node-state.ts'
import type { Failure, NodeEvent, RecordedEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import type { SpanAttributes, SpanError, Telemetry, TelemetrySpan } from '../../ports/telemetry.ts'
import { spanError } from '../span-facts.ts'
import { statusOf } from './run-view.ts'

export interface PlanSpansParts {
  readonly telemetry: Telemetry
  readonly run: string
  readonly plan: DefinedPlan
  readonly state: RunState
  /** `traceparent` of the span that told last. */
  readonly earlier: string | undefined
}

type Approval = NodeEvent & { readonly type: 'node_decided'; readonly timeMs: number }

export class PlanSpans {
  readonly #parts: PlanSpansParts
  /** By paths; with `#undo` at the end of what undoes a node. */
  readonly #nodes = new Map<string, TelemetrySpan>()
  /** When requests were asked, in this process. */
  readonly #askedAt = new Map<string, number>()
  #run: TelemetrySpan | undefined

  constructor(parts: PlanSpansParts) {
    this.#parts = parts
  }

  /** Of the run, for who goes on with it. */
  get traceparent(): string | undefined {
    return this.#run?.traceparent ?? this.#parts.earlier
  }

  /** The run is driven from here on. */
  begin(): void {
    const { telemetry, run, plan, state, earlier } = this.#parts
    const { name, version } = plan.plan
    this.#run = telemetry.span?.({
      kind: 'run',
      name,
      ...(earlier !== undefined && { links: [earlier] }),
      attributes: {
        form: 'plan',
        run,
        plan: name,
        planVersion: version,
        planDigest: plan.digest,
        ...(state.live.size > 0 && { resumed: true }),
      },
    })
  }

  /** It came to rest. */
  end(): void {
    const { state } = this.#parts
    const status = statusOf(state, false)
    this.#endNodes()
    const { fuel, calls } = state.used
    this.#run?.end({
      outcome: status,
      error: status === 'failed' || status === 'compensated' ? errorOf(state.failure?.error) : undefined,
      attributes: { ...(fuel !== undefined && { fuel }), ...(calls !== undefined && { calls }) },
    })
  }

  /** This process may not go on. */
  lost(error: unknown): void {
    this.#endNodes()
    const code = CaissonError.is(error) ? error.code : undefined
    this.#run?.end({ outcome: 'lost', error: spanError(code) })
  }

  /** What is done for a node is a part of. */
  of(path: string): TelemetrySpan | undefined {
    const open = this.#nodes.get(path)
    if (open !== undefined || this.#run === undefined) return open
    const undoes = path.endsWith(UNDO)
    const state = this.#parts.state.node(undoes ? path.slice(0, -UNDO.length) : path)
    return state && this.#begin(path, state, undoes ? undefined : true)
  }

  /** An event that was taken into the state. */
  hear(event: RecordedEvent): void {
    if (!('node' in event) || event.type === 'failing') return
    const state = this.#parts.state.node(event.node)
    if (state === undefined) return
    switch (event.type) {
      case 'node_started':
        if (event.attempt === 1 && this.#run !== undefined) this.#begin(event.node, state, undefined)
        return
      case 'node_retrying': {
        const attempt = state.attempt + 1
        this.of(event.node)?.event?.('retrying', { attempt, error: errorOf(event.error) })
        return
      }
      case 'node_waiting':
        if (event.waiting.for === 'person') {
          for (const { request } of event.waiting.asked) {
            if (!this.#askedAt.has(request)) this.#askedAt.set(request, event.timeMs)
          }
        }
        this.of(event.node)?.event?.('waiting', { reason: event.waiting.for })
        return
      case 'node_decided':
        this.#tellApproval(event, state)
        return
      case 'node_frozen':
        this.of(event.node)?.event?.('frozen', { reason: event.reason })
        return
      case 'node_completed':
        this.#end(event.node, state, 'completed')
        return
      case 'node_recovered':
        this.#nodes.get(event.node)?.event?.('recovered', { error: errorOf(event.error) })
        this.#end(event.node, state, 'completed')
        return
      case 'node_failed':
        this.#end(event.node, state, 'failed', event.error)
        return
      case 'node_cancelled':
        this.#end(event.node, state, 'cancelled')
        return
      case 'node_skipped':
        if (this.#nodes.has(event.node)) this.#end(event.node, state, 'skipped')
        return
      case 'node_undone':
        this.#end(event.node + UNDO, state, 'completed')
        return
      case 'node_not_undone':
        this.#end(event.node + UNDO, state, 'failed', event.error)
        return
      default:
    }
  }

  #begin(path: string, { node, scope }: NodeState, resumed: boolean | undefined): TelemetrySpan | undefined {
    const parent = scope.owner === undefined ? this.#run : this.of(scope.owner.path)
    const attributes: SpanAttributes = {
      plan: this.#parts.plan.plan.name,
      node: path,
      nodeKind: node.kind,
      ...(resumed !== undefined && { resumed }),
    }
    const span = this.#parts.telemetry.span?.({ kind: 'node', name: placeOf(path), parent, attributes })
    if (span !== undefined) this.#nodes.set(path, span)
    return span
  }

  #end(path: string, state: NodeState, outcome: string, error?: Failure): void {
    const span = this.of(path)
    this.#nodes.delete(path)
    const { attempt: attempts, used } = state
    const { fuel, calls } = used
    span?.end({
      outcome,
      error: errorOf(error),
      attributes: { attempts, ...(fuel !== undefined && { fuel }), ...(calls !== undefined && { calls }) },
    })
  }

  #endNodes(): void {
    // Those inside of others began after them.
    for (const path of [...this.#nodes.keys()].reverse()) {
      const plain = path.endsWith(UNDO) ? path.slice(0, -UNDO.length) : path
      const state = this.#parts.state.node(plain)
      if (state === undefined) continue
      this.#end(path, state, state.status === 'running' ? 'interrupted' : state.status)
    }
  }

  /** With the times of the journal: who decides may be another process than who asked. */
  #tellApproval(event: Approval, { path, scope, attemptAtMs, startedAtMs }: NodeState): void {
    const { telemetry, run, earlier } = this.#parts
    const { request, timeMs, approved } = event
    const askedAtMs = this.#askedAt.get(request) ?? attemptAtMs ?? startedAtMs ?? timeMs
    this.#askedAt.delete(request)
    // Before the run is driven nothing is open here that it could be a part of.
    const parent = this.#nodes.get(path) ?? (scope.owner && this.#nodes.get(scope.owner.path)) ?? this.#run
    const approval = telemetry.span?.({
      kind: 'approval',
      name: placeOf(path),
      ...(parent !== undefined && { parent }),
      ...(parent === undefined && earlier !== undefined && { links: [earlier] }),
      atMs: Math.min(askedAtMs, timeMs),
      attributes: { run, node: path, request },
    })
    approval?.end({ outcome: approved ? 'approved' : 'rejected', atMs: timeMs })
  }
}

function errorOf(error: Failure | undefined): SpanError | undefined {
  return error && spanError(error.code, error.class)
}
