/**
 * Runs a plan: takes the actions of its state one after the other and side by side, and writes down what happens
 * before anything follows from it.
 *
 * Invariants
 * 1. An event is in the journal before its consequences reach the world; events of one moment are written together.
 * 2. Whatever was begun by an earlier process and has no end in the journal is taken up where the journal has it: a
 *    call that was answered is not made again, one that was let in is made again only if it is repeatable.
 * 3. No action is taken twice: what is at work is known by its node.
 * 4. The runner comes to rest when nothing can be done before somebody decides, an event comes, or the run has ended.
 */
import { asError, CaissonError } from '../../base/errors.ts'
import type { Journal } from '../../journal/journal.ts'
import { parseLimits } from '../../machine/limits.ts'
import type { Clock } from '../../ports/clock.ts'
import { digestValue } from '../../values/digest-value.ts'
import type { PlanNode } from '../plan/plan.ts'
import { leftFor, leftIn, limitsWithin, Reserve, usedUp, wallEndMs } from './budgets.ts'
import { type EvaluateExpression, Evaluator, ExpressionFailed, type Overrides } from './evaluate.ts'
import { type Action, dueMs, isFailing, nextActions, nextDueMs } from './next-actions.ts'
import type { CallWork, NodeWork, WorkEnd } from './node-work.ts'
import { fallbackFor, retryAtMs } from './retry.ts'
import type { Failure, FreezeReason, NodeEvent, RunEvent, Used, ValueRef } from './run-event.ts'
import type { NodeState, RunState, ScopeState } from './run-state.ts'
import type { RunValues } from './run-values.ts'

export interface RunnerParts {
  readonly run: string
  readonly state: RunState
  readonly journal: Pick<Journal, 'add' | 'flush'>
  readonly values: RunValues
  readonly work: NodeWork
  readonly expression: EvaluateExpression
  readonly clock: Pick<Clock, 'now'>
  /** Resolves after so long, or when the signal is raised. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  /** Told of every event after it was added to the journal. What it throws is dropped. */
  readonly onEvent?: (event: RunEvent) => void
}

const LONGEST_SLEEP_MS = 2 ** 31 - 1
const NOTHING: ValueRef = { value: null }

export class Runner {
  readonly #parts: RunnerParts
  readonly #evaluator: Evaluator
  /** Work that is under way, by what it is for. */
  readonly #busy = new Map<string, Promise<void>>()
  /** What stops single pieces of work, by the same keys. */
  readonly #working = new Map<string, AbortController>()
  /** Nodes at work that nobody works at: an earlier process left them so, or somebody decided that they go on. */
  readonly #leftAtWork: Set<string>
  /** The node that an earlier process was undoing. */
  #undoing: NodeState | undefined
  readonly #stop = new AbortController()
  readonly #reserve = new Reserve()
  #failure: Error | undefined
  #changed: (() => void) | undefined
  #lastCall: number

