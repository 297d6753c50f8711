/**
 * A machine that lives in a Worker, behind the same contract: the host's event loop goes on while it computes.
 *
 * Invariants
 * 1. One message is under way at a time; a second turn while one runs is refused as `busy`.
 * 2. An abort or a deadline stops the turn inside the Worker where memory can be shared; where it cannot, the
 *    session gives the machine up and `dispose` terminates the Worker.
 * 3. After the death of the Worker every question is refused as `machine_lost`: that says nothing about the guest.
 * 4. A question that is no turn (open, restore, capture, digest) is given up `ABORT_GRACE_MS` after the abort, whatever
 *    the Worker does, and the Worker with it. Turns are given up by the session, which knows their end.
 */
import { CaissonError, ERROR_CODES, type ErrorCode } from '../base/errors.ts'
import { type Answer, type PendingCall, Refusal, type SyncCalls } from '../capability/call.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import type { WorkerPort } from '../ports/worker-port.ts'
import { carriedErrors, restoreErrors } from '../values/carried-errors.ts'
import { copyValue } from '../values/copy-value.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import { toTaggedJson } from '../values/tagged-json.ts'
import type { Machine, MachineCapture, MachineRestore, MachineStart, Turn, TurnControl } from './turn.ts'
import {
  ANSWER_OFFSET,
  CONTROL,
  type HostMessage,
  MOST_ANSWER_BYTES,
  type WorkerMessage,
} from './worker-protocol.ts'

export interface WorkerMachineOptions {
  readonly port: WorkerPort
  readonly engine: LoadedEngine
  readonly maxPages: number
  readonly syncCalls: SyncCalls
  readonly monotonic: () => number
  /** Of whoever waits for the guest. */
  readonly signal?: AbortSignal | undefined
  /** Called once, with whether the Worker can serve another guest. */
  readonly onRelease: (reusable: boolean) => void
}

/** How often an abort is looked for while a turn runs elsewhere, milliseconds. */
const ABORT_POLL_MS = 5
const KEEP_ALIVE_MS = 60_000
/** What is nearly done may be done still. */
const ABORT_GRACE_MS = 250

interface Waiting {
  resolve(message: WorkerMessage): void
  reject(error: unknown): void
}

export class WorkerMachine implements Machine {
  readonly #options: WorkerMachineOptions
  readonly #control: SharedArrayBuffer | undefined
  readonly #pending = new Map<number, PendingCall>()
  #wakeAtMs: number | undefined
  #waiting: Waiting | undefined
  #failure: CaissonError | undefined
  #released = false

