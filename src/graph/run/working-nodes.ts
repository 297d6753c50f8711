/**
 * Nodes from their beginning to their end: started, at work, tried again, failed, or taken up from another process.
 *
 * Invariant: of a node that an earlier process left at work, a call that was answered is not made again, and one that
 * was let in is made again only if it is repeatable.
 */
import { isEffect, isGuest, kindOf } from '../plan/node-kinds.ts'
import type { PlanNode } from '../plan/plan.ts'
import { UNDO } from '../plan/rights-at.ts'
import { ask, EXPIRED, requestsFor } from './asking.ts'
import { callOf } from './call-of.ts'
import { DecidingNodes } from './deciding-nodes.ts'
import { EvaluationStopped } from './evaluate.ts'
import { Fallbacks } from './fallbacks.ts'
import type { HoldingNodes } from './holding-nodes.ts'
import { isFailing } from './next-actions.ts'
import type { NodeState, ScopeState } from './node-state.ts'
import type { ProgramWork, WorkEnd } from './node-work.ts'
import { noneLeft } from './none-left.ts'
import { programOf } from './program-of.ts'
import { jitterOf, nextAttempt } from './retry.ts'
import { failureOfNode, IN_DOUBT, NOTHING, type RunContext, type WithUsed } from './run-context.ts'
import type { CallInDoubt, Failure, NodeEvent, ValueRef } from './run-event.ts'
import type { Standstill } from './run-state.ts'
import { whyNotStart } from './starting.ts'

export class WorkingNodes {
  readonly #run: RunContext
  readonly #holding: HoldingNodes
  readonly #deciding: DecidingNodes
  readonly #fallbacks: Fallbacks

  constructor(run: RunContext, holding: HoldingNodes) {
    this.#run = run
    this.#holding = holding
    this.#deciding = new DecidingNodes(run)
    this.#fallbacks = new Fallbacks(run)
  }

