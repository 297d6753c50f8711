/** The Worker's side of `machine/worker-driver`: runs isolates in this thread for a host in another one. */
import { CaissonError } from '../base/errors.ts'
import { type GuestFailure, Refusal, type SyncCalls } from '../capability/call.ts'
import type { Turn, TurnControl } from '../machine/turn.ts'
import { ANSWER_OFFSET, CONTROL, type HostMessage, type WorkerMessage } from '../machine/worker-protocol.ts'
import type { PageTools } from '../ports/page-tools.ts'
import { carriedErrors, restoreErrors } from '../values/carried-errors.ts'
import { fromTaggedJson } from '../values/tagged-json.ts'
import { baseImageOf } from './base-image.ts'
import { parseEngine } from './engine.ts'
import { InstancePool } from './instance-pool.ts'
import { Isolate } from './isolate.ts'

/** One guest after the other; the pool keeps the instance between them. */
export class WorkerHost {
  readonly #post: (message: WorkerMessage) => void
  readonly #monotonic: () => number
  readonly #pageTools: PageTools | undefined
  #pool: InstancePool | undefined
  #poolKey = ''
  #isolate: Isolate | undefined
  #control: SharedArrayBuffer | undefined

  /** @param pageTools default those in plain JavaScript */
  constructor(post: (message: WorkerMessage) => void, monotonic: () => number, pageTools?: PageTools) {
    this.#pageTools = pageTools
    this.#post = post
    this.#monotonic = monotonic
  }

  /** Never throws: what goes wrong is posted. */
  receive(message: HostMessage): void {
    try {
      const reply = this.#handle(message)
      if (reply !== undefined) this.#post(reply)
    } catch (error) {
      const code = CaissonError.is(error) ? error.code : 'isolate_destroyed'
      const text = error instanceof Error ? error.message : String(error)
      const details = CaissonError.is(error) ? error.details : {}
      this.#post({ type: 'error', code, message: text.slice(0, 2_000), details })
    }
  }

  #handle(message: HostMessage): WorkerMessage | undefined {
    switch (message.type) {
      case 'open': {
        this.#isolate?.dispose()
        this.#control = message.control
        const engine = parseEngine(message.engine)
        const key = `${engine.id} ${message.maxPages}`
        if (this.#pool === undefined || this.#poolKey !== key) {
          const base = baseImageOf(engine)
          this.#pool = new InstancePool({
            engine,
            base,
            maxPages: message.maxPages,
            keep: 1,
            monotonic: this.#monotonic,
            pageTools: this.#pageTools,
          })
          this.#poolKey = key
        }
        this.#isolate = new Isolate(this.#pool.acquire(), this.#syncCalls())
        return { type: 'ready' }
      }
      case 'start':
        restoreErrors(message.errors)
        return turnMessage(this.#open().start(message.start, this.#turnControl(message.remainingMs)))
      case 'settle':
        restoreErrors(message.errors)
        return turnMessage(
          this.#open().settle(message.answers, message.nowMs, this.#turnControl(message.remainingMs)),
        )
      case 'digest':
        return { type: 'digest', digest: this.#open().stateDigest() }
      case 'capture': {
        const capture = this.#open().capture()
        return { type: 'captured', capture, errors: carriedErrors([capture.state]) }
      }
      case 'restore': {
        restoreErrors(message.errors)
        const isolate = this.#open()
        isolate.restore(message.from)
        const { pending, wakeAtMs } = isolate
        const errors = carriedErrors(pending.map(({ args }) => args))
        return { type: 'restored', pending, wakeAtMs, errors }
      }
      case 'dispose':
        this.#isolate?.dispose()
        this.#isolate = undefined
        return undefined
    }
  }

  #open(): Isolate {
    if (this.#isolate === undefined)
      throw new CaissonError('isolate_destroyed', 'No guest is open in this Worker.')
    return this.#isolate
  }

  #turnControl(remainingMs: number): TurnControl {
    const flags = this.#control === undefined ? undefined : new Int32Array(this.#control, 0, 4)
    return {
      deadline: this.#monotonic() + remainingMs,
      ...(flags && { aborted: () => Atomics.load(flags, CONTROL.abort) === 1 }),
    }
  }

  /** Asks the host and sleeps until it has answered. An abort wakes it too: the turn then ends at its next check. */
  #syncCalls(): SyncCalls {
    return {
      call: (index, args, bytes) => {
        const control = this.#control
        if (control === undefined)
          return new Refusal({ code: 'unsupported', message: 'No shared memory here.' })
        const flags = new Int32Array(control, 0, 4)
        Atomics.store(flags, CONTROL.state, 0)
        this.#post({ type: 'sync', index, args, bytes, errors: carriedErrors([args]) })
        Atomics.wait(flags, CONTROL.state, 0)
        const length = Atomics.load(flags, CONTROL.length)
        const answer = new Uint8Array(control, ANSWER_OFFSET, length).slice()
        const [ok, value] = fromTaggedJson(JSON.parse(new TextDecoder().decode(answer))) as [boolean, unknown]
        return ok ? value : new Refusal(value as GuestFailure)
      },
    }
  }
}

function turnMessage(turn: Turn): WorkerMessage {
  const values = turn.calls.map(({ args }) => args)
  if (turn.status === 'completed') values.push(turn.value)
  return { type: 'turn', turn, errors: carriedErrors(values) }
}
