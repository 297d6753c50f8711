/**
 * What stands in for the output of a node that failed: the first fallback of its plan that fits.
 *
 * Invariants
 * 1. What stands in is on record with why the node failed, and which fallback it was.
 * 2. An output of an earlier run stands in only if it was of the same node of the same plan, over the same input, and is
 *    young enough; how old it was is on record.
 */
import { digestValue } from '../../values/digest-value.ts'
import type { Fallback } from '../plan/plan.ts'
import { ask, questionOf, rejection } from './asking.ts'
import { EvaluationStopped } from './evaluate.ts'
import type { NodeState } from './node-state.ts'
import { fallbackFor } from './retry.ts'
import { failureOfNode, NOTHING, type RunContext, type WithUsed } from './run-context.ts'
import type { Failure, NodeEvent } from './run-event.ts'

type Found = { readonly index: number; readonly fallback: Fallback }

export class Fallbacks {
  readonly #run: RunContext

  constructor(run: RunContext) {
    this.#run = run
  }

  /** A node failed for good, unless something stands in for it. */
  async standIn(state: NodeState, error: Failure, used: WithUsed): Promise<void> {
    const { node, path } = state
    const fallbacks = 'fallback' in node ? (node.fallback ?? []) : []
    for (let from = 0; ; ) {
      const found = fallbackFor(fallbacks.slice(from), error)
      if (found === undefined) return this.#run.fail(state, error, used)
      const at: Found = { index: found.index + from, fallback: found.fallback }
      if (at.fallback.node !== undefined) {
        this.#run.emit({ node: path, type: 'node_failed', error, standby: at.fallback.node, ...used })
        return
      }
      // Of fallbacks only an earlier output can be missing: then the next one has its turn.
      if (await this.#give(state, at, error, used)) return
      from = at.index + 1
    }
  }

  /** Whether something stands in, or the node has failed. */
  async #give(
    state: NodeState,
    { index, fallback }: Found,
    error: Failure,
    used: WithUsed,
  ): Promise<boolean> {
    const { path, scope } = state
    const { values } = this.#run
    try {
      if (fallback.ask !== undefined) {
        const request = questionOf(this.#run, state, {
          kind: 'value',
          question: fallback.ask,
          args: await values.load(state.input ?? NOTHING),
        })
        const parts = { values, emit: (event: NodeEvent) => this.#run.emit({ ...event, ...used }) }
        await ask(parts, state, [{ request }], { instead: { error, fallback: index } })
        return true
      }
      if (fallback.cached !== undefined) {
        const input = digestValue(await values.load(state.input ?? NOTHING))
        const earlier = await this.#run.work.cached?.(path, input, fallback.cached.mostAgeMs)
        if (earlier === undefined) return false
        const output = await values.keep(earlier.value)
        const { ageMs } = earlier
        this.#run.emit({ node: path, type: 'node_recovered', error, fallback: index, output, ageMs, ...used })
        return true
      }
      const value = await this.#run.evaluator.evaluate(fallback.value, scope, this.#run.stopOf(path))
      const output = await values.keep(value)
      this.#run.emit({ node: path, type: 'node_recovered', error, fallback: index, output, ...used })
    } catch (thrown) {
      // The run is cancelled: nothing stands in any more.
      const isCancelled = thrown instanceof EvaluationStopped && !this.#run.stop.signal.aborted
      this.#run.fail(state, isCancelled ? error : failureOfNode(thrown), used)
    }
    return true
  }

  /** A person gave what stands in, or said that they will not. */
  async given(state: NodeState, { error, fallback }: NonNullable<NodeState['instead']>): Promise<void> {
    const { path } = state
    const [request] = state.requests.values()
    const decision = request?.decision
    if (decision === undefined) return
    const { approved, by, reason, comment, value } = decision
    if (approved)
      this.#run.emit({ node: path, type: 'node_recovered', error, fallback, output: value ?? NOTHING })
    else this.#run.fail(state, { ...error, message: refusedBy(error, by, reason, comment) })
  }
}

function refusedBy({ message }: Failure, by: string, reason: string, comment: string): string {
  return `${message} ${rejection('To give a value instead', by, reason, comment).message}`.slice(0, 2_000)
}
