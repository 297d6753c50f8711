/** Nodes that decide, wait or ask, and do nothing in the world. */
import { askedOf, EXPIRED, isOver, questionOf, rejection } from './asking.ts'
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
        if ((await this.#run.evaluator.evaluate(when, scope, this.#run.stop)) !== true) continue
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
    const { values, clock } = this.#run
    const shown = await values.load(state.input ?? NOTHING)
    const request = questionOf(this.#run, state, { kind: 'question', question: node.question, args: shown })
    const expiresAtMs = node.expiresMs === undefined ? undefined : clock.now() + node.expiresMs
    const asked = await askedOf(values, request, expiresAtMs)
    this.#run.emit({ node: path, type: 'node_waiting', waiting: { for: 'person', asked: [asked] } })
  }

  /** Somebody decided. The output is what the plan's references see of it. */
  async decided(state: NodeState): Promise<void> {
    const { node, path } = state
    const [request] = state.requests.values()
    if (node.kind !== 'approval' || request?.decision === undefined) return
    const { by, approved, comment, reason, value } = request.decision
    if (isOver(request, this.#run.clock.now())) {
      this.#run.fail(state, EXPIRED)
      return
    }
    if (!approved && node.rejected !== 'continue') {
      this.#run.fail(state, rejection(`"${path}"`, by, reason, comment))
      return
    }
    const shown = await this.#run.values.load(value ?? state.input ?? NOTHING)
    const output = { approved, by, comment: approved ? comment : reason || comment, value: shown }
    this.#run.emit({ node: path, type: 'node_completed', output: await this.#run.values.keep(output) })
  }
}
