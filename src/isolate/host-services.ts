/**
 * Everything that a guest can ask of its host while it runs, and what it is given: capabilities, the console, time and
 * randomness, with the books that go with them.
 *
 * Invariants
 * 1. No guest code runs on behalf of the host's reading: arguments and log lines are read from the guest's heap.
 * 2. The record of pending calls is the host's; the guest only holds promises.
 * 3. What the host does for a guest costs that guest fuel.
 */
import { CaissonError } from '../base/errors.ts'
import type { Limits } from '../machine/limits.ts'
import { LOAD_MODULE, type ModuleRequest, parseModuleAnswer } from '../machine/module-graph.ts'
import {
  type Answer,
  type GuestCapability,
  type GuestError,
  type GuestFailure,
  type LogEntry,
  type LogLevel,
  type MachineStart,
  type PendingCall,
  Refusal,
  type SyncCalls,
} from '../machine/turn.ts'
import type { SourcePlace } from '../program/source-place.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import { ConsoleLog } from './console-log.ts'
import type { InstanceHandlers } from './engine-instance.ts'
import { GuestModules } from './guest-modules.ts'
import { evaluateTrusted } from './guest-runtime.ts'
import { CALL_FUEL, CALL_FUEL_PER_BYTE } from './host-fuel.ts'
import { FIRST_CAPABILITY, HOST_FUNCTIONS } from './host-functions.ts'
import type { PooledInstance } from './instance-pool.ts'
import type { IsolateState, PendingRecord } from './isolate-state.ts'
import { LibraryServices } from './library-services.ts'
import { LogicalClock } from './logical-clock.ts'
import { type NumberedCapability, sameCapabilities } from './numbered-capabilities.ts'
import { checkRandomState, type RandomState, RandomStreams } from './randomness.ts'
import { Rejections } from './rejections.ts'

/** Fuel for the host's part of arming a timer. */
const TIMER_FUEL = 500

const LEVELS: Readonly<Record<number, LogLevel>> = {
  [HOST_FUNCTIONS.debug]: 'debug',
  [HOST_FUNCTIONS.log]: 'log',
  [HOST_FUNCTIONS.info]: 'info',
  [HOST_FUNCTIONS.warn]: 'warn',
  [HOST_FUNCTIONS.error]: 'error',
}

/** The part of an isolate's state that is kept here. */
export type ServicesState = Omit<IsolateState, 'version' | 'program' | 'fuel' | 'wakeAtMs' | 'atEnd'>

/** The streams, or what they are made of on first use: a seed, or the state of a guest that goes on. */
type Randomness = RandomStreams | RandomState | Uint8Array

interface ServicesParts {
  readonly limits: Limits
  readonly capabilities: readonly NumberedCapability[]
  readonly log: ConsoleLog
  readonly clock: LogicalClock
  /** The streams, or what they are made of on first use: most programs never ask. */
  readonly random: Randomness
}

export class HostServices implements InstanceHandlers {
  readonly clock: LogicalClock
  /** Calls asked, sync ones included, and bytes moved over the bridge. */
  calls = 0
  bytesIn = 0
  bytesOut = 0
  /** Timers armed, each repetition of an interval included. */
  timers = 0
  readonly modules: GuestModules
  readonly #pooled: PooledInstance
  readonly #syncCalls: SyncCalls
  readonly #limits: Limits
  readonly #capabilities: readonly NumberedCapability[]
  readonly #log: ConsoleLog
  #library: LibraryServices | undefined
  readonly #rejections = new Rejections()
  readonly #pending = new Map<number, PendingRecord>()
  #random: Randomness
  #asked: PendingCall[] = []
  /** Positions of an error in terms of the author's source. */
  locate: (error: GuestError) => GuestError = (error) => error
  /** A place in the author's code as a frame of the engine's. */
  frameAt: (file: string, place: SourcePlace) => string = () => ''
  /** A stack as its author is shown it: frames of ours left out, places of the source. */
  readonly shownStack = (stack: string): string =>
    this.locate({ name: 'Error', message: '', stack }).stack ?? ''