  constructor(parts: RunnerParts) {
    this.#parts = parts
    this.#evaluator = new Evaluator(parts.state, parts.values, parts.expression)
    this.#leftAtWork = new Set(parts.state.live.keys())
    this.#undoing = parts.state.undoing
    this.#stop.signal.addEventListener('abort', () => {
      for (const work of this.#working.values()) work.abort(this.#stop.signal.reason)
    })
    this.#lastCall = parts.state.calls
  }

  /**
   * Goes on until the run has ended, or waits for somebody.
   * @param signal brings it to rest: what is at work is told, and is taken up again by whoever goes on
   * @throws what the journal threw: the run stands where that has it
   */
  async drive(signal?: AbortSignal): Promise<void> {
    const stop = (): void => this.#stop.abort(signal?.reason)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted === true) stop()
    try {
      do this.#begin()
      while (!this.#stop.signal.aborted && (await this.#pause()))
      await Promise.all(this.#busy.values())
      if (this.#failure !== undefined) throw this.#failure
      await this.#parts.journal.flush()
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Adds events that somebody else decided on. @throws CaissonError `invalid_transition` */
  async record(...events: readonly RunEvent[]): Promise<void> {
    this.#emit(...events)
    await this.#parts.journal.flush()
  }

  #emit(...events: readonly RunEvent[]): void {
    const { state, journal, onEvent } = this.#parts
    for (const event of events) {
      state.apply(event)
      journal.add(event)
      if (event.type === 'node_thawed') this.#leftAtWork.add(event.node)
      try {
        onEvent?.(event)
      } catch {
        // Who listens changes nothing of what happens.
      }
    }
    this.#changed?.()
  }

  /** Begins everything that can begin. */
  #begin(): void {
    const { state, clock } = this.#parts
    if (state.status === 'cancelling') for (const work of this.#working.values()) work.abort()
    for (const path of this.#leftAtWork) {
      const node = state.live.get(path)
      if (node?.status === 'running' && state.status !== 'frozen') this.#under(path, () => this.#takeUp(node))
    }
    if (this.#undoing !== undefined) this.#under('', () => this.#takeUpUndoing())
    if (state.status !== 'frozen') this.#leftAtWork.clear()
    for (;;) {
      const actions = nextActions(state).filter((action) => !this.#busy.has(keyOf(action)))
      const decided = actions.find(({ do: what }) => AT_ONCE.has(what))
      if (decided !== undefined) this.#decide(decided)
      else {
        for (const action of actions) this.#under(keyOf(action), () => this.#act(action))
        break
      }
    }
    if (state.status !== 'running') return
    const nowMs = clock.now()
    if (nowMs >= (wallEndMs(state) ?? Number.POSITIVE_INFINITY)) {
      this.#emit({ type: 'frozen', reason: 'budget', message: 'No wallMs is left.' })
      return
    }
    for (const node of state.live.values()) {
      const due = dueMs(node)
      if (due !== undefined && due <= nowMs) this.#under(node.path, () => this.#wake(node))
    }
  }

  #under(key: string, work: () => Promise<void>): void {
    if (this.#busy.has(key) || this.#stop.signal.aborted) return
    const done = (async () => {
      // Whatever is begun together is begun before any of it changes the state.
      await Promise.resolve()
      try {
        await work()
      } catch (error) {
        this.#failure ??= asError(error)
        this.#stop.abort(error)
      }
      this.#busy.delete(key)
      this.#working.delete(key)
      this.#changed?.()
    })()
    this.#busy.set(key, done)
  }

  /** Until something changed, or a timer is due. False where neither will ever be. */
  async #pause(): Promise<boolean> {
    const { state, clock, sleep } = this.#parts
    const next = state.status === 'running' ? nextDueMs(state) : undefined
    if (next === undefined && this.#busy.size === 0) return false
    const end = state.status === 'running' ? wallEndMs(state) : undefined
    const due = next === undefined || end === undefined ? (next ?? end) : Math.min(next, end)
    const waker = new AbortController()
    const wake = (): void => waker.abort()
    const changed = new Promise<void>((resolve) => {
      this.#changed = resolve
    })
    this.#stop.signal.addEventListener('abort', wake)
    if (due === undefined) await changed
    else {
      const ms = Math.min(Math.max(due - clock.now(), 0), LONGEST_SLEEP_MS)
      await Promise.race([changed, sleep(ms, waker.signal)])
    }
    wake()
    this.#stop.signal.removeEventListener('abort', wake)
    this.#changed = undefined
    return true
  }

  /** Stops with the runner, and when the run is cancelled. */
  #signalOf(key: string): AbortSignal {
    const known = this.#working.get(key)
    if (known !== undefined) return known.signal
    const controller = new AbortController()
    if (this.#stop.signal.aborted) controller.abort(this.#stop.signal.reason)
    this.#working.set(key, controller)
    return controller.signal
  }

  /** What follows from the state alone. */
  #decide(action: Action): void {
    switch (action.do) {
      case 'skip':
        this.#emit({ node: action.path, type: 'node_skipped', reason: action.reason })
        return
      case 'fail':
        this.#emit({ node: action.node.path, type: 'node_failed', error: failureOfInner(action.because) })
        return
      case 'stand_in':
        this.#standIn(action.node)
        return
      case 'call_off':
        this.#emit({ node: action.node.path, type: 'node_cancelled' })
        return
      case 'begin_undoing':
        this.#emit({ type: 'undoing' })
        return
      case 'fail_run':
        this.#emit({ type: 'failing', node: action.because.path, error: failureOfInner(action.because) })
        return
      case 'end':
        this.#end(action.as)
        return
      default:
    }
  }

  async #act(action: Action): Promise<void> {
    switch (action.do) {
      case 'begin':
        return this.#beginNode(action.path, action.scope, action.scope.plan.node(action.id))
      case 'conclude':
        return this.#conclude(action.node)
      case 'undo':
        return this.#undo(action.node)
      case 'complete':
        return this.#complete()
      default:
    }
  }

  async #beginNode(path: string, scope: ScopeState, node: PlanNode): Promise<void> {
    const { state, values } = this.#parts
    const signal = this.#signalOf(path)
    let begun: NodeEvent
    let failure: Failure | undefined
    try {
      const isWanted =
        node.when === undefined || (await this.#evaluator.evaluate(node.when, scope, signal)) === true
      begun = isWanted
        ? started(path, await values.keep(await this.#evaluator.evaluate(inputOf(node), scope, signal)))
        : { node: path, type: 'node_skipped', reason: 'condition' }
    } catch (error) {
      failure = failureOfNode(error)
      begun = started(path, NOTHING)
    }
    // What happened meanwhile may have decided that nothing begins any more.
    if (signal.aborted || state.status !== 'running' || isFailing(scope)) return
    const part = begun.type === 'node_started' ? usedUp(leftIn(state, scope, this.#reserve)) : undefined
    if (part !== undefined) {
      this.#emit({ type: 'frozen', reason: 'budget', message: `No ${part} is left for "${path}".` })
      return
    }
    this.#emit(begun)
    const node_ = state.node(path)
    if (begun.type === 'node_skipped' || node_ === undefined) return
    if (failure === undefined) await this.#work(node_, false)
    else this.#fail(node_, failure)
  }

  /** Goes on with a node that an earlier process left at work. */
  async #takeUp(node: NodeState): Promise<void> {
    const { call, path } = node
    const isCancelled = this.#parts.state.status === 'cancelling'
    if (call?.answer?.ok === true) {
      this.#emit({ node: path, type: 'node_completed', output: call.answer.value })
    } else if (call?.answer?.ok === false) {
      await this.#failed(node, call.answer.error, call.repeatable)
    } else if (call !== undefined && !call.repeatable) {
      if (isCancelled) this.#fail(node, IN_DOUBT)
      else this.#freeze(node, 'in_doubt', `Whether "${path}" took effect is not known.`)
    } else if (isCancelled && node.node.kind !== 'program') this.#emit({ node: path, type: 'node_cancelled' })
    else await this.#work(node, true)
  }

  async #work(state: NodeState, resumed: boolean): Promise<void> {
    const { node } = state
    switch (node.kind) {
      case 'call': {
        const { path, input } = state
        const giveBack = this.#reserve.take(state, { calls: 1 })
        const work = {
          path,
          input: await this.#parts.values.load(input ?? NOTHING),
          timeoutMs: node.timeoutMs,
        }
        const end = await this.#call(state, node.capability, work)
        giveBack()
        return this.#ended(state, end)
      }
      case 'program':
        return this.#ended(state, await this.#program(state, resumed))
      case 'each':
        if (state.items === undefined) await this.#expand(state)
        return
      case 'choice':
        return this.#choose(state)
      case 'wait':
        return this.#wait(state)
      case 'approval':
        return this.#ask(state)
      case 'loop':
      case 'plan':
    }
  }

  /** @param path with `#undo` where it undoes the node */
  #call(
    state: NodeState,
    capability: string,
    { path, input, timeoutMs }: Pick<CallWork, 'path' | 'input' | 'timeoutMs'>,
  ): Promise<WorkEnd> {
    const { values, work, journal } = this.#parts
    const call = state.call?.id ?? ++this.#lastCall
    return work.call({
      path,
      node: { capability },
      input,
      timeoutMs,
      signal: this.#signalOf(state.path),
      call,
      recorded: state.call,
      admitted: async ({ key, repeatable }) => {
        this.#emit({ node: state.path, type: 'node_called', call, key, repeatable })
        await journal.flush()
      },
      answered: async (answer) => {
        const recorded = answer.ok ? { ok: true as const, value: await values.keep(answer.value) } : answer
        this.#emit({ node: state.path, type: 'node_answered', call, answer: recorded })
      },
    })
  }

  async #program(state: NodeState, resumed: boolean): Promise<WorkEnd> {
    const { node } = state
    if (node.kind !== 'program') throw new TypeError('No program.')
    await this.#parts.journal.flush()
    const limits = limitsWithin(parseLimits(node.limits), leftFor(this.#parts.state, state, this.#reserve))
    const { fuel, calls, wallMs: activeMs, bytesIn, bytesOut } = limits
    const giveBack = this.#reserve.take(state, { fuel, calls, activeMs, bytes: bytesIn + bytesOut })
    const end = await this.#parts.work.program({
      path: state.path,
      node,
      limits,
      input: await this.#parts.values.load(state.input ?? NOTHING),
      timeoutMs: node.timeoutMs,
      signal: this.#signalOf(state.path),
      attempt: state.attempt,
      resumed,
    })
    giveBack()
    return end
  }

  async #ended(state: NodeState, end: WorkEnd): Promise<void> {
    const { path } = state
    // Brought to rest: who goes on takes it up.
    if (end.end !== 'value' && this.#stop.signal.aborted && this.#failure === undefined) return
    const used = end.used === undefined ? {} : { used: end.used }
    switch (end.end) {
      case 'value': {
        const answer = state.call?.answer
        const output = answer?.ok === true ? answer.value : await this.#parts.values.keep(end.value)
        this.#emit({ node: path, type: 'node_completed', output, ...used })
        return
      }
      case 'failure':
        if (this.#parts.state.status !== 'cancelling')
          return this.#failed(state, end.error, end.repeatable, used)
        this.#emit({ node: path, type: 'node_cancelled', ...used })
        return
      case 'in_doubt':
        if (this.#parts.state.status === 'cancelling') this.#fail(state, IN_DOUBT, used)
        else this.#freeze(state, 'in_doubt', `Whether "${path}" took effect is not known.`, used)
        return
      case 'lost':
        throw end.error
    }
  }

  /** An attempt failed: it is made again, something stands in for it, or the node has failed. */
  async #failed(
    state: NodeState,
    error: Failure,
    repeatable: boolean,
    used: { readonly used?: Used } = {},
  ): Promise<void> {
    const { node, path, scope } = state
    if (node.kind !== 'call' && node.kind !== 'program') {
      this.#emit({ node: path, type: 'node_failed', error, ...used })
      return
    }
    const atMs = retryAtMs(node.retry, state.attempt, error, this.#parts.clock.now(), repeatable)
    if (atMs !== undefined) {
      this.#emit({ node: path, type: 'node_retrying', atMs, error, ...used })
      return
    }
    const found = fallbackFor(node.fallback, error)
    if (found?.fallback.node !== undefined) {
      this.#emit({ node: path, type: 'node_failed', error, standby: found.fallback.node, ...used })
    } else if (found !== undefined && Object.hasOwn(found.fallback, 'value')) {
      try {
        const value = await this.#evaluator.evaluate(found.fallback.value, scope, this.#signalOf(path))
        const output = await this.#parts.values.keep(value)
        this.#emit({ node: path, type: 'node_recovered', error, fallback: found.index, output, ...used })
      } catch (thrown) {
        this.#fail(state, failureOfNode(thrown), used)
      }
    } else this.#fail(state, error, used)
  }

  #fail({ path }: NodeState, error: Failure, used: { readonly used?: Used } = {}): void {
    this.#emit({ node: path, type: 'node_failed', error, ...used })
  }

  #freeze(
    { path }: NodeState,
    reason: FreezeReason,
    message: string,
    used: { readonly used?: Used } = {},
  ): void {
    this.#emit({ node: path, type: 'node_frozen', reason, ...used })
    if (this.#parts.state.status === 'running') this.#emit({ type: 'frozen', reason, message })
  }

  async #expand(state: NodeState): Promise<void> {
    const { node } = state
    if (node.kind !== 'each') return
    const list = await this.#parts.values.load(state.input ?? NOTHING)
    if (!Array.isArray(list) || list.length > node.most) {
      const what = Array.isArray(list)
        ? `${list.length} items, and at most ${node.most} are taken`
        : 'no list'
      this.#fail(state, { class: 'invalid', code: 'invalid_argument', message: `"over" gave ${what}.` })
      return
    }
    this.#emit({ node: state.path, type: 'node_expanded', items: list.length })
  }

  async #choose(state: NodeState): Promise<void> {
    const { node, scope, path } = state
    if (node.kind !== 'choice') return
    let chosen = node.otherwise ?? []
    try {
      for (const { when, take } of node.cases) {
        if ((await this.#evaluator.evaluate(when, scope, this.#stop.signal)) !== true) continue
        chosen = take
        break
      }
    } catch (error) {
      this.#fail(state, failureOfNode(error))
      return
    }
    this.#emit({ node: path, type: 'node_completed', output: { value: [...chosen] }, chosen })
  }

  async #wait(state: NodeState): Promise<void> {
    const { node, path } = state
    if (node.kind !== 'wait') return
    const nowMs = this.#parts.clock.now()
    if (node.event !== undefined) {
      const expiresAtMs = node.expiresMs === undefined ? undefined : nowMs + node.expiresMs
      this.#emit({
        node: path,
        type: 'node_waiting',
        waiting: { for: 'event', name: node.event, ...(expiresAtMs !== undefined && { expiresAtMs }) },
      })
      return
    }
    const until =
      node.forMs === undefined ? await this.#parts.values.load(state.input ?? NOTHING) : nowMs + node.forMs
    const atMs = typeof until === 'string' ? Date.parse(until) : until
    if (typeof atMs !== 'number' || !Number.isFinite(atMs)) {
      this.#fail(state, { class: 'invalid', code: 'invalid_argument', message: '"until" gave no time.' })
      return
    }
    this.#emit({ node: path, type: 'node_waiting', waiting: { for: 'time', atMs } })
  }

  async #ask(state: NodeState): Promise<void> {
    const { node, path } = state
    if (node.kind !== 'approval') return
    const { run, clock } = this.#parts
    const request = digestValue({
      run,
      node: path,
      question: node.question,
      shown: state.input ?? NOTHING,
      plan: this.#parts.state.proposedPlan,
    })
    const expiresAtMs = node.expiresMs === undefined ? undefined : clock.now() + node.expiresMs
    this.#emit({
      node: path,
      type: 'node_waiting',
      waiting: { for: 'person', request, ...(expiresAtMs !== undefined && { expiresAtMs }) },
    })
  }

  /** The timer of a node is due. */
  async #wake(state: NodeState): Promise<void> {
    const { path, waiting, status } = state
    if (status === 'retrying') {
      this.#emit({
        node: path,
        type: 'node_started',
        attempt: state.attempt + 1,
        input: state.input ?? NOTHING,
      })
      return this.#work(state, false)
    }
    if (waiting?.for === 'time') {
      this.#emit({ node: path, type: 'node_woken' })
      this.#emit({ node: path, type: 'node_completed', output: { value: waiting.atMs } })
      return
    }
    const message =
      waiting?.for === 'event' ? 'The event has not come in time.' : 'Nobody has decided in time.'
    this.#fail(state, { class: 'timeout', code: 'timeout', message })
  }

  async #conclude(state: NodeState): Promise<void> {
    const { node, path } = state
    const { values } = this.#parts
    try {
      if (node.kind === 'each') {
        const outputs: unknown[] = []
        for (let i = 0; i < (state.items ?? 0); i += 1) outputs.push(await this.#outputOf(state.inner.get(i)))
        this.#emit({ node: path, type: 'node_completed', output: await values.keep(outputs) })
      } else if (node.kind === 'loop' && !state.roundsDone) await this.#endRound(state)
      else if (node.kind === 'loop')
        this.#emit({ node: path, type: 'node_completed', output: state.roundState ?? NOTHING })
      else {
        const output = await values.keep(await this.#outputOf(state.inner.get(0)))
        this.#emit({ node: path, type: 'node_completed', output })
      }
    } catch (error) {
      this.#fail(state, failureOfNode(error))
    }
  }

  async #endRound(state: NodeState): Promise<void> {
    const { node, path, rounds, scope } = state
    if (node.kind !== 'loop') return
    const after = await this.#parts.values.keep(await this.#outputOf(state.inner.get(rounds)))
    const overrides: Overrides = { state: after, index: { value: rounds } }
    const done = (await this.#evaluator.evaluate(node.until, scope, this.#stop.signal, overrides)) === true
    if (!done && rounds + 1 >= node.most) {
      const message = `It went round ${node.most} times, as often as it may, and was not done.`
      this.#fail(state, { class: 'fatal', code: 'budget_exhausted', message })
    } else this.#emit({ node: path, type: 'node_round', round: rounds, state: after, done })
  }

  async #outputOf(scope: ScopeState | undefined): Promise<unknown> {
    if (scope === undefined) return null
    return this.#evaluator.evaluate(scope.plan.scope.output ?? null, scope, this.#stop.signal)
  }

  #standIn(state: NodeState): void {
    const { path, standby = '', scope, error, node } = state
    const output = scope.nodes.get(standby)?.output ?? NOTHING
    const fallbacks = 'fallback' in node ? (node.fallback ?? []) : []
    const fallback = fallbacks.findIndex((one) => one.node === standby)
    this.#emit({ node: path, type: 'node_recovered', error: error ?? UNKNOWN, fallback, output })
  }

  async #undo(state: NodeState): Promise<void> {
    this.#emit({ node: state.path, type: 'node_undoing' })
    await this.#parts.journal.flush()
    await this.#compensate(state, false)
  }

  /** Goes on with what an earlier process was undoing. */
  async #takeUpUndoing(): Promise<void> {
    const state = this.#undoing
    this.#undoing = undefined
    if (state === undefined) return
    const { call, path } = state
    if (call?.answer?.ok === true) this.#emit({ node: path, type: 'node_undone' })
    else if (call?.answer?.ok === false)
      this.#emit({ node: path, type: 'node_not_undone', error: call.answer.error })
    else if (call !== undefined && !call.repeatable)
      this.#emit({ node: path, type: 'node_not_undone', error: IN_DOUBT })
    else await this.#compensate(state, true)
  }

  async #compensate(state: NodeState, resumed: boolean): Promise<void> {
    const { path, node, scope, output = NOTHING } = state
    const compensate = 'compensate' in node ? node.compensate : undefined
    let end: WorkEnd
    try {
      const signal = this.#signalOf(path)
      const input = await this.#evaluator.evaluate(compensate?.input ?? null, scope, signal, { output })
      const work = { path: `${path}#undo`, input, timeoutMs: undefined }
      if (compensate?.kind === 'program')
        end = await this.#parts.work.program({
          ...work,
          node: compensate,
          limits: parseLimits(compensate.limits),
          signal,
          attempt: 1,
          resumed,
        })
      else end = await this.#call(state, compensate?.capability ?? '', work)
    } catch (error) {
      end = { end: 'failure', error: failureOfNode(error), repeatable: false }
    }
    if (end.end === 'lost') throw end.error
    if (end.end !== 'value' && this.#stop.signal.aborted) return
    if (end.end === 'value') this.#emit({ node: path, type: 'node_undone' })
    else {
      const error = end.end === 'failure' ? end.error : IN_DOUBT
      this.#emit({ node: path, type: 'node_not_undone', error })
    }
  }

  async #complete(): Promise<void> {
    const { state, values } = this.#parts
    if (state.root === undefined) return
    this.#emit({ type: 'completed', output: await values.keep(await this.#outputOf(state.root)) })
  }

  #end(as: 'failed' | 'cancelled' | 'compensated'): void {
    const { state } = this.#parts
    if (as === 'cancelled') this.#emit({ type: 'cancelled' })
    else if (as === 'failed') this.#emit({ type: 'failed', error: state.failure?.error ?? UNKNOWN })
    else {
      const left = [...state.nodes].filter(({ status }) => status === 'uncompensated')
      this.#emit({ type: 'compensated', left: left.map(({ path }) => path) })
    }
  }
}

