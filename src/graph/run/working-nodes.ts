/**
 * Nodes from their beginning to their end: started, at work, tried again, failed, or taken up from another process.
 *
 * Invariant: of a node that an earlier process left at work, a call that was answered is not made again, and one that
 * was let in is made again only if it is repeatable.
 */
import { parseLimits } from '../../machine/limits.ts'
import type { PlanNode } from '../plan/plan.ts'
import { EXPIRED } from './asking.ts'
import { leftFor, leftIn, limitsWithin, usedUp } from './budgets.ts'
import { callOf } from './call-of.ts'
import { DecidingNodes } from './deciding-nodes.ts'
import type { HoldingNodes } from './holding-nodes.ts'
import { isFailing } from './next-actions.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import type { WorkEnd } from './node-work.ts'
import { fallbackFor, jitterOf, nextAttempt } from './retry.ts'
import { failureOfNode, IN_DOUBT, NOTHING, type RunContext, type WithUsed } from './run-context.ts'
import type { Failure, NodeEvent, ValueRef } from './run-event.ts'

export class WorkingNodes {
  readonly #run: RunContext
  readonly #holding: HoldingNodes
  readonly #deciding: DecidingNodes

  constructor(run: RunContext, holding: HoldingNodes) {
    this.#run = run
    this.#holding = holding
    this.#deciding = new DecidingNodes(run)
  }

