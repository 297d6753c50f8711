/**
 * One guest from start to end: takes its turns, keeps its books, and ends it at a limit. The driver and the
 * stepper are two ways to use it.
 *
 * Invariants
 * 1. Once ended, no further turn is taken, and everything at work is told to stop.
 * 2. A limit reached in a turn ends the guest before any of that turn's calls leaves it.
 * 3. Answers that would exceed `bytesIn` are not delivered.
 * 4. The sync calls of a turn are recorded before anything that follows from the turn happens.
 * 5. Logical time never goes back.
 * 6. A turn for a timer is taken at the time at which it is due, or later.
 * 7. Whoever takes it somewhere and throws has ended it: nothing stays at work for a run that nobody drives.
 */
import { CaissonError } from '../base/errors.ts'
import type { Delivery } from '../capability/delivery.ts'
import type { Gate } from '../capability/gate.ts'
import { StopSource } from '../capability/stop.ts'
import type { CallLog } from '../ports/call-log.ts'
import type { Clock } from '../ports/clock.ts'
import { exhausted } from './exhausted.ts'
import { LogKeeper } from './log-keeper.ts'
import type { Outcome, RunEnd } from './outcome.ts'
import type { SessionState } from './session-state.ts'
import { TimeKeeper } from './time-keeper.ts'
import type {
  Answer,
  GuestError,
  Machine,
  MachineStart,
  PendingCall,
  Turn,
  TurnControl,
  Usage,
} from './turn.ts'

export interface SessionOptions {
  /** Not started. Whoever opened it disposes it. */
  readonly machine: Machine
  readonly start: MachineStart
  /** Its `sync` must be what the machine calls, its `capabilities` what `start` names. */
  readonly gate: Gate
  readonly clock: Clock
  /** Receives the sync calls of every turn, where it takes them. The gate has its own reference for the others. */
  readonly callLog?: CallLog | undefined
  /** Ends the run as `failed` with code `aborted`. */
  readonly signal?: AbortSignal | undefined
  /** Logical time in milliseconds when answers are delivered. Default `clock.now`. Going back is ignored. */
  readonly now?: () => number
  /** Told of every delivery, before the turn that it leads to. */
  readonly onDelivery?: ((nowMs: number, answers: readonly Answer[]) => void) | undefined
  /** Told when nothing but a timer is waited for, with the milliseconds until it is due: a second or more. */
  readonly onSleep?: ((ms: number) => void) | undefined
  /** The machine was restored, and waits: `goOn` instead of `begin`. */
  readonly restored?: SessionState | undefined
}

/** What a turn came to. */
export type Step =
  | {
      readonly status: 'waiting'
      readonly calls: readonly PendingCall[]
      /** The value of the program is there. */
      readonly ready?: boolean
    }
  | { readonly status: 'ended'; readonly end: RunEnd }

const MAX_UNHANDLED = 100
const TOLD_SLEEP_MS = 1_000

/** How long a machine in a Worker may take to notice its own deadline before it is given up, milliseconds. */
const WORKER_GRACE_MS = 250

export class Session {
  /** Raised when the run ends, however it does. */
  readonly stop: StopSource = new StopSource()
  readonly time: TimeKeeper
  readonly #options: SessionOptions
  readonly #logs: LogKeeper
  readonly #unhandled: GuestError[] = []
  /** Turns for timers in this life, counted here so that a machine that miscounts ends all the same. */
  #wakes = 0
  readonly #control: TurnControl
  readonly #onAbort: () => void
  #usage: Usage = { fuel: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, logsDropped: 0 }
  /** Counted here too, so that a machine that miscounts ends no later. */
  #asked = 0
  #lastId = 0
  #bytesIn = 0
  #bytesOut = 0
  #nowMs: number
  #end: RunEnd | undefined
  #endedItself = false
  #inTurn = false

