/**
 * The turns of an instance: when code of its guest runs, how it waits, and how it ends.
 *
 * Invariants
 * 1. Guest code runs only between `begin` and `pause` of the meter: what it does is counted against the limits of the
 *    instance.
 * 2. After a trap, an exhausted limit, an exit or a broken import the instance is over: nothing of it runs again.
 * 3. A call that waits keeps the instance busy; no frame of the guest is live meanwhile (`component-wait.ts`), or they
 *    are held by the engine (`held-stack.ts`).
 */
import { CaissonError } from '../base/errors.ts'
import type { Limits } from '../machine/limits.ts'
import type { TurnControl } from '../machine/turn.ts'
import type { ComponentEnd } from './component-outcome.ts'
import { ComponentWait } from './component-wait.ts'
import { Reentry } from './core/reentry.ts'
import type { HeldStack } from './held-stack.ts'
import { endOf } from './instance-end.ts'
import type { InstanceMeter } from './instance-meter.ts'
import { type CallSteps, type ComponentFunction, SUSPENDED } from './link/component-function.ts'
import type { FaultDomain } from './link/fault-domain.ts'

/** A call that waits for the answer of an import. */
export interface Waiting {
  readonly status: 'waiting'
}

export type TurnOutcome = ComponentEnd | Waiting

export const WAITING: Waiting = { status: 'waiting' }

export interface InstanceTurnsParts {
  readonly meter: InstanceMeter
  readonly domain: FaultDomain
  readonly limits: Limits
  readonly monotonic: () => number
  /** Where its stack is held while it waits. */
  readonly held: HeldStack | undefined
  /** Told when a turn is over in which it was asked to let go. */
  readonly onLetGo: () => void
}

export class InstanceTurns {
  /** Calls of other modules into the one that is unwound. */
  readonly reentry: Reentry = new Reentry()
  readonly wait: ComponentWait = new ComponentWait(this.reentry)
  readonly #parts: InstanceTurnsParts
  /** Of a call that waits. */
  #target: ComponentFunction | undefined
  #state: 'idle' | 'busy' | 'over' = 'idle'
  /** Whether code of the guest may be on the stack: it is busy also before that, and while it waits. */
  #inTurn = false
  #letsGo = false

  constructor(parts: InstanceTurnsParts) {
    this.#parts = parts
  }

  get state(): 'idle' | 'busy' | 'over' {
    return this.#state
  }

  /** Which import the call waits in. */
  get waitsIn(): { readonly interface: string; readonly name: string } | undefined {
    const at = this.wait.suspension?.at ?? this.#parts.held?.at
    return at && { interface: at.module, name: at.name }
  }

  /** Whether frames of it wait that are held by the engine: there is more of it than can be captured. */
  get holdsStack(): boolean {
    return this.#parts.held?.at !== undefined
  }

  /** It takes no other call until the one that was let in is over. */
  reserve(): void {
    this.#state = 'busy'
  }

  /** Its start functions run while `link` does. @param control default: `wallMs` of the limits */
  async start<T>(control: TurnControl | undefined, link: () => Promise<T>): Promise<T> {
    this.#state = 'busy'
    this.#begin(control)
    this.#inTurn = true
    try {
      const linked = await link()
      this.#state = 'idle'
      return linked
    } catch (error) {
      this.#state = 'over'
      throw error
    } finally {
      this.#inTurn = false
      this.#parts.meter.pause()
    }
  }

  /** Begins a call that may wait. @param args checked */
  enter(
    target: ComponentFunction,
    args: readonly unknown[],
    control: TurnControl,
  ): TurnOutcome | Promise<TurnOutcome> {
    const { steps } = target
    const { held } = this.#parts
    this.wait.begin(steps?.core)
    // Nothing with handles can wait: a frame of the host stays below it.
    if (steps === undefined) return this.run(target, args, control)
    if (held !== undefined)
      return this.#heldTurn(target, steps, control, () => held.enter(steps.core, steps.begin(args)))
    return this.#turn(target, control, () => this.#ended(steps, steps.core(...steps.begin(args))))
  }

