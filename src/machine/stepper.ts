/**
 * A guest that is run step by step: it stops at every call and timer, and the embedder answers by hand, or lets the
 * gate do it. Either way the call passes the gate: its arguments are validated, authorised, counted and recorded
 * before an answer is taken, and the answer is validated, bounded and recorded before the guest gets it.
 *
 * Invariants
 * 1. One answer for one call: an id that is not pending, or is being answered, is refused.
 * 2. Steps are taken one after the other, in the order in which they were asked for.
 * 3. Waiting for the embedder is idle time; a step is active time.
 * 4. A wrong answer by hand is the embedder's mistake: it is thrown, nothing is counted or recorded, and the call
 *    stays pending.
 * 5. A timer fires when the embedder says so: time does not pass by itself between two steps.
 * 6. A call in doubt is made again only when somebody confirms it.
 */
import { CaissonError } from '../base/errors.ts'
import { Refusal } from '../capability/call.ts'
import { type Delivery, refusedDelivery } from '../capability/delivery.ts'
import type { Admission } from '../capability/gate/admission.ts'
import type { Asleep } from './answer-or-timer.ts'
import { driveSession, type KnownCalls, NOTHING_KNOWN } from './driver.ts'
import type { Outcome } from './outcome.ts'
import { failed, Session, type SessionOptions, type Step } from './session.ts'
import type { SessionState } from './session-state.ts'
import type { MachineCapture, PendingCall } from './turn.ts'

export interface StepperOptions extends SessionOptions {
  /** Runs a step when it is this guest's turn among the others; default at once. */
  readonly atWork?: (<T>(step: () => Promise<T>) => Promise<T>) | undefined
  /** As of `DriveOptions`. */
  readonly asleep?: Asleep | undefined
  /** What the host knows of the calls that a restored guest waits for. */
  readonly known?: KnownCalls | undefined
}

/** A guest between two steps as data. */
export interface CapturedGuest {
  readonly machine: MachineCapture
  readonly session: SessionState
}

/** A guest under the embedder's hand. */
export class Stepper {
  readonly #options: StepperOptions
  readonly #session: Session
  readonly #known: KnownCalls
  readonly #inDoubt: Set<number>
  readonly #pending = new Map<number, PendingCall>()
  /** Ids of pending calls that are being answered. */
  readonly #answering = new Set<number>()
  #lastStep: Promise<unknown> = Promise.resolve()

  /** Starts the guest and runs it to its first calls, or to its end. @throws CaissonError as `driveMachine` */
  static async start(options: StepperOptions): Promise<Stepper> {
    const stepper = new Stepper(options)
    stepper.#after(await stepper.#session.begin())
    return stepper
  }

  /** Takes up a guest whose machine was restored, and delivers the answers that are known. @param options with `restored` */
  static async goOn(options: StepperOptions): Promise<Stepper> {
    const stepper = new Stepper(options)
    const session = stepper.#session
    const { answers } = stepper.#known
    const waiting = session.goOn()
    stepper.#after(waiting)
    if (answers.length > 0 && waiting.status === 'waiting') {
      for (const { answer } of answers) stepper.#pending.delete(answer.id)
      stepper.#after(await session.resume(answers))
    }
    return stepper
  }

  private constructor(options: StepperOptions) {
    this.#options = options
    this.#session = new Session(options)
    this.#known = options.known ?? NOTHING_KNOWN
    this.#inDoubt = new Set(this.#known.inDoubt)
  }

