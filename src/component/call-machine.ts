/**
 * One call of an export as a machine that takes turns: it begins in the instance that earlier calls left, and leaves it to
 * later ones.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. A call waits in one import at most, and only its answer, or one of the requests that it waits for, lets it go on.
 * 2. What it leaves when it is given up in the middle is no instance for other calls.
 */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { GuestFailure } from '../capability/call.ts'
import type {
  Answer,
  Machine,
  MachineCapture,
  MachineStart,
  PendingCall,
  Turn,
  TurnControl,
  TurnEnd,
} from '../machine/turn.ts'
import type { CapabilityCalls } from './capability-calls.ts'
import type { ComponentInstance } from './component-instance.ts'
import type { ComponentEnd } from './component-outcome.ts'
import { type TurnOutcome, WAITING } from './instance-turns.ts'
import type { ModuleClock } from './module/module-clock.ts'
import { GivenUp } from './repeated-answers.ts'

export interface CallMachineParts {
  readonly instance: ComponentInstance
  readonly calls: CapabilityCalls
  readonly clock: ModuleClock
  /** The export, and its checked arguments. */
  readonly name: string
  readonly args: readonly unknown[]
  /** Bytes that the guest was given beside them. Default none. */
  readonly bytesIn?: number
  readonly capture: (call: string) => MachineCapture
  readonly digest: (call: string | null) => string
}

export class CallMachine implements Machine {
  readonly #parts: CallMachineParts
  #state: 'fresh' | 'turning' | 'waiting' | 'ended' = 'fresh'
  #end: ComponentEnd | undefined

  /** @param waits the call was captured, and is taken up again */
  constructor(parts: CallMachineParts, waits = false) {
    this.#parts = parts
    if (waits) this.#state = 'waiting'
  }

  readonly wakeAtMs = undefined

  /** How it ended, as calls of components end; undefined before. */
  get end(): ComponentEnd | undefined {
    return this.#end
  }

  /** Name of the export that is called. */
  get export(): string {
    return this.#parts.name
  }

  get pending(): readonly PendingCall[] {
    return this.#parts.calls.pending
  }

  start({ nowMs }: MachineStart, control: TurnControl): Turn | Promise<Turn> {
    if (this.#state !== 'fresh') throw this.#refuse()
    const { instance, calls, clock, name, args, bytesIn } = this.#parts
    clock.advance(nowMs)
    calls.begin(bytesIn)
    return this.#turn(() => instance.enter(name, args, control))
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn | Promise<Turn> {
    const { instance, calls, clock } = this.#parts
    const at = instance.waitsIn
    if (this.#state !== 'waiting' || at === undefined) throw this.#refuse()
    clock.advance(nowMs)
    if (answers.length === 0) return this.#turn(() => WAITING)
    const answer = calls.deliver(answers, at.interface, at.name)
    return this.#turn(() => (answer === undefined ? WAITING : instance.resume(answer, control)))
  }

  capture(): MachineCapture {
    if (this.#state !== 'waiting') throw this.#refuse()
    return this.#parts.capture(this.#parts.name)
  }

  /** Calls are restored with their component. */
  restore(): never {
    throw new CaissonError('unsupported', 'A call is restored with its component.')
  }

  stateDigest(): string {
    if (this.#state === 'turning') throw this.#refuse()
    return this.#parts.digest(this.#state === 'waiting' ? this.#parts.name : null)
  }

  dispose(): void {
    if (this.#state === 'turning') throw this.#refuse()
    if (this.#state === 'waiting') this.#parts.calls.end()
    this.#state = 'ended'
  }

  #turn(work: () => TurnOutcome | Promise<TurnOutcome>): Turn | Promise<Turn> {
    this.#state = 'turning'
    try {
      const end = work()
      return end instanceof Promise ? this.#completeLater(end) : this.#complete(end)
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
  }

  async #completeLater(coming: Promise<TurnOutcome>): Promise<Turn> {
    try {
      return this.#complete(await coming)
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
  }

  #complete(came: TurnOutcome): Turn {
    const { calls, instance } = this.#parts
    // It is over here, and waits all the same: it will be executed again.
    const end = instance.fault instanceof GivenUp ? WAITING : explained(came, calls.lastFailure)
    const asked = end.status === 'waiting' ? calls.takeAsked() : []
    if (end.status === 'waiting') this.#state = 'waiting'
    else {
      this.#state = 'ended'
      this.#end = end
      calls.end()
    }
    const usage = {
      fuel: instance.fuelUsed,
      memoryBytes: instance.memoryBytes,
      calls: calls.count,
      bytesIn: calls.bytesIn,
      bytesOut: calls.bytesOut,
      logsDropped: 0,
    }
    return { ...turnEnd(end), calls: asked, logs: [], unhandledRejections: [], usage }
  }

  #refuse(): CaissonError {
    return this.#state === 'turning'
      ? new CaissonError('busy', 'The component is inside of a turn.')
      : new CaissonError('isolate_destroyed', `The call cannot take a turn: it is ${this.#state}.`)
  }
}

/** A guest that was told of a failure, and made nothing of it, traps: what it was told says more than that. */
function explained(end: TurnOutcome, failure: GuestFailure | undefined): TurnOutcome {
  if (end.status !== 'failed' || end.error.code !== 'trapped' || failure === undefined) return end
  const told = `${clipText(failure.code, 100)}: ${clipText(failure.message, 500)}`
  return {
    ...end,
    error: { ...end.error, message: `${end.error.message} Before, a call of it failed: ${told}` },
  }
}

function turnEnd(end: TurnOutcome): TurnEnd {
  // A machine has no end of this kind: whoever drives it asks for `end`.
  return end.status === 'exited' ? { status: 'completed', value: undefined } : end
}
