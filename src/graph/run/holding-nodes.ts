/** Nodes that hold others, and the run itself: how many there are in them, and what comes out. */
import type { Overrides } from './evaluate.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import { failureOfNode, NOTHING, type RunContext } from './run-context.ts'
import type { ValueRef } from './run-event.ts'

export class HoldingNodes {
  readonly #run: RunContext

  constructor(run: RunContext) {
    this.#run = run
  }

  async expand(state: NodeState): Promise<void> {
    const { node } = state
    if (node.kind !== 'each') return
    const list = await this.#run.values.load(state.input ?? NOTHING)
    if (!Array.isArray(list) || list.length > node.most) {
      const what = Array.isArray(list)
        ? `${list.length} items, and at most ${node.most} are taken`
        : 'no list'
      this.#run.fail(state, { class: 'invalid', code: 'invalid_argument', message: `"over" gave ${what}.` })
      return
    }
    this.#run.emit({ node: state.path, type: 'node_expanded', items: list.length })
  }

  async conclude(state: NodeState): Promise<void> {
    const { node, path } = state
    const { values } = this.#run
    try {
      if (node.kind === 'each') {
        const outputs: unknown[] = []
        for (let i = 0; i < (state.items ?? 0); i += 1) outputs.push(await this.#outputOf(state.inner.get(i)))
        this.#run.emit({ node: path, type: 'node_completed', output: await values.keep(outputs) })
      } else if (node.kind === 'loop' && !state.roundsDone) await this.#endRound(state)
      else if (node.kind === 'loop')
        this.#run.emit({ node: path, type: 'node_completed', output: state.roundState ?? NOTHING })
      else {
        const output = await values.keep(await this.#outputOf(state.inner.get(0)))
        this.#run.emit({ node: path, type: 'node_completed', output })
      }
    } catch (error) {
      this.#run.fail(state, failureOfNode(error))
    }
  }

  async #endRound(state: NodeState): Promise<void> {
    const { node, path, rounds, scope } = state
    if (node.kind !== 'loop') return
    const after = await this.#run.values.keep(await this.#outputOf(state.inner.get(rounds)))
    const overrides: Overrides = { state: after, index: { value: rounds } }
    const done = (await this.#run.evaluator.evaluate(node.until, scope, this.#run.stop, overrides)) === true
    if (!done && rounds + 1 >= node.most) {
      const message = `It went round ${node.most} times, as often as it may, and was not done.`
      this.#run.fail(state, { class: 'fatal', code: 'budget_exhausted', message })
    } else this.#run.emit({ node: path, type: 'node_round', round: rounds, state: after, done })
  }

  async complete(): Promise<void> {
    const { state, values } = this.#run
    if (state.root === undefined) return
    let output: ValueRef
    try {
      output = await values.keep(await this.#outputOf(state.root))
    } catch (thrown) {
      const { message, ...failure } = failureOfNode(thrown)
      const error = { ...failure, message: `The output of the plan: ${message}`.slice(0, 2_000) }
      this.#run.emit({ type: 'failing', node: '', error })
      return
    }
    this.#run.emit({ type: 'completed', output })
  }

  async #outputOf(scope: ScopeState | undefined): Promise<unknown> {
    if (scope === undefined) return null
    return this.#run.evaluator.evaluate(scope.plan.scope.output ?? null, scope, this.#run.stop)
  }
}