  /** Evaluates its condition and its input, and starts it, or skips it. */
  async begin(path: string, scope: ScopeState, node: PlanNode): Promise<void> {
    const { state, values } = this.#run
    const signal = this.#run.signalOf(path)
    let begun: NodeEvent
    let failure: Failure | undefined
    try {
      const isWanted =
        node.when === undefined || (await this.#run.evaluator.evaluate(node.when, scope, signal)) === true
      begun = isWanted
        ? started(path, await values.keep(await this.#run.evaluator.evaluate(inputOf(node), scope, signal)))
        : { node: path, type: 'node_skipped', reason: 'condition' }
    } catch (error) {
      failure = failureOfNode(error)
      begun = started(path, NOTHING)
    }
    // What happened meanwhile may have decided that nothing begins any more.
    if (signal.aborted || state.status !== 'running' || isFailing(scope)) return
    const part = begun.type === 'node_started' ? usedUp(leftIn(state, scope, this.#run.reserve)) : undefined
    if (part !== undefined) {
      this.#run.emit({ type: 'frozen', reason: 'budget', message: `No ${part} is left for "${path}".` })
      return
    }
    this.#run.emit(begun)
    const node_ = state.node(path)
    if (begun.type === 'node_skipped' || node_ === undefined) return
    if (failure === undefined) await this.#work(node_, false)
    else this.#run.fail(node_, failure)
  }

  /** Goes on with a node that an earlier process left at work. */
  async takeUp(node: NodeState): Promise<void> {
    const { call, path } = node
    const isCancelled = this.#run.state.status === 'cancelling'
    if (call?.answer?.ok === true) {
      this.#run.emit({ node: path, type: 'node_completed', output: call.answer.value })
    } else if (call?.answer?.ok === false) {
      await this.#failed(node, call.answer.error, call.repeatable)
    } else if (call !== undefined && !call.repeatable) {
      if (isCancelled) this.#run.fail(node, IN_DOUBT)
      else this.#run.freeze(node, 'in_doubt', `Whether "${path}" took effect is not known.`)
    } else if (isCancelled && node.node.kind !== 'program')
      this.#run.emit({ node: path, type: 'node_cancelled' })
    else await this.#work(node, true)
  }

  /** The timer of a node is due. */
  async wake(state: NodeState): Promise<void> {
    const { path, waiting, status } = state
    if (status === 'retrying') {
      this.#run.emit({
        node: path,
        type: 'node_started',
        attempt: state.attempt + 1,
        input: state.input ?? NOTHING,
      })
      return this.#work(state, false)
    }
    if (waiting?.for === 'time') {
      this.#run.emit({ node: path, type: 'node_woken', value: { value: waiting.atMs } })
      return this.#work(state, true)
    }
    if (waiting?.for === 'person') return this.#failed(state, EXPIRED, false)
    this.#run.fail(state, { class: 'timeout', code: 'timeout', message: 'The event has not come in time.' })
  }

  /** Somebody decided what a node waits for. From here on that cannot be taken back. */
  async goOn(state: NodeState): Promise<void> {
    this.#run.emit({ node: state.path, type: 'node_woken' })
    await this.#work(state, true)
  }

  async #work(state: NodeState, resumed: boolean): Promise<void> {
    const { node } = state
    switch (node.kind) {
      case 'call': {
        const { path, input } = state
        const giveBack = this.#run.reserve.take(state, { calls: 1 })
        const work = {
          path,
          input: await this.#run.values.load(input ?? NOTHING),
          timeoutMs: node.timeoutMs,
        }
        const end = await callOf(this.#run, state, node.capability, work)
        giveBack()
        return this.#ended(state, end)
      }
      case 'program':
        return this.#ended(state, await this.#program(state, resumed))
      case 'each':
        if (state.items === undefined) await this.#holding.expand(state)
        return
      case 'choice':
        return this.#deciding.choose(state)
      case 'wait':
        if (state.woken === undefined) return this.#deciding.wait(state)
        this.#run.emit({ node: state.path, type: 'node_completed', output: state.woken })
        return
      case 'approval':
        return state.requests.size === 0 ? this.#deciding.ask(state) : this.#deciding.decided(state)
      case 'loop':
      case 'plan':
    }
  }

  async #program(state: NodeState, resumed: boolean): Promise<WorkEnd> {
    const { node } = state
    if (node.kind !== 'program') throw new TypeError('No program.')
    await this.#run.journal.flush()
    const limits = limitsWithin(parseLimits(node.limits), leftFor(this.#run.state, state, this.#run.reserve))
    const { fuel, calls, wallMs: activeMs, bytesIn, bytesOut } = limits
    const giveBack = this.#run.reserve.take(state, { fuel, calls, activeMs, bytes: bytesIn + bytesOut })
    const end = await this.#run.work.program({
      path: state.path,
      node,
      limits,
      input: await this.#run.values.load(state.input ?? NOTHING),
      timeoutMs: node.timeoutMs,
      signal: this.#run.signalOf(state.path),
      attempt: state.attempt,
      atMs: state.attemptAtMs ?? 0,
      resumed,
    })
    giveBack()
    return end
  }

  async #ended(state: NodeState, end: WorkEnd): Promise<void> {
    const { path } = state
    // Brought to rest: who goes on takes it up.
    if (end.end !== 'value' && this.#run.stop.signal.aborted) return
    const used = end.used === undefined ? {} : { used: end.used }
    switch (end.end) {
      case 'value': {
        const answer = state.call?.answer
        const output = answer?.ok === true ? answer.value : await this.#run.values.keep(end.value)
        this.#run.emit({ node: path, type: 'node_completed', output, ...used })
        return
      }
      case 'failure':
        if (this.#run.state.status !== 'cancelling')
          return this.#failed(state, end.error, end.repeatable, used)
        this.#run.emit({ node: path, type: 'node_cancelled', ...used })
        return
      case 'in_doubt':
        if (this.#run.state.status === 'cancelling') this.#run.fail(state, IN_DOUBT, used)
        else this.#run.freeze(state, 'in_doubt', `Whether "${path}" took effect is not known.`, used)
        return
      case 'lost':
        throw end.error
    }
  }

  /** An attempt failed: it is made again, something stands in for it, or the node has failed. */
  async #failed(state: NodeState, error: Failure, repeatable: boolean, used: WithUsed = {}): Promise<void> {
    const { node, path, scope } = state
    if (node.kind !== 'call' && node.kind !== 'program') {
      this.#run.emit({ node: path, type: 'node_failed', error, ...used })
      return
    }
    const jitter = jitterOf(this.#run.state.proposal?.id ?? this.#run.run, path, state.attempt)
    const next = nextAttempt(node.retry, state.attempt, error, this.#run.clock.now(), repeatable, jitter)
    if (next !== undefined) {
      this.#run.emit({ node: path, type: 'node_retrying', ...next, error, ...used })
      return
    }
    const found = fallbackFor(node.fallback, error)
    if (found?.fallback.node !== undefined) {
      this.#run.emit({ node: path, type: 'node_failed', error, standby: found.fallback.node, ...used })
    } else if (found !== undefined && Object.hasOwn(found.fallback, 'value')) {
      try {
        const value = await this.#run.evaluator.evaluate(
          found.fallback.value,
          scope,
          this.#run.signalOf(path),
        )
        const output = await this.#run.values.keep(value)
        this.#run.emit({ node: path, type: 'node_recovered', error, fallback: found.index, output, ...used })
      } catch (thrown) {
        this.#run.fail(state, failureOfNode(thrown), used)
      }
    } else this.#run.fail(state, error, used)
  }
}

function inputOf(node: PlanNode): unknown {
  switch (node.kind) {
    case 'program':
    case 'call':
    case 'plan':
      return node.input ?? null
    case 'approval':
      return node.show ?? null
    case 'each':
      return node.over
    case 'loop':
      return node.state ?? null
    case 'wait':
      return node.until ?? null
    case 'choice':
      return null
  }
}

function started(node: string, input: ValueRef): NodeEvent {
  return { node, type: 'node_started', attempt: 1, input }
}