  /**
   * The services of a new program.
   * @param start `seed` is kept, and not changed
   * @param before of the guest that it begins in, if that is none of its own. What it used up is not counted again
   * @throws CaissonError `checkpoint_refused` under other capabilities than before
   */
  static start(
    pooled: PooledInstance,
    syncCalls: SyncCalls,
    { limits, capabilities, seed, nowMs }: MachineStart,
    before?: ServicesState,
  ): HostServices {
    const log = new ConsoleLog(limits.logBytes)
    if (before === undefined) {
      const numbered = capabilities.map((capability, index) => ({ ...capability, index }))
      const clock = new LogicalClock(nowMs)
      return new HostServices(pooled, syncCalls, { limits, capabilities: numbered, log, clock, random: seed })
    }
    const clock = LogicalClock.fromState(before.clock)
    clock.advance(nowMs)
    const services = new HostServices(pooled, syncCalls, {
      limits,
      capabilities: sameCapabilities(before.capabilities, capabilities),
      log,
      clock,
      random: RandomStreams.fromState(before.random),
    })
    // Whether the prelude has timers is asked only of guests that set one.
    services.timers = Math.min(before.timers, 1)
    return services
  }

  /** The services of a captured guest. @throws CaissonError `checkpoint_refused` under other capabilities */
  static fromState(
    pooled: PooledInstance,
    syncCalls: SyncCalls,
    state: ServicesState,
    granted: readonly GuestCapability[],
    limits: Limits,
  ): HostServices {
    const capabilities = sameCapabilities(state.capabilities, granted)
    checkRandomState(state.random)
    const services = new HostServices(pooled, syncCalls, {
      limits,
      capabilities,
      log: new ConsoleLog(limits.logBytes, state.log),
      clock: LogicalClock.fromState(state.clock),
      random: state.random,
    })
    services.calls = state.calls
    services.bytesIn = state.bytesIn
    services.bytesOut = state.bytesOut
    services.timers = state.timers
    for (const record of state.pending) services.#pending.set(record.id, record)
    return services
  }

