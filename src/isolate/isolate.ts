/**
 * A QuickJS guest as a machine that takes turns.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. No guest code runs on behalf of the host's reading: arguments, results, errors and log lines are read
 *    from the guest's heap.
 * 2. The record of pending calls is the host's; the guest only holds promises.
 * 3. Between two timers that fire in one turn, all jobs that are ready run.
 * 4. `dispose` gives the instance back to its pool, which overwrites it, or drops it if it trapped in a way
 *    that no limit explains. Until then the final state can be digested.
 */
import { CaissonError } from '../base/errors.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { LimitName, Limits } from '../machine/limits.ts'
import type {
  Answer,
  AtEnd,
  GuestError,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  SyncCalls,
  Turn,
  TurnControl,
  TurnEnd,
  Usage,
} from '../machine/turn.ts'
import type { KeepPage } from '../snapshot/dirty-pages.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import { GuestProgram } from './guest-program.ts'
import { GuestTimers } from './guest-timers.ts'
import { sweepFreed } from './heap-sweep.ts'
import { FIRST_CAPABILITY } from './host-functions.ts'
import { HostServices } from './host-services.ts'
import type { PooledInstance } from './instance-pool.ts'
import { type IsolateState, parseIsolateState } from './isolate-state.ts'
import { applyChanges, isLarge, memoryChanges, memoryChangesInPieces } from './memory-image.ts'
import type { HeldInstance } from './residents.ts'
import { stateDigest } from './state-digest.ts'

/** What a guest that is taken up again goes on with. */
type Given = Pick<MachineRestore, 'capabilities' | 'limits'>

const WAITING = { status: 'waiting' } as const
const READY = { status: 'waiting', ready: true } as const
const NO_CALLS: readonly PendingCall[] = []

/** A guest without an instance, as this process left it. */
export interface ParkedGuest {
  readonly memoryBytes: number
  readonly pages: PageTree
  readonly state: IsolateState
}

type State = 'fresh' | 'parked' | 'turning' | 'capturing' | 'ended' | 'disposed'

export class Isolate implements Machine {
  readonly #pooled: PooledInstance
  readonly #syncCalls: SyncCalls
  #state: State = 'fresh'
  #reusable = true
  /** Disposed while it was captured. */
  #released = false
  /** Whether the program has begun: everything before is the host's. */
  #begun = false
  #limits!: Limits
  #services: HostServices | undefined
  #program!: GuestProgram
  readonly #timers: GuestTimers
  #atEnd: AtEnd = 'wait'
  #wakeAtMs: number | undefined
  /** Whether the guest can be captured when its program has completed. */
  #keep = false
  /** Whether it has, and can. */
  #completed = false
  /** The memory as it was captured or restored last; undefined stands for the base image. */
  #captured: PageTree | undefined
  /** Whether it is that still, but for its stack: the guest has taken no turn since. */
  #isAsCaptured = false

  constructor(pooled: PooledInstance, syncCalls: SyncCalls) {
    this.#pooled = pooled
    this.#timers = new GuestTimers(pooled)
    this.#syncCalls = syncCalls
  }

