/**
 * A QuickJS guest as a machine that takes turns.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. No guest code runs on behalf of the host's reading: arguments, results, errors and log lines are read
 *    from the guest's heap.
 * 2. The record of pending calls is the host's; the guest only holds promises.
 * 3. `dispose` gives the instance back to its pool, which overwrites it, or drops it if it trapped in a way
 *    that no limit explains. Until then the final state can be digested.
 */
import { CaissonError } from '../base/errors.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { LimitName, Limits } from '../machine/limits.ts'
import type {
  Answer,
  GuestCapability,
  GuestError,
  GuestFailure,
  LogLevel,
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
import { Refusal } from '../machine/turn.ts'
import type { KeepPage } from '../snapshot/dirty-pages.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import { DEFAULT_VALUE_LIMITS, type ValueLimits } from '../values/limits.ts'
import { ConsoleLog } from './console-log.ts'
import { GuestProgram } from './guest-program.ts'
import { FIRST_CAPABILITY, HOST_FUNCTIONS } from './guest-runtime.ts'
import { sweepFreed } from './heap-sweep.ts'
import type { PooledInstance } from './instance-pool.ts'
import { type IsolateState, type PendingRecord, parseIsolateState } from './isolate-state.ts'
import { LogicalClock } from './logical-clock.ts'
import { applyChanges, isLarge, memoryChanges, memoryChangesInPieces } from './memory-image.ts'
import { RandomStreams } from './randomness.ts'
import { Rejections } from './rejections.ts'
import { stateDigest } from './state-digest.ts'

/** Fuel for the host's part of a call, and for each byte of its arguments or answer. */
const CALL_FUEL = 2_000
const CALL_FUEL_PER_BYTE = 8

const LEVELS: Readonly<Record<number, LogLevel>> = {
  [HOST_FUNCTIONS.debug]: 'debug',
  [HOST_FUNCTIONS.log]: 'log',
  [HOST_FUNCTIONS.info]: 'info',
  [HOST_FUNCTIONS.warn]: 'warn',
  [HOST_FUNCTIONS.error]: 'error',
}

const WAITING: TurnEnd = { status: 'waiting' }
const NO_CALLS: readonly PendingCall[] = []

/** A capability with its place in the host's list, which may differ from the guest's after a restore. */
interface NumberedCapability extends GuestCapability {
  readonly index: number
}

type State = 'fresh' | 'parked' | 'turning' | 'capturing' | 'ended' | 'disposed'

export class Isolate implements Machine {
  readonly #pooled: PooledInstance
  readonly #syncCalls: SyncCalls
  readonly #rejections = new Rejections()
  readonly #pending = new Map<number, PendingRecord>()
  #state: State = 'fresh'
  #reusable = true
  /** Disposed while it was captured. */
  #released = false
  /** Whether the program has begun: everything before is the host's. */
  #begun = false
  #limits!: Limits
  #seed: Uint8Array | undefined
  #log = new ConsoleLog(0)
  #clock!: LogicalClock
  /** Made on first use: most programs never ask. */
  #random: RandomStreams | undefined
  #program!: GuestProgram
  #capabilities: readonly NumberedCapability[] = []
  /** The memory as it was captured or restored last; undefined stands for the base image. */
  #captured: PageTree | undefined
  #asked: PendingCall[] = []
  #calls = 0
  #bytesIn = 0
  #bytesOut = 0
  #readLimits: ValueLimits = DEFAULT_VALUE_LIMITS

  constructor(pooled: PooledInstance, syncCalls: SyncCalls) {
    this.#pooled = pooled
    this.#syncCalls = syncCalls
  }

  /** Calls that were asked and not settled yet. */
  get pending(): readonly PendingCall[] {
    return Array.from(this.#pending.values(), publicCall)
  }

  /** Whether it is between two turns: it can be captured. */
  get waits(): boolean {
    return this.#state === 'parked'
  }

  start(start: MachineStart, control: TurnControl): Turn {
    if (this.#state !== 'fresh') throw this.#refuseTurn('started')
    this.#seed = start.seed
    this.#capabilities = start.capabilities.map((capability, index) => ({ ...capability, index }))
    this.#log = new ConsoleLog(start.limits.logBytes)
    this.#clock = new LogicalClock(start.nowMs)
    this.#program = new GuestProgram(this.#pooled, start.fileName)
    this.#serve(start.limits, 0)
    return this.#turn(control, () => {
      this.#receive(start.source.length)
      this.#program.install(start.capabilities, (name, index) =>
        this.#pooled.newFunction(name, FIRST_CAPABILITY + index),
      )
      this.#receive(this.#program.begin(start))
      this.#begun = true
    })
  }

  restore({ memoryBytes, changes, state, capabilities, limits }: MachineRestore): void {
    if (this.#state !== 'fresh') throw this.#refuseTurn('restored')
    const { instance, base } = this.#pooled
    const from = parseIsolateState(state)
    this.#capabilities = sameCapabilities(from.capabilities, capabilities)
    this.#log = new ConsoleLog(limits.logBytes, from.log)
    this.#clock = LogicalClock.fromState(from.clock)
    this.#random = RandomStreams.fromState(from.random)
    this.#program = GuestProgram.fromState(this.#pooled, from.program)
    this.#calls = from.calls
    this.#bytesIn = from.bytesIn
    this.#bytesOut = from.bytesOut
    for (const record of from.pending) this.#pending.set(record.id, record)
    try {
      instance.growTo(memoryBytes)
      const pages = [...changes]
      applyChanges(instance, pages)
      this.#captured = base.pages.with(pages)
    } catch (error) {
      this.#reusable = false
      this.#end()
      throw CaissonError.is(error) ? error : new CaissonError('corrupted', (error as Error).message)
    }
    this.#serve(limits, from.fuel)
    this.#begun = true
    this.#state = 'parked'
  }

  /** @param keep what a page that changed is kept as; default a copy of it */
  capture(keep?: KeepPage): MachineCapture {
    if (this.#state !== 'parked') throw this.#refuseTurn('captured')
    const { instance, base, samePage } = this.#pooled
    const known = this.#captured ?? base.pages
    const changes = memoryChanges(instance, known, samePage, keep)
    this.#captured = known.with(changes)
    return { memoryBytes: instance.size, changes, state: this.#stateData() }
  }

  /** As `capture`, without blocking the host for long; until it resolves the isolate takes no turn. */
  async captureInPieces(keep?: KeepPage): Promise<MachineCapture> {
    if (this.#state !== 'parked') throw this.#refuseTurn('captured')
    const { instance, base, samePage } = this.#pooled
    const known = this.#captured ?? base.pages
    this.#state = 'capturing'
    try {
      const changes = await memoryChangesInPieces(instance, known, samePage, keep)
      this.#captured = known.with(changes)
      return { memoryBytes: instance.size, changes, state: this.#stateData() }
    } finally {
      if (this.#released) this.#pooled.release(this.#reusable)
      else this.#state = 'parked'
    }
  }

  /** Whether capturing it at once would block the host for long. */
  get isLarge(): boolean {
    return isLarge(this.#pooled.instance)
  }

  #stateData(): IsolateState {
    return {
      version: 1,
      program: this.#program.state(),
      clock: this.#clock.state(),
      random: this.#randomness().state(),
      log: this.#log.state(),
      fuel: this.#pooled.instance.gauge.consumed,
      calls: this.#calls,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      capabilities: this.#capabilities.map(({ name, sync }) => ({ name, sync })),
      pending: [...this.#pending.values()],
    }
  }

  #serve(limits: Limits, consumed: number): void {
    const { instance } = this.#pooled
    this.#limits = limits
    instance.serve(
      {
        call: (fn, count, values) => this.#called(fn, count, values),
        readClock: () => this.#clock.read(),
        promiseRejection: (promise, reason, handled) => this.#rejected(promise, reason, handled),
      },
      limits.memoryBytes,
    )
    instance.gauge.reset(limits.fuel, consumed)
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    if (this.#state !== 'parked') throw this.#refuseTurn('settled')
    const records = answers.map((answer) => {
      const record = this.#pending.get(answer.id)
      if (record === undefined) {
        throw new CaissonError(
          'unknown_call',
          `No call ${answer.id} is pending; it may have been settled before.`,
          {
            details: { id: answer.id },
          },
        )
      }
      return record
    })
    if (new Set(records).size !== records.length) {
      throw new CaissonError('unknown_call', 'The same call is settled twice in one turn.')
    }
    this.#clock.advance(nowMs)
    return this.#turn(control, () => {
      for (const [i, answer] of answers.entries()) this.#deliver(records[i] as PendingRecord, answer)
    })
  }

  stateDigest(): string {
    if (this.#state === 'turning' || this.#state === 'disposed') throw this.#refuseTurn('digested')
    const { instance, base, samePage } = this.#pooled
    const known = this.#captured ?? base.pages
    const memory = known.with(memoryChanges(instance, known, samePage))
    return stateDigest(instance.engine.id, memory, this.#pending.keys())
  }

  dispose(): void {
    if (this.#state === 'disposed') return
    if (this.#state === 'turning') throw this.#refuseTurn('disposed')
    // What is being looked at is given back when that is over.
    this.#released = this.#state === 'capturing'
    this.#end()
    this.#state = 'disposed'
    if (!this.#released) this.#pooled.release(this.#reusable)
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
    this.#pending.clear()
  }

  #turn(control: TurnControl, work: () => void): Turn {
    const { instance } = this.#pooled
    const { gauge } = instance
    this.#state = 'turning'
    this.#asked = []
    let end: TurnEnd = WAITING
    let thrown: unknown
    gauge.begin(this.#limits.stackBytes, control.deadline, control.aborted)
    try {
      work()
      end = this.#program.proceed() ?? end
      if (end.status === 'completed' && this.#bytesOut + this.#program.resultBytes > this.#limits.bytesOut) {
        instance.gauge.halt('bytes')
      }
      // A finished program still waits for calls that it started and did not await.
      if (end.status === 'completed' && this.#pending.size > 0) end = WAITING
    } catch (error) {
      thrown = error
    }
    // Before the fuel is counted, which the guest pays for it with.
    if (end === WAITING && thrown === undefined) gauge.charge(sweepFreed(instance))
    gauge.end()
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
      waiting ? this.#asked : NO_CALLS,
      this.#log.take(),
      this.#rejections.take(this.#program.ownPromises),
      this.#usage(),
    )
    if (waiting) this.#state = 'parked'
    else this.#end()
    return turn
  }

  #usage(): Usage {
    return {
      fuel: this.#pooled.instance.gauge.consumed,
      memoryBytes: this.#pooled.instance.size,
      calls: this.#calls,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut + this.#program.resultBytes,
      logsDropped: this.#log.dropped,
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
    return exhausted(reason, limits, this.#bytesIn > limits.bytesIn ? 'bytesIn' : 'bytesOut')
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

  // ---- what the guest calls ----

  #called(fn: number, count: number, values: number): number {
    if (fn >= FIRST_CAPABILITY) return this.#calledCapability(fn - FIRST_CAPABILITY, count, values)
    if (fn === HOST_FUNCTIONS.random) {
      return this.#pooled.writer.writeNumber(this.#randomness().mathRandom())
    }
    const level = LEVELS[fn]
    if (level === undefined) throw new CaissonError('corrupted', `The guest called host function ${fn}.`)
    if (!this.#log.hasRoom) this.#log.drop()
    else {
      const text = this.#pooled.reader.inspectAll(values, count)
      this.#chargeReading(text.length)
      this.#log.write(level, text, this.#clock.peek())
    }
    return 0
  }

  #randomness(): RandomStreams {
    this.#random ??= new RandomStreams(this.#seed ?? new Uint8Array())
    return this.#random
  }

  /** What the host did to look at something of the guest's, which is the guest's to pay; `more` in bytes. */
  #chargeReading(more: number): void {
    const { instance, reader } = this.#pooled
    instance.gauge.charge(CALL_FUEL + (reader.lastWork + more) * CALL_FUEL_PER_BYTE)
    instance.gauge.hostWorked()
  }

  #calledCapability(number: number, count: number, values: number): number {
    const capability = this.#capabilities[number]
    if (capability === undefined)
      throw new CaissonError('corrupted', `The guest called host function ${number}.`)
    const { instance, reader, writer } = this.#pooled
    const limits = this.#limits
    this.#calls += 1
    if (this.#calls > limits.calls) {
      instance.gauge.halt('calls')
      return 0
    }
    let args: unknown
    let bytes = 0
    if (count > 0) {
      try {
        args = reader.read(values, this.#readLimits, capability.name)
        bytes = reader.lastBytes
      } catch (error) {
        this.#chargeReading(0)
        if (!CaissonError.is(error) || error.code === 'corrupted') throw error
        return this.#refuse(capability, { code: error.code, message: error.message, name: 'TypeError' })
      }
      this.#chargeReading(0)
      this.#bytesOut += bytes
      if (this.#bytesOut > limits.bytesOut) {
        instance.gauge.halt('bytes')
        return 0
      }
    } else instance.gauge.charge(CALL_FUEL)
    if (capability.sync) {
      // The deadline passed while the arguments were read: nothing leaves the guest any more.
      if (instance.gauge.stopReason !== undefined) return 0
      const reply = this.#syncCalls.call(capability.index, args, bytes)
      instance.gauge.hostWorked()
      if (reply instanceof Refusal) return this.#throwInGuest(reply.failure)
      if (reply === undefined) return 0
      let cell: number
      try {
        cell = writer.write(reply, DEFAULT_VALUE_LIMITS, capability.name)
      } catch (error) {
        return this.#throwInGuest(invalidResult(error))
      }
      this.#receive(writer.lastBytes)
      instance.gauge.charge(writer.lastBytes * CALL_FUEL_PER_BYTE)
      return cell
    }
    const id = this.#calls
    const promise = this.#pooled.newPromise()
    const record: PendingRecord = {
      id,
      capability: capability.name,
      args,
      bytes,
      askedAtMs: this.#clock.peek(),
      resolve: promise.resolve,
      reject: promise.reject,
    }
    this.#pending.set(id, record)
    this.#asked.push(publicCall(record))
    return promise.promise
  }

  /** A refusal of the bridge itself: awaited capabilities reject, sync ones throw. */
  #refuse(capability: GuestCapability, failure: GuestFailure): number {
    if (capability.sync) return this.#throwInGuest(failure)
    const { promise, resolve, reject } = this.#pooled.newPromise()
    const error = this.#pooled.writer.writeFailure(failure)
    this.#pooled.callAndFree(reject, error)
    this.#pooled.free(error, resolve, reject)
    return promise
  }

  #throwInGuest(failure: GuestFailure): number {
    const { instance, guest, writer } = this.#pooled
    const error = writer.writeFailure(failure)
    const thrown = instance.exports.QTS_Throw(guest.context, error)
    this.#pooled.free(error)
    return thrown
  }

  #rejected(promise: bigint, reason: bigint, handled: number): void {
    const address = Number(BigInt.asUintN(32, promise))
    if (handled !== 0) this.#rejections.handled(address)
    else {
      this.#rejections.rejected(address, () => {
        const error = this.#pooled.reader.readErrorBits(reason)
        this.#chargeReading(0)
        return this.#program.locate(error)
      })
    }
  }

  // ---- what the host delivers ----

  #deliver(record: PendingRecord, answer: Answer): void {
    const { instance, writer } = this.#pooled
    this.#pending.delete(record.id)
    let cell: number
    let settle = record.resolve
    if (answer.ok) {
      try {
        cell = writer.write(answer.value, DEFAULT_VALUE_LIMITS, record.capability)
      } catch (error) {
        settle = record.reject
        cell = writer.writeFailure(invalidResult(error))
      }
    } else {
      settle = record.reject
      cell = writer.writeFailure(answer.error)
    }
    this.#receive(writer.lastBytes)
    instance.gauge.charge(CALL_FUEL + writer.lastBytes * CALL_FUEL_PER_BYTE)
    this.#pooled.callAndFree(settle, cell)
    this.#pooled.free(cell, record.resolve, record.reject)
  }

  #receive(bytes: number): void {
    this.#bytesIn += bytes
    if (this.#bytesIn > this.#limits.bytesIn) this.#pooled.instance.gauge.halt('bytes')
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
      return { status: 'waiting', calls, logs, unhandledRejections, usage }
    case 'completed':
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

/**
 * The host's capabilities in the order of the guest's functions.
 * @throws CaissonError `checkpoint_refused` unless they are the same ones
 */
function sameCapabilities(
  captured: readonly GuestCapability[],
  granted: readonly GuestCapability[],
): readonly NumberedCapability[] {
  const index = new Map(granted.map(({ name, sync }, i) => [`${sync ? 'sync ' : ''}${name}`, i]))
  const numbered = captured.map((capability) => ({
    ...capability,
    index: index.get(`${capability.sync ? 'sync ' : ''}${capability.name}`) ?? -1,
  }))
  const missing = numbered.filter((one) => one.index < 0).map(({ name }) => name)
  const names = new Set(captured.map(({ name }) => name))
  const added = granted.filter(({ name }) => !names.has(name)).map(({ name }) => name)
  if (missing.length > 0 || added.length > 0) {
    throw new CaissonError(
      'checkpoint_refused',
      `The guest was captured with other grants.${missing.length > 0 ? ` Missing now: ${missing.join(', ')}.` : ''}${added.length > 0 ? ` Not there then: ${added.join(', ')}.` : ''}`,
      { details: { missing, added } },
    )
  }
  return numbered
}

/** What a guest gets for an answer that it cannot take. Everything else goes on up. */
function invalidResult(error: unknown): GuestFailure {
  if (!CaissonError.is(error) || error.code === 'corrupted') throw error
  return { code: 'invalid_result', message: error.message }
}

function publicCall({ id, capability, args, bytes, askedAtMs }: PendingCall): PendingCall {
  return { id, capability, args, bytes, askedAtMs }
}

function engineTrap(message: string): TurnEnd {
  const error: GuestError = {
    name: 'EngineTrap',
    code: 'engine_trap',
    message: `The engine stopped: ${message}`,
  }
  return { status: 'failed', error }
}