  /** Evaluates its condition and its input, and starts it, or skips it. */
  async begin(path: string, scope: ScopeState, node: PlanNode): Promise<void> {
    const { state, values } = this.#run
    const stop = this.#run.stopOf(path)
    let begun: NodeEvent
    let failure: Failure | undefined
    try {
      const isWanted =
        node.when === undefined || (await this.#run.evaluator.evaluate(node.when, scope, stop)) === true
      begun = isWanted
        ? started(path, await values.keep(await this.#run.evaluator.evaluate(inputOf(node), scope, stop)))
        : { node: path, type: 'node_skipped', reason: 'condition' }
    } catch (error) {
      if (error instanceof EvaluationStopped) return
      failure = failureOfNode(error)
      begun = started(path, NOTHING)
    }
    // What happened meanwhile may have decided that nothing begins any more.
    if (stop.stopped || state.status !== 'running' || isFailing(scope)) return
    if (begun.type === 'node_started') {
      const why = whyNotStart(state, { path, scope, node, input: begun.input })
      if (why !== undefined) return this.#run.emit({ type: 'frozen', ...why })
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
      else this.#run.freeze(node, inDoubt(path))
    } else if (isCancelled && !isGuest(node.node)) this.#run.emit({ node: path, type: 'node_cancelled' })
    else await this.#work(node, true)
  }

  /** The timer of a node is due. */
  async wake(state: NodeState): Promise<void> {
    const { path, waiting, status } = state
    if (status === 'retrying') {
      const { node, scope, input = NOTHING } = state
      const why = whyNotStart(this.#run.state, { path, scope, node, input, known: state })
      if (why !== undefined) return this.#run.emit({ type: 'frozen', ...why })
      this.#run.emit({ node: path, type: 'node_started', attempt: state.attempt + 1, input })
      return this.#work(state, false)
    }
    if (waiting?.for === 'time') {
      this.#run.emit({ node: path, type: 'node_woken', value: { value: waiting.atMs } })
      return this.#work(state, true)
    }
    if (waiting?.for === 'person' && isGuest(state.node)) return this.goOn(state)
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
    if (state.instead !== undefined) return this.#fallbacks.given(state, state.instead)
    switch (node.kind) {
      case 'call': {
        const { path, input } = state
        const work = {
          path,
          input: await this.#run.values.load(input ?? NOTHING),
          timeoutMs: node.timeoutMs,
        }
        const end = await callOf(this.#run, state, node.capability, work)
        return this.#ended(state, end)
      }
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
        return
      default:
        return this.#ended(state, await this.#program(state, resumed))
    }
  }

  async #program(state: NodeState, resumed: boolean): Promise<WorkEnd> {
    const { node } = state
    if (!isGuest(node)) throw new TypeError('No guest.')
    await this.#run.journal.flush()
    return programOf(this.#run, state, {
      path: state.path,
      node,
      input: await this.#run.values.load(state.input ?? NOTHING),
      timeoutMs: node.timeoutMs,
      attempt: state.attempt,
      resumed,
      requests: await requestsFor(this.#run, state, state.path),
      settled: await this.#settled(state),
    })
  }

  /** What programs took that earlier processes left at work, before anybody takes anything. */
  async recall(): Promise<void> {
    const { state, work } = this.#run
    const left = [...state.live.values()].map((node) => ({ node, path: node.path }))
    if (state.undoing !== undefined) left.push({ node: state.undoing, path: state.undoing.path + UNDO })
    for (const { node, path } of left) {
      const isProgram = path === node.path ? isGuest(node.node) : undoesByProgram(node)
      if (!isProgram || node.attempt === 0) continue
      const by = await work.tookBefore?.(path, path === node.path ? node.attempt : 1)
      if (by !== undefined) this.#run.purseOf(node, path).recall(by)
    }
  }

  /** What people said of the calls of a program that were in doubt. */
  async #settled({ doubts }: NodeState): Promise<ProgramWork['settled']> {
    const settled: ProgramWork['settled'][number][] = []
    for (const { call, answer, settled: isSettled } of doubts.values()) {
      if (!isSettled) continue
      if (answer?.ok !== true) settled.push({ call })
      else settled.push({ call, answer: { value: await this.#run.values.load(answer.value) } })
    }
    return settled
  }

  async #ended(state: NodeState, end: WorkEnd): Promise<void> {
    const { path } = state
    // Brought to rest: who goes on takes it up.
    if (end.end !== 'value' && this.#run.stop.signal.aborted) return
    const used: WithUsed = { ...(end.used && { used: end.used }), ...(end.ran && { ran: end.ran }) }
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
      case 'in_doubt': {
        if (this.#run.state.status === 'cancelling') return this.#run.fail(state, IN_DOUBT, used)
        const calls: CallInDoubt[] = []
        for (const { args, ...call } of end.calls ?? [])
          calls.push({ ...call, args: await this.#run.values.keep(args) })
        const more = { ...used, ...(calls.length > 0 && { calls }) }
        this.#run.freeze(state, inDoubt(path), more)
        return
      }
      case 'asks': {
        if (this.#run.state.status === 'cancelling')
          return this.#run.emit({ node: path, type: 'node_cancelled', ...used })
        const { wakeAtMs } = end
        const parts = {
          values: this.#run.values,
          emit: (event: NodeEvent) => this.#run.emit({ ...event, ...used }),
        }
        return ask(parts, state, end.asked, wakeAtMs === undefined ? {} : { wakeAtMs })
      }
      case 'short':
        if (this.#run.state.status === 'cancelling')
          return this.#run.emit({ node: path, type: 'node_cancelled', ...used })
        return this.#run.freeze(state, noneLeft(end.part, `for "${path}"`), used)
      case 'lost':
        throw end.error
    }
  }

  /** An attempt failed: it is made again, something stands in for it, or the node has failed. */
  async #failed(state: NodeState, error: Failure, repeatable: boolean, used: WithUsed = {}): Promise<void> {
    const { node, path } = state
    if (!isEffect(node)) {
      this.#run.emit({ node: path, type: 'node_failed', error, ...used })
      return
    }
    const jitter = jitterOf(this.#run.state.proposal?.id ?? this.#run.run, path, state.attempt)
    const next = nextAttempt(node.retry, state.attempt, error, this.#run.clock.now(), repeatable, jitter)
    if (next !== undefined) {
      this.#run.emit({ node: path, type: 'node_retrying', ...next, error, ...used })
      return
    }
    await this.#fallbacks.standIn(state, error, used)
  }
}

function undoesByProgram({ node }: NodeState): boolean {
  return isEffect(node) && node.compensate?.kind === 'program'
}

/** What gives the input of a node. */
export function inputOf(node: PlanNode): unknown {
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
    default:
      return kindOf(node).inputOf(node)
  }
}

function started(node: string, input: ValueRef): NodeEvent {
  return { node, type: 'node_started', attempt: 1, input }
}

function inDoubt(path: string): Standstill {
  return { reason: 'in_doubt', message: `Whether "${path}" took effect is not known.` }
}
