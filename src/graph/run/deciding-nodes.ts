/** Nodes that decide, wait or ask, and do nothing in the world. */
import { digestValue } from '../../values/digest-value.ts'
import type { NodeState } from './node-state.ts'
import { failureOfNode, NOTHING, type RunContext } from './run-context.ts'

export class DecidingNodes {
  readonly #run: RunContext

  constructor(run: RunContext) {
    this.#run = run
  }

  async choose(state: NodeState): Promise<void> {
    const { node, scope, path } = state
    if (node.kind !== 'choice') return
    let chosen = node.otherwise ?? []
    try {
      for (const { when, take } of node.cases) {
        if ((await this.#run.evaluator.evaluate(when, scope, this.#run.stop.signal)) !== true) continue
        chosen = take
        break
      }
    } catch (error) {
      this.#run.fail(state, failureOfNode(error))
      return
    }
    this.#run.emit({ node: path, type: 'node_completed', output: { value: [...chosen] }, chosen })
  }

  async wait(state: NodeState): Promise<void> {
    const { node, path } = state
    if (node.kind !== 'wait') return
    const nowMs = this.#run.clock.now()
    if (node.event !== undefined) {
      const expiresAtMs = node.expiresMs === undefined ? undefined : nowMs + node.expiresMs
      this.#run.emit({
        node: path,
        type: 'node_waiting',
        waiting: { for: 'event', name: node.event, ...(expiresAtMs !== undefined && { expiresAtMs }) },
      })
      return
    }
    const until =
      node.forMs === undefined ? await this.#run.values.load(state.input ?? NOTHING) : nowMs + node.forMs
    const atMs = typeof until === 'string' ? Date.parse(until) : until
    if (typeof atMs !== 'number' || !Number.isFinite(atMs)) {
      this.#run.fail(state, { class: 'invalid', code: 'invalid_argument', message: '"until" gave no time.' })
      return
    }
    this.#run.emit({ node: path, type: 'node_waiting', waiting: { for: 'time', atMs } })
  }

  async ask(state: NodeState): Promise<void> {
    const { node, path } = state
    if (node.kind !== 'approval') return
    const { run, clock } = this.#run
    const request = digestValue({
      run,
      node: path,
      question: node.question,
      shown: state.input ?? NOTHING,
      plan: this.#run.state.proposal?.plan,
    })
    const expiresAtMs = node.expiresMs === undefined ? undefined : clock.now() + node.expiresMs
    this.#run.emit({
      node: path,
      type: 'node_waiting',
      waiting: { for: 'person', request, ...(expiresAtMs !== undefined && { expiresAtMs }) },
    })
  }
}