const UNKNOWN: Failure = { class: 'unknown', code: 'capability_failed', message: 'It failed.' }
const IN_DOUBT: Failure = {
  class: 'unknown',
  code: 'in_doubt',
  message: 'Whether it was undone is not known.',
}

function keyOf(action: Action): string {
  if ('path' in action) return action.path
  return 'node' in action ? action.node.path : ''
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

function failureOfInner({ error, path }: NodeState): Failure {
  const { class: kind, code, message } = error ?? UNKNOWN
  return { class: kind, code, message: `${path}: ${message}`.slice(0, 2_000) }
}

function started(node: string, input: ValueRef): NodeEvent {
  return { node, type: 'node_started', attempt: 1, input }
}

/** Of what a template or a value of the node threw. @throws what is no failure of the node: the run cannot go on */
function failureOfNode(error: unknown): Failure {
  if (error instanceof ExpressionFailed) return error.failure
  if (!CaissonError.is(error) || !OF_THE_NODE.has(error.code)) throw error
  return { class: 'invalid', code: error.code, message: error.message.slice(0, 2_000) }
}

const OF_THE_NODE: ReadonlySet<string> = new Set(['value_refused', 'value_too_large', 'value_too_deep'])

/** Actions that need nothing but the state. */
const AT_ONCE: ReadonlySet<Action['do']> = new Set([
  'skip',
  'fail',
  'stand_in',
  'call_off',
  'begin_undoing',
  'fail_run',
  'end',
])
