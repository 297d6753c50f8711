/**
 * Undoes completed nodes, each by what its plan declares.
 *
 * Invariant: an undoing whose process died is taken up where the journal has it, and made again only if that cannot do
 * twice what was done once.
 */
import { parseLimits } from '../../machine/limits.ts'
import { callOf } from './call-of.ts'
import type { NodeState } from './node-state.ts'
import type { WorkEnd } from './node-work.ts'
import { failureOfNode, IN_DOUBT, NOTHING, type RunContext } from './run-context.ts'

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
    if (call?.answer?.ok === true) this.#run.emit({ node: path, type: 'node_undone' })
    else if (call?.answer?.ok === false)
      this.#run.emit({ node: path, type: 'node_not_undone', error: call.answer.error })
    else if (call !== undefined && !call.repeatable)
      this.#run.emit({ node: path, type: 'node_not_undone', error: IN_DOUBT })
    else await this.#compensate(state, true)
  }

  async #compensate(state: NodeState, resumed: boolean): Promise<void> {
    const { path, node, scope, output = NOTHING } = state
    const compensate = 'compensate' in node ? node.compensate : undefined
    let end: WorkEnd
    try {
      const signal = this.#run.signalOf(path)
      const input = await this.#run.evaluator.evaluate(compensate?.input ?? null, scope, signal, { output })
      const work = { path: `${path}#undo`, input, timeoutMs: undefined }
      if (compensate?.kind === 'program')
        end = await this.#run.work.program({
          ...work,
          node: compensate,
          limits: parseLimits(compensate.limits),
          signal,
          attempt: 1,
          atMs: state.attemptAtMs ?? 0,
          resumed,
        })
      else end = await callOf(this.#run, state, compensate?.capability ?? '', work)
    } catch (error) {
      end = { end: 'failure', error: failureOfNode(error), repeatable: false }
    }
    if (end.end === 'lost') throw end.error
    if (end.end !== 'value' && this.#run.stop.signal.aborted) return
    if (end.end === 'value') this.#run.emit({ node: path, type: 'node_undone' })
    else {
      const error = end.end === 'failure' ? end.error : IN_DOUBT
      this.#run.emit({ node: path, type: 'node_not_undone', error })
    }
  }
}
