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
import { asError } from '../../base/errors.ts'
import { wallEndMs } from './budgets.ts'
import { EvaluationStopped } from './evaluate.ts'
import { HoldingNodes } from './holding-nodes.ts'
import { compensatedEvent } from './left-undone.ts'
import { type Action, dueMs, nextActions, nextDueMs } from './next-actions.ts'
import type { NodeState } from './node-state.ts'
import { noneLeft } from './none-left.ts'
import { NOTHING, RunContext, type RunnerParts, UNKNOWN } from './run-context.ts'
import type { Failure, RecordedEvent, RunEvent } from './run-event.ts'
import type { RunState } from './run-state.ts'
import { Undoing } from './undoing.ts'
import { WorkingNodes } from './working-nodes.ts'

const LONGEST_SLEEP_MS = 2 ** 31 - 1
/** For so long at most no timer of the host has a turn. */
const BREATH_MS = 50
/** Why a sleep ends early. */
const WOKEN = 'something changed'

export class Runner {
  readonly #run: RunContext
  readonly #nodes: WorkingNodes
  readonly #holding: HoldingNodes
  readonly #undoing: Undoing
  readonly #sleep: RunnerParts['sleep']
  readonly #onEvent: RunnerParts['onEvent']
  /** Work that is under way, by what it is for. */
  readonly #busy = new Map<string, Promise<void>>()
  /** Nodes at work that nobody works at: an earlier process left them so, or somebody decided that they go on. */
  readonly #leftAtWork: Set<string>
  /** The node that an earlier process was undoing. */
  #leftUndoing: NodeState | undefined
  #changed: (() => void) | undefined
  #breathedAtMs = performance.now()

  constructor(parts: RunnerParts) {
    this.#run = new RunContext(parts, (event) => this.#hear(event))
    this.#holding = new HoldingNodes(this.#run)
    this.#nodes = new WorkingNodes(this.#run, this.#holding)
    this.#undoing = new Undoing(this.#run)
    this.#sleep = parts.sleep
    this.#onEvent = parts.onEvent
    this.#leftAtWork = new Set(parts.state.live.keys())
    this.#leftUndoing = parts.state.undoing
    this.#run.stop.signal.addEventListener('abort', () => this.#changed?.())
  }