  /** The call that waits goes on. @param answer makes the import's result */
  resume(answer: () => unknown, control: TurnControl): TurnOutcome | Promise<TurnOutcome> {
    const target = this.#target
    const steps = target?.steps
    if (target === undefined || steps === undefined)
      throw new CaissonError('invalid_argument', 'The component does not wait.')
    const { held } = this.#parts
    if (held !== undefined) return this.#heldTurn(target, steps, control, () => held.resume(answer))
    this.wait.begin(steps.core)
    return this.#turn(target, control, () => {
      this.wait.rewind(answer)
      return this.#ended(steps, steps.core(...steps.blank))
    })
  }

  /** A call that cannot wait, from its begin to its end. */
  run(target: ComponentFunction, args: readonly unknown[], control: TurnControl): TurnOutcome {
    return this.#turn(target, control, () => ({ value: target.call(args) }))
  }

  /** Takes up a call of a captured instance that waits. @throws CaissonError `corrupted` */
  takeUp(target: ComponentFunction | undefined): void {
    if (target?.steps === undefined || this.wait.suspension === undefined)
      throw new CaissonError('corrupted', 'The captured component waits in no call of its own.')
    this.#target = target
    this.#state = 'busy'
  }

  /**
   * Also a destructor that the embedder asks for runs under limits, and ends the instance where it fails: whoever asked
   * is not told by an error, which an import could keep to itself.
   */
  runDestructor(act: () => void): void {
    const { meter, domain } = this.#parts
    const before = this.#state
    if (before === 'over') return
    if (this.waitsIn !== undefined) throw new CaissonError('busy', 'The component waits inside of a call.')
    if (this.#inTurn) {
      this.#contained(act)
      return
    }
    this.#state = 'busy'
    this.#inTurn = true
    this.#begin(undefined)
    this.#contained(act)
    this.#inTurn = false
    meter.checkMemory()
    meter.pause()
    if (meter.gauge.stopReason !== undefined) this.endOf(undefined)
    this.#state = domain.over ? 'over' : before
  }

  /** It is over, at once or at the next check of the turn that runs; then `onLetGo` is told. */
  letGo(): void {
    const { meter, domain, held, onLetGo } = this.#parts
    this.#letsGo = true
    this.#state = 'over'
    if (this.#inTurn) {
      meter.gauge.halt('aborted')
      return
    }
    onLetGo()
    if (held?.at === undefined) return
    domain.fail(new CaissonError('aborted', 'The component was let go of while it waited.'))
    held.abandon()
  }

  /** What an error says that came out of guest code, or of ours below it: the instance is over. */
  endOf(thrown: unknown): ComponentEnd {
    const { domain, meter, limits } = this.#parts
    const error = domain.over ? domain.fault : thrown
    domain.fail(error)
    return endOf(error, { meter, limits, unwinds: this.wait.unwinds })
  }

  #begin(control: TurnControl | undefined): void {
    const { meter, limits, monotonic } = this.#parts
    if (control === undefined) meter.begin(monotonic() + limits.wallMs, undefined)
    else meter.begin(control.deadline, control.aborted)
  }

  #ended(steps: CallSteps, returned: unknown): { readonly value: unknown } | undefined {
    this.#parts.domain.checkAlive()
    return this.wait.finishUnwind() ? undefined : { value: steps.end(returned) }
  }

  /** @param act undefined where the guest waits */
  #turn(
    target: ComponentFunction,
    control: TurnControl,
    act: () => { readonly value: unknown } | undefined,
  ): TurnOutcome {
    this.#beginTurn(target, control)
    let end: TurnOutcome
    try {
      const done = act()
      end = done === undefined ? WAITING : { status: 'completed', value: done.value }
    } catch (error) {
      end = this.endOf(error)
    }
    return this.#endTurn(end)
  }

  /** A turn that is over when the promise of `act` is settled: where stacks are held. */
  async #heldTurn(
    target: ComponentFunction,
    steps: CallSteps,
    control: TurnControl,
    act: () => Promise<unknown>,
  ): Promise<TurnOutcome> {
    this.#beginTurn(target, control)
    let end: TurnOutcome
    try {
      const returned = await act()
      this.#parts.domain.checkAlive()
      end = returned === SUSPENDED ? WAITING : { status: 'completed', value: steps.end(returned) }
    } catch (error) {
      end = this.endOf(error)
    }
    return this.#endTurn(end)
  }

  #beginTurn(target: ComponentFunction, control: TurnControl): void {
    const { domain } = this.#parts
    this.#state = 'busy'
    this.#target = target
    this.#begin(control)
    domain.budget.reset()
    domain.nesting = 0
    this.reentry.reset()
    this.#inTurn = true
  }

  #endTurn(came: TurnOutcome): TurnOutcome {
    const { meter, onLetGo } = this.#parts
    let end = came
    this.#inTurn = false
    meter.checkMemory()
    meter.pause()
    if (this.#letsGo) onLetGo()
    const isAlive = end.status === 'completed' || end.status === 'waiting'
    if (isAlive && meter.gauge.stopReason !== undefined) end = this.endOf(undefined)
    if (end.status === 'waiting') return end
    this.#target = undefined
    this.#state = end.status === 'completed' ? 'idle' : 'over'
    return end
  }

  /** Nothing can wait in it: this frame stays below it. */
  #contained(act: () => void): void {
    const { domain } = this.#parts
    domain.nesting += 1
    try {
      act()
    } catch (error) {
      domain.fail(error)
    }
    domain.nesting -= 1
  }
}