  /** There from the start or the restore on. */
  get #serving(): HostServices {
    return this.#services as HostServices
  }

  /** Calls that were asked and not settled yet. */
  get pending(): readonly PendingCall[] {
    return this.#services?.calls.pending ?? NO_CALLS
  }

  get wakeAtMs(): number | undefined {
    return this.#wakeAtMs
  }

  /** Whether it is between two turns: it can be captured. */
  get waits(): boolean {
    return this.#state === 'parked'
  }

  start(start: MachineStart, control: TurnControl): Turn {
    if (this.#state !== 'fresh') throw this.#refuseTurn('started')
    const { after } = start
    const before = after === undefined ? undefined : parseIsolateState(after.state)
    const services = HostServices.start(this.#pooled, this.#syncCalls, start, before)
    if (after !== undefined) this.#putBack(after)
    if (before !== undefined) services.modules.takeOver(before.program.places)
    this.#atEnd = start.atEnd ?? 'wait'
    this.#keep = start.keep === true
    this.#serve(services, new GuestProgram(this.#pooled, start.fileName, services.modules), start.limits, 0)
    return this.#turn(control, () => {
      services.calls.receive(start.source.length)
      // A guest that was there before has them.
      if (after === undefined) {
        this.#program.install(start.capabilities, (name, index) =>
          this.#pooled.newFunction(name, FIRST_CAPABILITY + index),
        )
      }
      services.calls.receive(this.#program.begin(start))
      this.#begun = true
    })
  }

  restore({ memoryBytes, changes, state, capabilities, limits }: MachineRestore): void {
    if (this.#state !== 'fresh') throw this.#refuseTurn('restored')
    this.#takeUp(parseIsolateState(state), { capabilities, limits }, () =>
      this.#putBack({ memoryBytes, changes }),
    )
  }

  /**
   * Goes on with a guest that was parked by this process, which takes its own word for what it was.
   * @param held what the memory of the instance is, but for its stack
   */
  wake({ memoryBytes, pages, state }: ParkedGuest, given: Given, held: PageTree): void {
    if (this.#state !== 'fresh') throw this.#refuseTurn('woken')
    this.#takeUp(state, given, () =>
      this.#fill(({ instance, base }) => {
        instance.growTo(memoryBytes)
        base.turnInto(instance, pages, held)
        return pages
      }),
    )
  }

  #takeUp(from: IsolateState, { capabilities, limits }: Given, fill: () => void): void {
    const services = HostServices.fromState(this.#pooled, this.#syncCalls, from, capabilities, limits)
    fill()
    this.#serve(
      services,
      GuestProgram.fromState(this.#pooled, from.program, services.modules),
      limits,
      from.fuel,
    )
    this.#begun = true
    this.#atEnd = from.atEnd
    this.#wakeAtMs = from.wakeAtMs
    this.#state = 'parked'
  }

  /** Makes the memory of a fresh instance what was captured. */
  #putBack({ memoryBytes, changes }: Pick<MachineRestore, 'memoryBytes' | 'changes'>): void {
    this.#fill(({ instance, base }) => {
      instance.growTo(memoryBytes)
      const pages = [...changes]
      applyChanges(instance, pages)
      return base.pages.with(pages)
    })
  }

  /** @param write gives the pages that the memory has then */
  #fill(write: (pooled: PooledInstance) => PageTree): void {
    try {
      this.#captured = write(this.#pooled)
      this.#isAsCaptured = true
    } catch (error) {
      this.#reusable = false
      this.#state = 'ended'
      throw CaissonError.is(error) ? error : new CaissonError('corrupted', (error as Error).message)
    }
  }

  /** Whether it is between two turns, or between two programs. */
  get #capturable(): boolean {
    return this.#state === 'parked' || (this.#state === 'ended' && this.#completed)
  }

  /** @param keep what a page that changed is kept as; default a copy of it */
  capture(keep?: KeepPage): MachineCapture {
    if (!this.#capturable) throw this.#refuseTurn('captured')
    const { instance, base, tools } = this.#pooled
    const known = this.#captured ?? base.pages
    const changes = memoryChanges(instance, known, tools.samePage, keep)
    this.#captured = known.with(changes)
    this.#isAsCaptured = true
    return { memoryBytes: instance.size, changes, state: this.#stateData() }
  }

  /** The memory as it was captured, woken or restored last. */
  get captured(): PageTree {
    return this.#captured ?? this.#pooled.base.pages
  }

  /**
   * Captures it, and gives the instance back, which is known to the last byte then. Ends it.
   * @param toNext another guest of the pool waits for an instance
   * @returns for that guest the instance, if it may have it
   */
  park(keep?: KeepPage, toNext = false): { readonly guest: ParkedGuest; readonly held?: HeldInstance } {
    const { memoryBytes, state } = this.capture(keep)
    const pages = this.captured
    const pooled = this.#pooled
    const guest = { memoryBytes, pages, state: state as IsolateState }
    this.#state = 'disposed'
    if (toNext && pooled.leave(this.#reusable)) return { guest, held: { pooled, pages } }
    pooled.release(this.#reusable, pages)
    return { guest }
  }

  /** As `capture`, without blocking the host for long; until it resolves the isolate takes no turn. */
  async captureInPieces(keep?: KeepPage): Promise<MachineCapture> {
    if (!this.#capturable) throw this.#refuseTurn('captured')
    const { instance, base, tools } = this.#pooled
    const known = this.#captured ?? base.pages
    const before = this.#state
    this.#state = 'capturing'
    try {
      const changes = await memoryChangesInPieces(instance, known, tools.pause, tools.samePage, keep)
      this.#captured = known.with(changes)
      this.#isAsCaptured = true
      return { memoryBytes: instance.size, changes, state: this.#stateData() }
    } finally {
      if (this.#released) this.#release()
      else this.#state = before
    }
  }

  /** Whether capturing it at once would block the host for long. */
  get isLarge(): boolean {
    return isLarge(this.#pooled.instance)
  }

  #stateData(): IsolateState {
    const fuel = this.#pooled.instance.gauge.consumed
    return {
      version: 1,
      program: this.#program.state(),
      fuel,
      wakeAtMs: this.#wakeAtMs,
      atEnd: this.#atEnd,
      ...this.#serving.state(),
    }
  }

  #serve(services: HostServices, program: GuestProgram, limits: Limits, consumed: number): void {
    const { instance } = this.#pooled
    services.locate = (error) => program.locate(error)
    services.calls.frameAt = (file, place) => program.frameAt(file, place)
    this.#services = services
    this.#program = program
    this.#limits = limits
    instance.serve(services, limits.memoryBytes)
    instance.gauge.reset(limits.fuel, consumed)
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    if (this.#state !== 'parked') throw this.#refuseTurn('settled')
    const services = this.#serving
    services.calls.checkAnswers(answers)
    services.clock.advance(nowMs)
    const deliver = (): void => {
      for (const answer of answers) services.calls.deliver(answer)
    }
    return this.#turn(control, deliver, services.clock.microseconds)
  }

  stateDigest(): string {
    if (this.#state === 'turning' || this.#state === 'disposed') throw this.#refuseTurn('digested')
    const { instance, base, tools } = this.#pooled
    const known = this.#captured ?? base.pages
    // Views suffice: the tree is dropped before anything runs.
    const memory = known.with(memoryChanges(instance, known, tools.samePage, (view) => view))
    return stateDigest(instance.engine.id, memory, this.#services?.calls.pendingIds ?? [], tools.sha256)
  }

  dispose(): void {
    if (this.#state === 'disposed') return
    if (this.#state === 'turning') throw this.#refuseTurn('disposed')
    // What is being looked at is given back when that is over.
    this.#released = this.#state === 'capturing'
    this.#end()
    this.#state = 'disposed'
    if (!this.#released) this.#release()
  }

  /** Where the memory is known, what differs from the base image is overwritten, else all of it. */
  #release(): void {
    this.#pooled.release(this.#reusable, this.#isAsCaptured ? this.#captured : undefined)
  }

  #refuseTurn(what: string): CaissonError {
    return this.#state === 'turning' || this.#state === 'capturing'
      ? new CaissonError(
          'busy',
          `The isolate cannot be ${what} ${this.#state === 'turning' ? 'inside a turn' : 'while it is captured'}.`,
        )
      : new CaissonError('isolate_destroyed', `The isolate cannot be ${what}: it is ${this.#state}.`)
  }

  #end(): void {
    this.#state = 'ended'
    this.#wakeAtMs = undefined
    this.#services?.calls.end()
  }

  /** @param dueAt fires the timers that are due then, in microseconds; left out, none is */
  #turn(control: TurnControl, work: () => void, dueAt?: number): Turn {
    const { instance } = this.#pooled
    const { gauge } = instance
    const services = this.#serving
    this.#state = 'turning'
    this.#isAsCaptured = false
    services.calls.beginTurn()
    let end: TurnEnd = WAITING
    let thrown: unknown
    gauge.begin(this.#limits.stackBytes, control.deadline, control.aborted)
    try {
      work()
      end = this.#program.proceed() ?? end
      if (dueAt !== undefined) end = this.#fireTimers(end, dueAt)
      if (end.status === 'waiting') end = this.#lookAtEnd()
    } catch (error) {
      thrown = error
    }
    // Before the fuel is counted, which the guest pays for it with.
    const stays = end.status === 'waiting' || (this.#keep && end.status === 'completed')
    if (stays && thrown === undefined) gauge.charge(sweepFreed(instance))
    gauge.end()
    services.modules.endTurn()
    const { stopReason } = gauge
    if (instance.fault !== undefined) this.#reusable = false
    // A limit that is reached while the host works inside an import traps there too: the limit came first.
    if (stopReason !== undefined && stopReason !== 'fault') end = this.#stopped(stopReason)
    else if (instance.fault !== undefined) end = this.#trapped(instance.fault, true)
    else if (thrown !== undefined) end = this.#trapped(thrown, this.#begun)
    else if (!instance.stackIsEmpty)
      end = this.#trapped(new CaissonError('corrupted', 'The stack pointer drifted.'), true)
    const waiting = end.status === 'waiting'
    const turn = completeTurn(
      end,
      waiting ? services.calls.asked : NO_CALLS,
      services.takeLogs(),
      services.takeRejections(this.#program.ownPromises, this.#program.endReason),
      this.#usage(),
    )
    if (waiting) this.#state = 'parked'
    else this.#end()
    this.#completed = this.#keep && end.status === 'completed'
    return turn
  }

  /**
   * Fires what is due, in order, each with the jobs that follow from it before the next. The guest may read its clock
   * as often as it likes: what was not due when the turn began is not due in it.
   */
  #fireTimers(before: TurnEnd, dueAt: number): TurnEnd {
    let end = before
    while (this.#serving.timers > 0 && end.status === 'waiting' && !this.#isOver()) {
      if (!this.#timers.fire(dueAt)) break
      end = this.#program.proceed() ?? end
    }
    return end
  }

  /** Whether its value is there and nothing else is waited for. */
  #isOver(): boolean {
    return this.#program.ready && this.#atEnd === 'drop'
  }

  /** What a program waits for that has not failed, or its end. One with a value may wait for what it left pending. */
  #lookAtEnd(): TurnEnd {
    const services = this.#serving
    const { ready } = this.#program
    // Most programs set no timers, and are not asked.
    const wakeAtMs = services.timers === 0 ? undefined : this.#timers.next()
    this.#wakeAtMs = wakeAtMs
    // A timer of the prelude's own (AbortSignal.timeout) wakes the guest, and keeps no program from its end.
    const timers = ready && wakeAtMs !== undefined ? this.#timers.count() : 0
    const pending = timers > 0 || services.calls.arePending
    if (!ready || (pending && !this.#isOver())) {
      const waiting = ready ? READY : WAITING
      return wakeAtMs === undefined ? waiting : { ...waiting, wakeAtMs }
    }
    const end = this.#program.complete()
    if (services.calls.bytesOut + this.#program.resultBytes > this.#limits.bytesOut) {
      this.#pooled.instance.gauge.halt('bytes')
    }
    if (this.#keep) this.#program.release()
    if (!pending || end.status !== 'completed') return end
    return { ...end, left: { calls: services.calls.pending, timers } }
  }

  #usage(): Usage {
    const { calls, logsDropped } = this.#serving
    return {
      fuel: this.#pooled.instance.gauge.consumed,
      memoryBytes: this.#pooled.instance.size,
      calls: calls.count,
      bytesIn: calls.bytesIn,
      bytesOut: calls.bytesOut + this.#program.resultBytes,
      logsDropped,
    }
  }

  #stopped(reason: LimitName | 'aborted'): TurnEnd {
    if (reason === 'aborted') {
      return {
        status: 'failed',
        error: { name: 'AbortError', code: 'aborted', message: 'The run was aborted.' },
      }
    }
    const limits = this.#limits
    return exhausted(reason, limits, this.#serving.calls.bytesIn > limits.bytesIn ? 'bytesIn' : 'bytesOut')
  }

  /**
   * The engine gave up, or something of ours did: only this isolate dies.
   * @param byGuest whether a refusal was the guest's doing; before its program began, it is about the input
   */
  #trapped(error: unknown, byGuest: boolean): TurnEnd {
    this.#reusable = false
    if (error instanceof WebAssembly.RuntimeError) return engineTrap(error.message)
    if (CaissonError.is(error) && (byGuest || error.code === 'corrupted')) return engineTrap(error.message)
    this.#end()
    if (CaissonError.is(error)) throw error
    if (error instanceof RangeError || (error as { name?: unknown } | null)?.name === 'InternalError') {
      throw new CaissonError(
        'native_stack_low',
        "The host's own stack ran out under the guest. Start turns from a shallower place, or use thread: 'worker'.",
        { cause: error },
      )
    }
    throw new CaissonError('isolate_destroyed', 'The host failed inside a turn; the isolate was destroyed.', {
      cause: error,
    })
  }
}

/** Written out by status: spreading an end into the turn took a tenth of the smallest run (bench: first-result). */
function completeTurn(
  end: TurnEnd,
  calls: Turn['calls'],
  logs: Turn['logs'],
  unhandledRejections: Turn['unhandledRejections'],
  usage: Usage,
): Turn {
  switch (end.status) {
    case 'waiting':
      if (end !== WAITING) return { ...end, calls, logs, unhandledRejections, usage }
      return { status: 'waiting', calls, logs, unhandledRejections, usage }
    case 'completed':
      if (end.left !== undefined || end.unread !== undefined)
        return { ...end, calls, logs, unhandledRejections, usage }
      return { status: 'completed', value: end.value, calls, logs, unhandledRejections, usage }
    case 'failed':
      return { status: 'failed', error: end.error, calls, logs, unhandledRejections, usage }
    case 'exhausted':
      return {
        status: 'exhausted',
        limit: end.limit,
        message: end.message,
        calls,
        logs,
        unhandledRejections,
        usage,
      }
  }
}

function engineTrap(message: string): TurnEnd {
  const error: GuestError = {
    name: 'EngineTrap',
    code: 'engine_trap',
    message: `The engine stopped: ${message}`,
  }
  return { status: 'failed', error }
}