  state(): ServicesState {
    return {
      clock: this.clock.state(),
      random: this.#randomState(),
      log: this.#log.state(),
      calls: this.calls,
      bytesIn: this.bytesIn,
      bytesOut: this.bytesOut,
      timers: this.timers,
      capabilities: this.#capabilities.map(({ name, sync }) => ({ name, sync })),
      pending: [...this.#pending.values()],
    }
  }

  /** Calls that were asked and not settled yet. */
  get pending(): readonly PendingCall[] {
    return Array.from(this.#pending.values(), publicCall)
  }

  get pendingIds(): Iterable<number> {
    return this.#pending.keys()
  }

  get waitsForCalls(): boolean {
    return this.#pending.size > 0
  }

  get logsDropped(): number {
    return this.#log.dropped
  }

  /** @throws CaissonError `unknown_call` unless every answer is for another pending call */
  checkAnswers(answers: readonly Answer[]): void {
    const seen = new Set<number>()
    for (const { id } of answers) {
      if (!this.#pending.has(id)) {
        throw new CaissonError('unknown_call', `No call ${id} is pending; it may have been settled before.`, {
          details: { id },
        })
      }
      if (seen.has(id)) throw new CaissonError('unknown_call', 'The same call is settled twice in one turn.')
      seen.add(id)
    }
  }

  beginTurn(): void {
    this.#asked = []
  }

  /** Calls asked in this turn. */
  get asked(): readonly PendingCall[] {
    return this.#asked
  }

  takeLogs(): readonly LogEntry[] {
    return this.#log.take()
  }

  /**
   * @param own promises that stand for the program itself
   * @param endReason what its modules were rejected with, if that is its end
   */
  takeRejections(own: readonly number[], endReason?: bigint): readonly GuestError[] {
    return this.#rejections.take(own, endReason)
  }

  /** The guest has ended: nobody waits any more. */
  end(): void {
    this.#pending.clear()
  }

  private constructor(
    pooled: PooledInstance,
    syncCalls: SyncCalls,
    { limits, capabilities, log, clock, random }: ServicesParts,
  ) {
    this.#pooled = pooled
    this.#syncCalls = syncCalls
    this.#limits = limits
    this.#capabilities = capabilities
    this.modules = new GuestModules(capabilities.some(({ name }) => name === LOAD_MODULE))
    this.#log = log
    this.clock = clock
    this.#random = random
  }

  call(fn: number, count: number, values: number): number {
    if (fn >= FIRST_CAPABILITY) return this.#calledCapability(fn - FIRST_CAPABILITY, count, values)
    if (fn === HOST_FUNCTIONS.random) {
      return this.#pooled.writer.writeNumber(this.#randomness().mathRandom())
    }
    if (fn === HOST_FUNCTIONS.armTimer) return this.#armTimer()
    if (fn === HOST_FUNCTIONS.report) return this.#report(values)
    if (fn === HOST_FUNCTIONS.load) return this.#loadUnit(values)
    if (fn === HOST_FUNCTIONS.importFailed) return this.#importFailed(values)
    const level = LEVELS[fn]
    if (level === undefined) return this.#standardLibrary().call(fn, count, values)
    if (!this.#log.hasRoom) this.#log.drop()
    else {
      const text = this.#pooled.reader.inspectAll(values, count, this.shownStack)
      this.#chargeReading(text.length)
      this.#log.write(level, text, this.clock.peek())
    }
    return 0
  }

  /** A part of the prelude that the guest touches for the first time: a cell of what its source is. */
  #loadUnit(nameCell: number): number {
    const { instance, guest, reader } = this.#pooled
    const name = reader.read(nameCell, DEFAULT_VALUE_LIMITS, 'unit') as string
    const { units } = instance.engine.guest
    const source = Object.hasOwn(units, name) ? units[name] : undefined
    if (source === undefined) throw new CaissonError('corrupted', 'The prelude has no such unit.')
    return evaluateTrusted(instance, guest.context, source, name)
  }

  /** Counts a timer; a cell of the time at which it is armed. */
  #armTimer(): number {
    const { instance, writer } = this.#pooled
    this.timers += 1
    if (this.timers > this.#limits.timers) {
      instance.gauge.halt('timers')
      return 0
    }
    instance.gauge.charge(TIMER_FUEL)
    return writer.writeNumber(this.clock.microseconds)
  }

  /** Takes an error that the guest's own code cannot catch any more. */
  #report(error: number): number {
    this.#rejections.uncaught(() => {
      const read = this.#pooled.reader.readError(error)
      this.#chargeReading(0)
      return this.locate(read)
    })
    return 0
  }

  /** Made on first use: most programs never ask. */
  #standardLibrary(): LibraryServices {
    this.#library ??= new LibraryServices({
      pooled: this.#pooled,
      clock: this.clock,
      log: this.#log,
      random: () => this.#randomness(),
      shownStack: this.shownStack,
    })
    return this.#library
  }

  #randomness(): RandomStreams {
    if (this.#random instanceof Uint8Array) this.#random = new RandomStreams(this.#random)
    else if (!(this.#random instanceof RandomStreams)) this.#random = RandomStreams.fromState(this.#random)
    return this.#random
  }

  /** What nobody has used since it was written stays as it is. */
  #randomState(): RandomState {
    if (this.#random instanceof RandomStreams) return this.#random.state()
    if (this.#random instanceof Uint8Array) this.#random = new RandomStreams(this.#random).state()
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
    this.calls += 1
    if (this.calls > limits.calls) {
      instance.gauge.halt('calls')
      return 0
    }
    let args: unknown
    let bytes = 0
    if (count > 0) {
      try {
        args = reader.read(values, DEFAULT_VALUE_LIMITS, capability.name)
        bytes = reader.lastBytes
      } catch (error) {
        this.#chargeReading(0)
        if (!CaissonError.is(error) || error.code === 'corrupted') throw error
        return this.#refuse(capability, { code: error.code, message: error.message, name: 'TypeError' })
      }
      this.#chargeReading(0)
      this.bytesOut += bytes
      if (this.bytesOut > limits.bytesOut) {
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
      this.receive(writer.lastBytes)
      instance.gauge.charge(writer.lastBytes * CALL_FUEL_PER_BYTE)
      return cell
    }
    const id = this.calls
    const promise = this.#pooled.newPromise()
    const record: PendingRecord = {
      id,
      capability: capability.name,
      args,
      bytes,
      askedAtMs: this.clock.peek(),
      resolve: promise.resolve,
      reject: promise.reject,
    }
    this.#pending.set(id, record)
    this.#asked.push(publicCall(record))
    return promise.promise
  }

  normalizeModule(referrer: string, specifier: string): number {
    const { instance } = this.#pooled
    instance.gauge.charge(CALL_FUEL)
    return instance.allocateText(this.modules.normalize(referrer, specifier)).pointer
  }

  loadModule(name: string): number {
    const { instance } = this.#pooled
    const loaded = this.modules.load(name)
    if ('failure' in loaded) {
      instance.gauge.charge(CALL_FUEL + loaded.searched * CALL_FUEL_PER_BYTE)
      this.#pooled.free(this.#throwInGuest(loaded.failure))
      return 0
    }
    instance.gauge.charge(CALL_FUEL + loaded.code.length * CALL_FUEL_PER_BYTE)
    const { pointer } = instance.allocateText(loaded.code)
    instance.gauge.hostWorked()
    return pointer
  }

  /** The engine rejects a promise of its own beside that of the import. */
  #importFailed(error: number): number {
    this.#rejections.forget(this.#pooled.bitsOf(error))
    return 0
  }

  /** With its place, where the host knows it: the engine writes none where a program awaits an import. */
  #importFailure(failure: GuestFailure): GuestFailure {
    const { file, line, column } = failure.details ?? {}
    const isPlace = typeof file === 'string' && typeof line === 'number' && typeof column === 'number'
    return { ...failure, frames: isPlace ? this.frameAt(file, { line, column }) : '' }
  }

  /** Takes the modules that answer an import. Counted as what enters the guest. */
  #takeModules({ args }: PendingRecord, value: unknown): void {
    const { name, files } = parseModuleAnswer(value)
    const { specifier, referrer } = args as ModuleRequest
    this.modules.hand(String(specifier), String(referrer), name, files)
    this.receive(files.reduce((sum, { code }) => sum + code.length, 0))
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

  readClock(): number {
    return this.clock.read()
  }

  promiseRejection(promise: bigint, reason: bigint, handled: number): void {
    const address = Number(BigInt.asUintN(32, promise))
    if (handled !== 0) this.#rejections.handled(address)
    else {
      this.#rejections.rejected(address, BigInt.asUintN(64, reason), () => {
        const error = this.#pooled.reader.readErrorBits(reason)
        this.#chargeReading(0)
        return this.locate(error)
      })
    }
  }

  /** Gives the guest the answer to a call that is pending. */
  deliver(answer: Answer): void {
    const record = this.#pending.get(answer.id) as PendingRecord
    const { instance, writer } = this.#pooled
    this.#pending.delete(record.id)
    let cell: number
    let settle = record.resolve
    if (answer.ok) {
      try {
        let { value } = answer
        if (record.capability === LOAD_MODULE) value = this.#takeModules(record, value)
        cell = writer.write(value, DEFAULT_VALUE_LIMITS, record.capability)
      } catch (error) {
        settle = record.reject
        cell = writer.writeFailure(invalidResult(error))
      }
    } else {
      settle = record.reject
      const isImport = record.capability === LOAD_MODULE
      cell = writer.writeFailure(isImport ? this.#importFailure(answer.error) : answer.error)
    }
    this.receive(writer.lastBytes)
    instance.gauge.charge(CALL_FUEL + writer.lastBytes * CALL_FUEL_PER_BYTE)
    this.#pooled.callAndFree(settle, cell)
    this.#pooled.free(cell, record.resolve, record.reject)
  }

  /** Counts bytes that enter the guest. */
  receive(bytes: number): void {
    this.bytesIn += bytes
    if (this.bytesIn > this.#limits.bytesIn) this.#pooled.instance.gauge.halt('bytes')
  }
}

/** What a guest gets for an answer that it cannot take. Everything else goes on up. */
function invalidResult(error: unknown): GuestFailure {
  if (!CaissonError.is(error) || error.code === 'corrupted') throw error
  return { code: 'invalid_result', message: error.message }
}

function publicCall({ id, capability, args, bytes, askedAtMs }: PendingCall): PendingCall {
  return { id, capability, args, bytes, askedAtMs }
}
