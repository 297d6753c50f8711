/**
 * Undoes completed nodes, each by what its plan declares.
 *
 * Invariant: an undoing whose process died is taken up where the journal has it, and made again only if that cannot do
 * twice what was done once.
 */
import { ask, requestsFor } from './asking.ts'
import { callOf } from './call-of.ts'
import type { NodeState } from './node-state.ts'
import type { WorkEnd } from './node-work.ts'
import { noneLeft } from './none-left.ts'
import { programOf } from './program-of.ts'
import { failureOfNode, IN_DOUBT, NOTHING, type RunContext, type WithUsed } from './run-context.ts'
import type { Failure, NodeEvent } from './run-event.ts'

export class Undoing {
  readonly #run: RunContext

  constructor(run: RunContext) {
    this.#run = run
  }

  async undo(state: NodeState): Promise<void> {
    this.#run.emit({ node: state.path, type: 'node_undoing' })
    await this.#run.journal.flush()
    await this.#compensate(state, false)
  }

  /** Goes on with what an earlier process was undoing. */
  async takeUp(state: NodeState): Promise<void> {
    const { call, path } = state
    if (state.waiting !== undefined) return
    if (call?.answer?.ok === true) this.#run.emit({ node: path, type: 'node_undone' })
    else if (call?.answer?.ok === false)
      this.#run.emit({ node: path, type: 'node_not_undone', error: call.answer.error })
    else if (call !== undefined && !call.repeatable)
      this.#run.emit({ node: path, type: 'node_not_undone', error: IN_DOUBT })
    else await this.#compensate(state, true)
  }

  /** Somebody decided what it asked. */
  async goOn(state: NodeState): Promise<void> {
    this.#run.emit({ node: state.path, type: 'node_woken' })
    await this.#compensate(state, true)
  }

  async #compensate(state: NodeState, resumed: boolean): Promise<void> {
    const { path, node, scope, output = NOTHING } = state
    const compensate = 'compensate' in node ? node.compensate : undefined
    let end: WorkEnd
    try {
      const stop = this.#run.stopOf(path)
      const input = await this.#run.evaluator.evaluate(compensate?.input ?? null, scope, stop, { output })
      const work = { path: `${path}#undo`, input, timeoutMs: undefined }
      if (compensate?.kind === 'program')
        end = await programOf(this.#run, state, {
          ...work,
          node: compensate,
          attempt: 1,
          resumed,
          requests: await requestsFor(this.#run, state, work.path),
          settled: [],
        })
      else end = await callOf(this.#run, state, compensate?.capability ?? '', work)
    } catch (error) {
      end = { end: 'failure', error: failureOfNode(error), repeatable: false }
    }
    if (end.end === 'lost') throw end.error
    if (end.end !== 'value' && this.#run.stop.signal.aborted) return
    const used: WithUsed = { ...(end.used && { used: end.used }), ...(end.ran && { ran: end.ran }) }
    if (end.end === 'value') this.#run.emit({ node: path, type: 'node_undone', ...used })
    else if (end.end === 'asks') {
      // What undoes something waits as long as it takes: nobody else will.
      const asked = end.asked.map(({ request }) => ({ request }))
      const emit = (event: NodeEvent): void => this.#run.emit({ ...event, ...used })
      await ask({ values: this.#run.values, emit }, state, asked)
    } else {
      const error = end.end === 'failure' ? end.error : end.end === 'short' ? shortOf(end.part) : IN_DOUBT
      this.#run.emit({ node: path, type: 'node_not_undone', error, ...used })
    }
  }
}

/** What is used up is not given to what undoes: a plan leaves room for it. */
function shortOf(part: string): Failure {
  return { class: 'fatal', code: 'budget_exhausted', message: noneLeft(part, 'to undo it').message }
}