  constructor(options: SessionOptions) {
    this.#options = options
    const { restored } = options
    const { limits, nowMs } = options.start
    this.#logs = new LogKeeper(limits.logBytes, restored?.logs)
    this.#nowMs = restored?.nowMs ?? nowMs
    if (restored !== undefined) this.#takeUp(restored)
    this.time = new TimeKeeper(
      options.clock,
      limits.wallMs,
      limits.idleMs,
      (limit) => this.finish(exhausted(limit, limits)),
      restored,
    )
    this.#control = new SessionControl(this.time, this.stop)
    this.#onAbort = () => this.finish(failed('aborted', 'The run was aborted.', 'AbortError'))
    options.signal?.addEventListener('abort', this.#onAbort, { once: true })
    if (options.signal?.aborted === true) this.#onAbort()
  }

  /** How the run ended; undefined while it goes on. */
  get end(): RunEnd | undefined {
    return this.#end
  }

  /** Whether the program came to that end, whatever codes its errors carry; else a limit or the host ended it. */
  get endedItself(): boolean {
    return this.#endedItself
  }

  /** Whether a turn is being taken now: until it is over the machine cannot be disposed. */
  get inTurn(): boolean {
    return this.#inTurn
  }

  /** The first turn. @throws CaissonError what the machine refuses for reasons that are the host's */
  begin(): Promise<Step> {
    const { machine, start } = this.#options
    return this.#turn(() => machine.start(start, this.#control))
  }

  /** The calls that a restored machine waits for. */
  goOn(): Step {
    if (this.#end !== undefined) return { status: 'ended', end: this.#end }
    return { status: 'waiting', calls: this.#options.machine.pending }
  }

  /** The books between two turns. */
  state(): SessionState {
    return {
      nowMs: this.#nowMs,
      usage: this.#usage,
      asked: this.#asked,
      lastId: this.#lastId,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      wallMs: this.time.activeMs,
      idleMs: this.time.idleMs,
      logs: [...this.#logs.entries],
      logsDropped: this.#logs.dropped,
      unhandledRejections: [...this.#unhandled],
    }
  }

  #takeUp(state: SessionState): void {
    this.#usage = state.usage
    this.#asked = state.asked
    this.#lastId = state.lastId
    this.#bytesIn = state.bytesIn
    this.#bytesOut = state.bytesOut
    this.#logs.dropped += state.logsDropped
    this.#unhandled.push(...state.unhandledRejections)
  }

  /** Milliseconds until the logical time `atMs`; negative after it. */
  msUntil(atMs: number): number {
    return atMs - this.#logicalNow()
  }

  /** Tells of a wait for nothing but a timer. Short ones are not worth a word. */
  tellSleep(ms: number): void {
    if (ms >= TOLD_SLEEP_MS) this.#options.onSleep?.(ms)
  }

  /**
   * Delivers answers and takes the next turn.
   * @param wakeAtMs the timer that it is taken for: logical time is not before it then
   * @throws CaissonError as `begin`
   */
  async resume(deliveries: readonly Delivery[], wakeAtMs?: number): Promise<Step> {
    const fatal = this.endIfFatal(deliveries)
    if (fatal !== undefined) return fatal
    const { machine, start } = this.#options
    for (const { bytes } of deliveries) this.#bytesIn += bytes
    const arriving = deliveries.reduce((sum, { bytes }) => sum + bytes, 0)
    if (Math.max(this.#bytesIn, this.#usage.bytesIn + arriving) > start.limits.bytesIn) {
      return this.finish(exhausted('bytes', start.limits, 'bytesIn'))
    }
    const answers = deliveries.map(({ answer }) => answer)
    if (wakeAtMs !== undefined) {
      this.#wakes += 1
      if (this.#wakes > start.limits.timers) return this.finish(exhausted('timers', start.limits))
    }
    const nowMs = this.#logicalNow(wakeAtMs)
    this.#options.onDelivery?.(nowMs, answers)
    return this.#turn(() => machine.settle(answers, nowMs, this.#control))
  }

  /** A turn that was taken before, by the record of the run: delivers the same answers at the same time. */
  repeat(nowMs: number, deliveries: readonly Delivery[]): Promise<Step> {
    for (const { bytes } of deliveries) this.#bytesIn += bytes
    this.#nowMs = nowMs
    const answers = deliveries.map(({ answer }) => answer)
    return this.#turn(() => this.#options.machine.settle(answers, nowMs, this.#control))
  }

  /** Does `work` with the run, which ends as `aborted` when that throws. */
  async attend<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.finish(failed('aborted', 'The host gave the run up.', 'AbortError'))
      throw error
    }
  }

  /** Ends the run when a delivery says that it must not go on. */
  endIfFatal(deliveries: readonly Delivery[]): Step | undefined {
    for (const { fatal, answer } of deliveries) {
      if (fatal && !answer.ok) return this.finish(failed(answer.error.code, answer.error.message))
    }
    return undefined
  }

  /** Ends the run; the first end stays. */
  finish(end: RunEnd): Step {
    if (this.#end === undefined) {
      this.#end = end
      this.time.end()
      this.#options.signal?.removeEventListener('abort', this.#onAbort)
      this.stop.stop()
    }
    return { status: 'ended', end: this.#end }
  }

  /**
   * Ends it because it does something else than the record of its run says, also where it came to another end itself.
   * What a limit or the host ended is no other story: it ended sooner.
   */
  diverge(what: string): Step {
    const end = diverged(what)
    if (this.#endedItself) {
      this.#endedItself = false
      this.#end = end
    }
    return this.finish(end)
  }

  /** The whole outcome, once ended. */
  outcome(end: RunEnd): Outcome {
    const { fuel, memoryBytes, calls, bytesIn, bytesOut, logsDropped } = this.#usage
    const usage = {
      fuel,
      memoryBytes,
      calls,
      bytesIn,
      bytesOut,
      logsDropped: logsDropped + this.#logs.dropped,
      wallMs: toMicroseconds(this.time.activeMs),
      idleMs: toMicroseconds(this.time.idleMs),
    }
    const logs = this.#logs.entries
    const unhandledRejections = this.#unhandled
    // Written out for the common end: spreading costs more than a small program does (bench: first-result).
    return end.status === 'completed' && end.left === undefined && end.unread === undefined
      ? { status: 'completed', value: end.value, usage, logs, unhandledRejections }
      : { ...end, usage, logs, unhandledRejections }
  }

  async #turn(take: () => Turn | Promise<Turn>): Promise<Step> {
    if (this.#end !== undefined) return { status: 'ended', end: this.#end }
    this.time.count('wall')
    // Here, and not by the timer alone: calls that are answered at once keep the host's timers from firing.
    const { limits } = this.#options.start
    if (this.time.activeMs >= limits.wallMs) return this.finish(exhausted('wall', limits))
    let turn: Turn | undefined
    this.#inTurn = true
    try {
      const taking = take()
      turn = taking instanceof Promise ? await this.#inWorker(taking) : taking
    } catch (error) {
      return this.#machineThrew(error)
    } finally {
      this.#inTurn = false
    }
    if (turn === undefined) return { status: 'ended', end: this.#end ?? exhausted('wall', limits) }
    this.#note(turn)
    const unrecorded = await this.#recordSyncCalls()
    if (unrecorded !== undefined) return this.finish(unrecorded)
    const limit = this.#limitReached(turn)
    if (limit !== undefined) return this.finish(limit)
    // An abort or a deadline came while the turn ran.
    if (this.#end !== undefined) return { status: 'ended', end: this.#end }
    switch (turn.status) {
      case 'waiting':
        return this.#admitCalls(turn.calls, turn.ready)
      case 'completed': {
        this.#endedItself = true
        const { value, left, unread } = turn
        return this.finish({
          status: 'completed',
          value,
          ...(left && { left }),
          ...(unread !== undefined && { unread }),
        })
      }
      case 'failed':
        this.#endedItself = true
        return this.finish({ status: 'failed', error: turn.error })
      case 'exhausted':
        return this.finish({ status: 'exhausted', limit: turn.limit, message: turn.message })
    }
  }

  /** A turn taken elsewhere: the host's loop goes on meanwhile, and a Worker that hangs is given up. */
  async #inWorker(taking: Promise<Turn>): Promise<Turn | undefined> {
    this.time.watch()
    let grace: ReturnType<typeof setTimeout> | undefined
    let forget: (() => void) | undefined
    const givenUp = new Promise<undefined>((resolve) => {
      const giveUp = (): void => {
        grace = setTimeout(() => resolve(undefined), WORKER_GRACE_MS)
      }
      forget = this.stop.onStop(giveUp)
      if (this.stop.stopped) giveUp()
    })
    try {
      taking.then(undefined, () => {}) // should it fail after it was given up
      return await Promise.race([taking, givenUp])
    } finally {
      clearTimeout(grace)
      forget?.()
    }
  }

  #note(turn: Turn): void {
    this.#usage = turn.usage
    this.#logs.add(turn.logs)
    for (const error of turn.unhandledRejections) {
      if (this.#unhandled.length < MAX_UNHANDLED) this.#unhandled.push(error)
    }
    for (const { bytes } of turn.calls) this.#bytesOut += bytes
    this.#asked += turn.calls.length
  }

  async #recordSyncCalls(): Promise<RunEnd | undefined> {
    const records = this.#options.gate.sync.takeRecords()
    if (records.length === 0) return undefined
    try {
      await this.#options.callLog?.syncCalls?.(records)
      return undefined
    } catch {
      return failed('not_recorded', 'The sync calls of a turn could not be recorded.')
    }
  }

  #limitReached(turn: Turn): RunEnd | undefined {
    const { limits } = this.#options.start
    const { usage } = turn
    if (turn.status === 'exhausted') return undefined // it says itself which
    if (Math.max(usage.calls, this.#asked) > limits.calls) {
      return exhausted('calls', limits)
    }
    if (Math.max(usage.bytesOut, this.#bytesOut) > limits.bytesOut)
      return exhausted('bytes', limits, 'bytesOut')
    if (usage.bytesIn > limits.bytesIn) return exhausted('bytes', limits, 'bytesIn')
    return undefined
  }

  /** Ids come from the machine and, in a Worker or a restored guest, from data: they must be new and in order. */
  #admitCalls(calls: readonly PendingCall[], ready = false): Step {
    for (const { id } of calls) {
      if (!Number.isSafeInteger(id) || id <= this.#lastId) {
        return this.finish(failed('corrupted', 'The machine gave a call an id that was used before.'))
      }
      this.#lastId = id
    }
    return { status: 'waiting', calls, ready }
  }

  #machineThrew(error: unknown): Step {
    const code = CaissonError.is(error) ? error.code : 'isolate_destroyed'
    const message = CaissonError.is(error) ? error.message : 'The machine failed and was given up.'
    const step = this.finish(failed(code, message))
    // A trap, corrupted state or a lost thread is an end of the guest; all else was asked for wrongly by the host.
    if (code === 'isolate_destroyed' || code === 'corrupted' || code === 'machine_lost') return step
    throw error
  }

  #logicalNow(atLeastMs = 0): number {
    const now = Math.max(this.#options.now?.() ?? this.#options.clock.now(), atLeastMs)
    if (now > this.#nowMs) this.#nowMs = now
    return this.#nowMs
  }
}

/** A class, because an object literal with a getter costs more than a small turn (bench: first-result). */
class SessionControl implements TurnControl {
  readonly #time: TimeKeeper
  readonly #stop: StopSource
  readonly aborted = (): boolean => this.#stop.stopped

  constructor(time: TimeKeeper, stop: StopSource) {
    this.#time = time
    this.#stop = stop
  }

  get deadline(): number {
    return this.#time.deadline
  }
}

/** Clocks count finer than they measure: what people and programs read ends there. */
function toMicroseconds(ms: number): number {
  return Math.round(ms * 1_000) / 1_000
}

/** The end of a guest that does something else than the record of its run says. */
export function diverged(what: string): RunEnd {
  return failed('diverged', `The guest did something else than its record says: ${what}.`)
}

/** An end by the runtime's own decision. */
export function failed(code: string, message: string, name = 'CaissonError'): RunEnd {
  return { status: 'failed', error: { name, message, code } }
}