  /**
   * Opens a guest in the Worker of `port`, which may still be starting: what that takes is not the guest's time.
   * @throws CaissonError `machine_lost` when the Worker does not start, `aborted`
   */
  static async open(options: WorkerMachineOptions): Promise<WorkerMachine> {
    const machine = new WorkerMachine(options)
    try {
      const reply = await machine.#ask({
        type: 'open',
        engine: options.engine,
        maxPages: options.maxPages,
        ...(machine.#control && { control: machine.#control }),
      })
      if (reply.type !== 'ready') throw unexpected(reply)
      return machine
    } catch (error) {
      machine.#failed(error)
      machine.dispose()
      throw error
    }
  }

  private constructor(options: WorkerMachineOptions) {
    this.#options = options
    this.#control =
      typeof SharedArrayBuffer === 'undefined'
        ? undefined
        : new SharedArrayBuffer(ANSWER_OFFSET + MOST_ANSWER_BYTES)
    options.port.listen(
      (message) => this.#received(message as WorkerMessage),
      (error) => this.#failed(error),
    )
  }

  get pending(): readonly PendingCall[] {
    return [...this.#pending.values()]
  }

  get wakeAtMs(): number | undefined {
    return this.#wakeAtMs
  }

  async start(start: MachineStart, control: TurnControl): Promise<Turn> {
    this.#checkSync(start)
    // As on the host's thread: what cannot cross is refused with its path, and nothing of the input runs.
    const input = copyValue(start.input, DEFAULT_VALUE_LIMITS, 'input')
    const after = start.after && { ...start.after, changes: [...start.after.changes] }
    return this.#turn(
      {
        type: 'start',
        start: { ...start, input, ...(after && { after }) },
        remainingMs: this.#remaining(control),
        errors: carriedErrors([input]),
      },
      control,
    )
  }

  async settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Promise<Turn> {
    for (const { id } of answers) {
      if (!this.#pending.has(id))
        throw new CaissonError('unknown_call', `No call ${id} is pending.`, { details: { id } })
    }
    for (const { id } of answers) this.#pending.delete(id)
    const errors = carriedErrors(answers.map((answer) => (answer.ok ? answer.value : undefined)))
    return this.#turn(
      { type: 'settle', answers, nowMs, remainingMs: this.#remaining(control), errors },
      control,
    )
  }

  async capture(): Promise<MachineCapture> {
    const reply = await this.#ask({ type: 'capture' })
    if (reply.type !== 'captured') throw unexpected(reply)
    restoreErrors(reply.errors)
    return reply.capture
  }

  async restore(from: MachineRestore): Promise<void> {
    this.#checkSync(from)
    const errors = carriedErrors([from.state])
    const reply = await this.#ask({ type: 'restore', from: { ...from, changes: [...from.changes] }, errors })
    if (reply.type !== 'restored') throw unexpected(reply)
    restoreErrors(reply.errors)
    for (const call of reply.pending) this.#pending.set(call.id, call)
    this.#wakeAtMs = reply.wakeAtMs
  }

  #checkSync({ capabilities }: Pick<MachineStart, 'capabilities'>): void {
    if (this.#control !== undefined || !capabilities.some(({ sync }) => sync)) return
    throw new CaissonError(
      'unsupported',
      'Sync capabilities in a Worker need SharedArrayBuffer (in a page: cross-origin isolation). Grant awaited ones, or run on the host thread.',
    )
  }

  async stateDigest(): Promise<string> {
    const reply = await this.#ask({ type: 'digest' })
    if (reply.type !== 'digest') throw unexpected(reply)
    return reply.digest
  }

  dispose(): void {
    if (this.#released) return
    this.#released = true
    const idle = this.#waiting === undefined && this.#failure === undefined
    if (idle) this.#post({ type: 'dispose' })
    else this.#failed(new CaissonError('isolate_destroyed', 'The guest was disposed inside a turn.'))
    this.#options.onRelease(idle)
  }

  #post(message: HostMessage): void {
    this.#options.port.post(message)
  }

  #remaining({ deadline }: TurnControl): number {
    return deadline - this.#options.monotonic()
  }

  async #turn(message: HostMessage, control: TurnControl): Promise<Turn> {
    const flags = this.#control === undefined ? undefined : new Int32Array(this.#control, 0, 4)
    if (flags !== undefined) Atomics.store(flags, CONTROL.abort, 0)
    const poll =
      flags === undefined || control.aborted === undefined
        ? undefined
        : setInterval(() => {
            if (control.aborted?.() === true) Atomics.store(flags, CONTROL.abort, 1)
          }, ABORT_POLL_MS)
    try {
      const reply = await this.#ask(message)
      if (reply.type !== 'turn') throw unexpected(reply)
      restoreErrors(reply.errors)
      const { turn } = reply
      for (const call of turn.calls) this.#pending.set(call.id, call)
      this.#wakeAtMs = turn.status === 'waiting' ? turn.wakeAtMs : undefined
      return turn
    } finally {
      clearInterval(poll)
    }
  }

  #ask(message: HostMessage): Promise<WorkerMessage> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure)
    if (this.#released)
      return Promise.reject(new CaissonError('isolate_destroyed', 'The guest was disposed.'))
    if (this.#waiting !== undefined)
      return Promise.reject(new CaissonError('busy', 'The machine is inside a turn.'))
    // The Worker itself keeps no process alive, so that idle ones do not. A question does.
    const alive = setInterval(() => {}, KEEP_ALIVE_MS)
    const forgetAbort = isTurn(message) ? undefined : this.#giveUpOnAbort()
    return new Promise<WorkerMessage>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#post(message)
    }).finally(() => {
      clearInterval(alive)
      forgetAbort?.()
    })
  }

  /** @returns ends it: there was an answer */
  #giveUpOnAbort(): () => void {
    const { signal } = this.#options
    let grace: ReturnType<typeof setTimeout> | undefined
    const giveUp = (): void => {
      grace = setTimeout(() => this.#failed(aborted()), ABORT_GRACE_MS)
    }
    signal?.addEventListener('abort', giveUp, { once: true })
    if (signal?.aborted === true) giveUp()
    return () => {
      clearTimeout(grace)
      signal?.removeEventListener('abort', giveUp)
    }
  }

  #received(message: WorkerMessage): void {
    if (message.type === 'sync') {
      restoreErrors(message.errors)
      this.#answerSync(message.index, message.args, message.bytes)
      return
    }
    const waiting = this.#waiting
    this.#waiting = undefined
    if (message.type === 'error') {
      const code = Object.hasOwn(ERROR_CODES, message.code)
        ? (message.code as ErrorCode)
        : 'isolate_destroyed'
      waiting?.reject(new CaissonError(code, message.message, { details: message.details }))
    } else waiting?.resolve(message)
  }

  /** The Worker sleeps until the answer stands in the shared block. */
  #answerSync(index: number, args: unknown, bytes: number): void {
    const control = this.#control
    if (control === undefined || this.#released) return
    let reply = this.#options.syncCalls.call(index, args, bytes)
    let answer: Uint8Array
    try {
      answer = encodeAnswer(reply instanceof Refusal ? [false, reply.failure] : [true, reply])
      if (answer.length > MOST_ANSWER_BYTES)
        throw new CaissonError('result_too_large', 'The result is too large.')
    } catch (error) {
      const code = CaissonError.is(error) ? error.code : 'invalid_result'
      reply = { code, message: `The result of a sync call in a Worker may take ${MOST_ANSWER_BYTES} bytes.` }
      answer = encodeAnswer([false, reply])
    }
    new Uint8Array(control, ANSWER_OFFSET).set(answer)
    const flags = new Int32Array(control, 0, 4)
    Atomics.store(flags, CONTROL.length, answer.length)
    Atomics.store(flags, CONTROL.state, 1)
    Atomics.notify(flags, CONTROL.state)
  }

  #failed(cause: unknown): void {
    this.#failure ??= CaissonError.is(cause)
      ? cause
      : new CaissonError('machine_lost', 'The Worker of the guest died.', { cause })
    void this.#options.port.terminate()
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(this.#failure)
  }
}

/** Text keeps the order of keys, which the canonical encoding does not: a guest can see it. */
function encodeAnswer(answer: readonly [ok: boolean, value: unknown]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(toTaggedJson(answer)))
}

function isTurn({ type }: HostMessage): boolean {
  return type === 'start' || type === 'settle'
}

function aborted(): CaissonError {
  return new CaissonError('aborted', 'The run was aborted, and its Worker did not answer any more.')
}

function unexpected(message: WorkerMessage): CaissonError {
  return new CaissonError('isolate_destroyed', `The Worker answered with "${message.type}" out of turn.`)
}