  /** Ids of pending calls that may have taken effect before a restore. */
  get inDoubt(): readonly number[] {
    return this.pending.map(({ id }) => id).filter((id) => this.#inDoubt.has(id))
  }

  /** Calls that wait for an answer, in the order in which they were asked. Empty after the end. */
  get pending(): readonly PendingCall[] {
    if (this.#session.end !== undefined) return []
    return [...this.#pending.values()].filter(({ id }) => !this.#answering.has(id))
  }

  /** Logical time at which the next timer is due; undefined without one, and after the end. */
  get wakeAtMs(): number | undefined {
    return this.#session.end === undefined ? this.#options.machine.wakeAtMs : undefined
  }

  /** How the guest ended; undefined while it waits. */
  get outcome(): Outcome | undefined {
    const { end } = this.#session
    return end === undefined ? undefined : this.#session.outcome(end)
  }

  /** Whether the guest is inside a turn: what it holds can only be given back afterwards. */
  get inTurn(): boolean {
    return this.#session.inTurn
  }

  /** Calls `listener` when the guest ends, also between steps: aborted, or out of time. It must not throw. */
  onEnd(listener: () => void): void {
    this.#session.stop.onStop(listener)
  }

  /**
   * Answers a call by hand. What the guest gets is a failure instead when the gate refuses the call (arguments,
   * grant, budget).
   * @returns the code of that failure, else undefined
   * @throws CaissonError `unknown_call` for an id that is not pending; `invalid_result`, `result_too_large`,
   *   `value_refused`, `value_too_deep` for a value that the capability could not have given: the call stays pending
   */
  settle(id: number, value: unknown): Promise<string | undefined> {
    const { gate } = this.#options
    const { stop } = this.#session
    return this.#step(
      id,
      (admission) => gate.conclude(admission, { end: 'value', value }, stop),
      (call) => gate.checkAnswer(call, value, stop),
    )
  }

  /**
   * Lets a call fail. The guest sees of `error` what the capability exposes.
   * @returns the code that the guest got
   * @throws CaissonError `unknown_call`
   */
  reject(id: number, error: unknown): Promise<string | undefined> {
    const { gate } = this.#options
    return this.#step(id, (admission) =>
      gate.conclude(admission, { end: 'error', error }, this.#session.stop),
    )
  }

  /**
   * Lets the gate answer a call by invoking its capability.
   * @param confirmed somebody says that a call in doubt is to be made again
   * @returns the code of the failure that the guest got, else undefined
   * @throws CaissonError `unknown_call`, `in_doubt`
   */
  async invoke(id: number, confirmed = false): Promise<string | undefined> {
    const { gate } = this.#options
    const { stop } = this.#session
    if (this.#inDoubt.has(id) && !confirmed) throw inDoubtError(id, this.#pending.get(id)?.capability)
    return this.#step(id, async (admission) =>
      gate.conclude(admission, await gate.invoke(admission, stop), stop),
    )
  }

  /**
   * Fires the next timer, and all that are due then. Logical time moves to where it is due, also where that is ahead.
   * @throws CaissonError `no_timer`
   */
  wake(): Promise<void> {
    const waking = this.#lastStep.then(() =>
      this.#atWork(async () => {
        const { wakeAtMs } = this
        if (wakeAtMs === undefined) {
          throw new CaissonError('no_timer', 'The guest waits for no timer that could be fired.')
        }
        this.#session.time.count('wall')
        this.#after(await this.#session.resume([], wakeAtMs))
      }),
    )
    this.#lastStep = waking.catch(() => {}) // whoever asked for it hears of it
    return waking
  }

  /**
   * Lets the gate answer everything from here on, and timers fire at their times.
   * @returns how the guest ended; `suspended` when it waits for nothing but calls in doubt
   */
  finish(): Promise<Outcome> {
    const finishing = this.#lastStep.then(() =>
      this.#atWork(async () => {
        const calls = [...this.#pending.values()]
        this.#pending.clear()
        this.#session.time.count('wall')
        const first: Step =
          this.#session.end === undefined
            ? { status: 'waiting', calls }
            : { status: 'ended', end: this.#session.end }
        const known = { ...this.#known, answers: [], inDoubt: this.#inDoubt }
        const end = await driveSession(this.#session, first, { ...this.#options, known })
        return this.#session.outcome(end)
      }),
    )
    this.#lastStep = finishing.catch(() => {}) // whoever asked for it hears of it
    return finishing
  }

  /**
   * The guest as data, between two steps: after those that were asked for before. It can go on.
   * @throws CaissonError `isolate_destroyed` when it has ended
   */
  capture(): Promise<CapturedGuest> {
    return this.#betweenSteps(async () => {
      const machine = await this.#options.machine.capture()
      return { machine, session: this.#session.state() }
    })
  }

  /**
   * The digest of the guest's state, between two steps: after those that were asked for before.
   * @throws CaissonError `isolate_destroyed` when it has ended
   */
  stateDigest(): Promise<string> {
    return this.#betweenSteps(() => this.#options.machine.stateDigest())
  }

  /** Ends the guest as `failed` with code `aborted`; does nothing after its end. */
  abort(): void {
    this.#session.finish(failed('aborted', 'The run was aborted.', 'AbortError'))
  }

  /** @param check what is wrong with the answer, before anything happens */
  async #step(
    id: number,
    answer: (admission: Admission) => Promise<Delivery>,
    check?: (call: PendingCall) => Promise<CaissonError | undefined>,
  ): Promise<string | undefined> {
    const call = this.#pending.get(id)
    if (call === undefined || this.#answering.has(id) || this.#session.end !== undefined) {
      const { end } = this.#session
      const why = end === undefined ? '' : ` The guest has ended (${end.status}).`
      throw new CaissonError('unknown_call', `No call with id ${id} is pending.${why}`, { details: { id } })
    }
    this.#answering.add(id)
    const step = this.#lastStep
      .then(() => this.#atWork(() => this.#takeStep(call, answer, check)))
      .finally(() => this.#answering.delete(id))
    this.#lastStep = step.catch(() => {}) // whoever asked for it hears of it
    return step
  }

  #betweenSteps<T>(look: () => T | Promise<T>): Promise<T> {
    const looking = this.#lastStep.then(async () => {
      if (this.#session.end !== undefined) {
        throw new CaissonError('isolate_destroyed', 'The guest has ended: there is nothing to go on from.')
      }
      return look()
    })
    this.#lastStep = looking.catch(() => {}) // whoever asked for it hears of it
    return looking
  }

  #atWork<T>(step: () => Promise<T>): Promise<T> {
    return this.#options.atWork?.(step) ?? step()
  }

  async #takeStep(
    call: PendingCall,
    answer: (admission: Admission) => Promise<Delivery>,
    check: ((call: PendingCall) => Promise<CaissonError | undefined>) | undefined,
  ): Promise<string | undefined> {
    const { gate } = this.#options
    const { stop, time } = this.#session
    time.count('wall')
    const mistake = await check?.(call)
    if (mistake !== undefined) {
      this.#wait()
      throw mistake
    }
    this.#pending.delete(call.id)
    this.#inDoubt.delete(call.id)
    const admission = await (this.#known.recorded.has(call.id)
      ? gate.readmit(call, stop)
      : gate.admit(call, stop, {
          approvalBegins: () => time.count('idle'),
          approvalEnds: () => time.count('wall'),
        }))
    const delivery =
      admission instanceof Refusal ? refusedDelivery(call.id, admission) : await answer(admission)
    this.#after(await this.#session.resume([delivery]))
    return delivery.answer.ok ? undefined : delivery.answer.error.code
  }

  #after(step: Step): void {
    if (step.status === 'ended') return
    for (const call of step.calls) this.#pending.set(call.id, call)
    if (this.#pending.size === 0 && this.wakeAtMs === undefined) {
      this.#session.finish(
        failed('stalled', 'The program waits for a promise, and no call is pending, and no timer is set.'),
      )
    }
    this.#wait()
  }

  #wait(): void {
    this.#session.time.count('idle')
    this.#session.time.watch()
  }
}

function inDoubtError(id: number, capability = 'a capability'): CaissonError {
  return new CaissonError(
    'in_doubt',
    `Call ${id} of ${capability} was issued before the guest was restored, and whether it took effect is not known. Answer it by hand, or confirm that it is to be made again.`,
    { details: { id, capability } },
  )
}