  /**
   * Goes on until the run has ended, or waits for somebody.
   * @param signal brings it to rest: what is at work is told, and is taken up again by whoever goes on
   * @throws what the journal threw: the run stands where that has it
   */
  async drive(signal?: AbortSignal): Promise<void> {
    const stop = (): void => this.#run.stop.abort(signal?.reason)
    signal?.addEventListener('abort', stop)
    if (signal?.aborted === true) stop()
    try {
      await this.#nodes.recall()
      do {
        if (performance.now() - this.#breathedAtMs >= BREATH_MS) await this.#breathe()
        this.#begin()
      } while (!this.#run.stop.signal.aborted && (await this.#pause()))
      await Promise.all(this.#busy.values())
      if (this.#run.failure !== undefined) throw this.#run.failure
      await this.#run.journal.flush()
    } finally {
      signal?.removeEventListener('abort', stop)
    }
  }

  /** Lets timers of the host have their turn, that of the lease among them: calls that wait for nothing leave them none. */
  async #breathe(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 0))
    this.#breathedAtMs = performance.now()
  }

  /** Adds events that somebody else decided on. @throws CaissonError `invalid_transition` */
  async record(...events: readonly RunEvent[]): Promise<void> {
    this.#run.emit(...events)
    await this.#run.journal.flush()
  }

  #hear(event: RecordedEvent): void {
    // A wait that somebody else ended, and what was decided over a call in doubt, is taken up like what was left.
    if (event.type === 'node_thawed' || (event.type === 'node_woken' && event.by !== undefined))
      this.#leftAtWork.add(event.node)
    try {
      this.#onEvent?.(event)
    } catch {
      // Who listens changes nothing of what happens.
    }
    if (this.#mayBegin(event)) this.#changed?.()
  }

  /** Whether something else may begin after an event: looking for it takes longer than all that the event itself does. */
  #mayBegin(event: RecordedEvent): boolean {
    switch (event.type) {
      case 'node_called':
      case 'node_answered':
        return false
      case 'node_started':
        return this.#run.state.node(event.node)?.inner.size !== 0
      default:
        return true
    }
  }

  /** Begins everything that can begin. */
  #begin(): void {
    const { state, clock } = this.#run
    if (state.status === 'cancelling') this.#run.abortWork()
    this.#takeUpLeft()
    const undoing = this.#leftUndoing
    this.#leftUndoing = undefined
    if (undoing !== undefined) this.#under(undoing.path, () => this.#undoing.takeUp(undoing))
    for (;;) {
      const actions = nextActions(state).filter((action) => !this.#busy.has(keyOf(action)))
      if (actions.length === 0) break
      const decided = actions.find(({ do: what }) => AT_ONCE.has(what))
      if (decided !== undefined) this.#decide(decided)
      else {
        for (const action of actions) this.#under(keyOf(action), () => this.#act(action))
        break
      }
    }
    // What stood still until now.
    this.#takeUpLeft()
    if (state.status !== 'running') return
    const nowMs = clock.now()
    if (nowMs >= (wallEndMs(state) ?? Number.POSITIVE_INFINITY)) {
      this.#run.emit({ type: 'frozen', ...noneLeft('wallMs') })
      return
    }
    for (const node of state.live.values()) {
      const due = dueMs(node)
      if (due !== undefined && due <= nowMs) this.#under(node.path, () => this.#nodes.wake(node))
    }
  }

  #takeUpLeft(): void {
    const { state } = this.#run
    if (state.status === 'frozen' || this.#leftAtWork.size === 0) return
    for (const path of this.#leftAtWork) {
      const node = state.live.get(path)
      if (node?.status === 'running') this.#under(path, () => this.#nodes.takeUp(node))
    }
    this.#leftAtWork.clear()
  }

  #under(key: string, work: () => Promise<void>): void {
    if (this.#busy.has(key) || this.#run.stop.signal.aborted) return
    const done = (async () => {
      // Whatever is begun together is begun before any of it changes the state.
      await Promise.resolve()
      try {
        await work()
      } catch (error) {
        // Brought to rest in the middle of an expression: who goes on evaluates it.
        if (!(error instanceof EvaluationStopped && this.#run.stop.signal.aborted)) {
          this.#run.failure ??= asError(error)
          this.#run.stop.abort(error)
        }
      }
      this.#busy.delete(key)
      this.#run.forgetStop(key)
      this.#changed?.()
    })()
    this.#busy.set(key, done)
  }

  /** Until something changed, or a timer is due. False where neither will ever be. */
  async #pause(): Promise<boolean> {
    const { state, clock } = this.#run
    const next = state.status === 'running' ? nextDueMs(state) : undefined
    if (this.#busy.size === 0) {
      // A person, or an event, may take days: whoever goes on then looks whether its term is over.
      if (next === undefined || !waitsForTime(state)) return false
      await this.#run.journal.flush()
    }
    const end = state.status === 'running' ? wallEndMs(state) : undefined
    const due = next === undefined || end === undefined ? (next ?? end) : Math.min(next, end)
    const changed = new Promise<void>((resolve) => {
      this.#changed = resolve
    })
    if (due === undefined) await changed
    else {
      const ms = Math.min(Math.max(due - clock.now(), 0), LONGEST_SLEEP_MS)
      const waker = new AbortController()
      await Promise.race([changed, this.#sleep(ms, waker.signal)])
      // With a reason, as one that is made costs more than all the rest of a pause.
      waker.abort(WOKEN)
    }
    this.#changed = undefined
    return true
  }

  /** What follows from the state alone. */
  #decide(action: Action): void {
    switch (action.do) {
      case 'skip':
        this.#run.emit({ node: action.path, type: 'node_skipped', reason: action.reason })
        return
      case 'fail':
        this.#run.emit({ node: action.node.path, type: 'node_failed', error: failureOfInner(action.because) })
        return
      case 'stand_in':
        this.#standIn(action.node)
        return
      case 'thaw':
        this.#run.emit({ node: action.node.path, type: 'node_thawed', again: true })
        return
      case 'call_off':
        this.#run.emit({ node: action.node.path, type: 'node_cancelled' })
        return
      case 'begin_undoing':
        this.#run.emit({ type: 'undoing' })
        return
      case 'fail_run':
        this.#run.emit({ type: 'failing', node: action.because.path, error: failureOfInner(action.because) })
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
        return this.#nodes.begin(action.path, action.scope, action.scope.plan.node(action.id))
      case 'go_on':
        return action.node.status === 'compensating'
          ? this.#undoing.goOn(action.node)
          : this.#nodes.goOn(action.node)
      case 'conclude':
        return this.#holding.conclude(action.node)
      case 'undo':
        return this.#undoing.undo(action.node)
      case 'complete':
        return this.#holding.complete()
      default:
    }
  }

  #standIn(state: NodeState): void {
    const { path, standby = '', scope, error, node } = state
    const output = scope.nodes.get(standby)?.output ?? NOTHING
    const fallbacks = 'fallback' in node ? (node.fallback ?? []) : []
    const fallback = fallbacks.findIndex((one) => one.node === standby)
    this.#run.emit({ node: path, type: 'node_recovered', error: error ?? UNKNOWN, fallback, output })
  }

  #end(as: 'failed' | 'cancelled' | 'compensated'): void {
    const { state } = this.#run
    if (as === 'cancelled') this.#run.emit({ type: 'cancelled' })
    else if (as === 'failed') this.#run.emit({ type: 'failed', error: state.failure?.error ?? UNKNOWN })
    else this.#run.emit(compensatedEvent(state.nodes))
  }
}

/** Whether a node goes on by itself, when its time has come. */
function waitsForTime({ live }: RunState): boolean {
  for (const { status, waiting } of live.values())
    if (status === 'retrying' || (status === 'waiting' && isTimed(waiting))) return true
  return false
}

/** A program that asks people may have a timer of its own, for which it goes on. */
function isTimed(waiting: NodeState['waiting']): boolean {
  return waiting?.for === 'time' || (waiting?.for === 'person' && waiting.wakeAtMs !== undefined)
}

function keyOf(action: Action): string {
  if ('path' in action) return action.path
  return 'node' in action ? action.node.path : ''
}

function failureOfInner({ error, path }: NodeState): Failure {
  const { class: kind, code, message } = error ?? UNKNOWN
  return { class: kind, code, message: `${path}: ${message}`.slice(0, 2_000) }
}

/** Actions that need nothing but the state. */
const AT_ONCE: ReadonlySet<Action['do']> = new Set([
  'skip',
  'fail',
  'stand_in',
  'thaw',
  'call_off',
  'begin_undoing',
  'fail_run',
  'end',
])
