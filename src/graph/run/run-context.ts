/**
 * What the parts of a runner share: the state and its journal, and what stops them.
 */
import { asError, CaissonError } from '../../base/errors.ts'
import type { RateWindow } from '../../capability/rate-window.ts'
import type { Journal } from '../../journal/journal.ts'
import type { Clock } from '../../ports/clock.ts'
import { Reserve } from './budgets.ts'
import { type EvaluateExpression, Evaluator, ExpressionFailed } from './evaluate.ts'
import type { NodeState } from './node-state.ts'
import type { NodeWork } from './node-work.ts'
import { Purse, type PurseOptions } from './purse.ts'
import type { Failure, NodeEvent, Ran, RecordedEvent, RunEvent, Used, ValueRef } from './run-event.ts'
import type { RunState, Standstill } from './run-state.ts'
import type { RunValues } from './run-values.ts'
import { WorkStop } from './work-stop.ts'

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
  readonly onEvent?: (event: RecordedEvent) => void
}

export const NOTHING: ValueRef = { value: null }
export const UNKNOWN: Failure = { class: 'unknown', code: 'capability_failed', message: 'It failed.' }
export const IN_DOUBT: Failure = {
  class: 'unknown',
  code: 'in_doubt',
  message: 'Whether it took effect is not known.',
}

/** What an event says of what was used up, and of what executed a program. */
export type WithUsed = { readonly used?: Used; readonly ran?: Ran }

/** What a frozen node says beside. */
type Frozen = Omit<Extract<NodeEvent, { type: 'node_frozen' }>, 'type' | 'node' | 'reason'>

export class RunContext {
  readonly run: string
  readonly state: RunState
  readonly journal: RunnerParts['journal']
  readonly values: RunValues
  readonly work: NodeWork
  readonly clock: RunnerParts['clock']
  readonly evaluator: Evaluator
  readonly reserve: Reserve = new Reserve()
  /** Calls of rights with rates. */
  readonly rates: Map<string, RateWindow> = new Map()
  /** What attempts at programs take, by their paths: more than one process of the host may take one up. */
  readonly #purses = new Map<
    string,
    { readonly attempt: number; readonly purse: Purse; onShort: () => void }
  >()
  /** Brings the runner to rest. */
  readonly stop: AbortController = new AbortController()
  /** Why it came to rest by itself. */
  failure: Error | undefined
  readonly #onEvent: (event: RecordedEvent) => void
  /** What stops single pieces of work, by what they are for. */
  readonly #working = new Map<string, WorkStop>()
  #lastCall: number
  /** Why an event of the state is not in the journal: nothing may follow it there. */
  #unwritten: Error | undefined

  /** @param onEvent told of every event after it was added to the journal */
  constructor(parts: RunnerParts, onEvent: (event: RecordedEvent) => void) {
    this.run = parts.run
    this.state = parts.state
    this.journal = parts.journal
    this.values = parts.values
    this.work = parts.work
    this.clock = parts.clock
    this.evaluator = new Evaluator(parts.state, parts.values, parts.expression)
    this.#onEvent = onEvent
    this.#lastCall = parts.state.calls
    this.stop.signal.addEventListener('abort', () => this.abortWork())
  }

  /**
   * Takes events into the state, and adds them to the journal.
   * @throws CaissonError `invalid_transition`; `value_too_large` of one that cannot be written, and then of all after it
   */
  emit(...events: readonly RunEvent[]): void {
    for (const event of events) {
      if (this.#unwritten !== undefined) throw this.#unwritten
      const recorded = { ...event, timeMs: Math.max(this.clock.now(), this.state.timeMs) }
      this.state.apply(recorded)
      try {
        this.journal.add(recorded)
      } catch (error) {
        this.#unwritten = asError(error)
        this.failure ??= this.#unwritten
        this.stop.abort(error)
        throw error
      }
      this.#onEvent(recorded)
    }
  }

  /** Milliseconds since the epoch, as events say them. */
  now(): number {
    return Math.max(this.clock.now(), this.state.timeMs)
  }

  /** Of a call. */
  callPurse(node: NodeState, path: string): Purse {
    return new Purse(this, node, path, { ofCall: true })
  }

  /** Of an attempt at a program: the same one as long as the attempt is under way. */
  purseOf(node: NodeState, path: string, onShort: () => void = () => {}): Purse {
    const known = this.#purses.get(path)
    if (known !== undefined && known.attempt === node.attempt) {
      known.onShort = onShort
      return known.purse
    }
    const options: PurseOptions = { counted: node.counted, onShort: () => this.#purses.get(path)?.onShort() }
    const purse = new Purse(this, node, path, options)
    this.#purses.set(path, { attempt: node.attempt, purse, onShort })
    return purse
  }

  /** An attempt at a program has ended. */
  forgetPurse(path: string): void {
    this.#purses.delete(path)
  }

  fail({ path }: NodeState, error: Failure, used: WithUsed = {}): void {
    this.emit({ node: path, type: 'node_failed', error, ...used })
  }

  freeze({ path }: NodeState, why: Standstill, more: Frozen = {}): void {
    this.emit({ node: path, type: 'node_frozen', reason: why.reason, ...more })
    if (this.state.status === 'running') this.emit({ type: 'frozen', ...why })
  }

  /** Stops with the runner, and when the run is cancelled. */
  stopOf(key: string): WorkStop {
    const known = this.#working.get(key)
    if (known !== undefined) return known
    const stop = new WorkStop()
    if (this.stop.signal.aborted) stop.abort(this.stop.signal.reason)
    this.#working.set(key, stop)
    return stop
  }

  /** A piece of work has ended. */
  forgetStop(key: string): void {
    this.#working.delete(key)
  }

  abortWork(): void {
    for (const work of this.#working.values()) work.abort(this.stop.signal.reason)
  }

  /** The number of the next call. */
  nextCall(): number {
    this.#lastCall += 1
    return this.#lastCall
  }
}

/** Of what a template or a value of the node threw. @throws what is no failure of the node: the run cannot go on */
export function failureOfNode(error: unknown): Failure {
  if (error instanceof ExpressionFailed) return error.failure
  if (!CaissonError.is(error) || !OF_THE_NODE.has(error.code)) throw error
  return { class: 'invalid', code: error.code, message: error.message.slice(0, 2_000) }
}

const OF_THE_NODE: ReadonlySet<string> = new Set(['value_refused', 'value_too_large', 'value_too_deep'])
