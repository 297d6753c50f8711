/**
 * Whom the engine of a guest calls: hands on what goes to capabilities and to the standard library, and answers the
 * rest, which is the console, time, randomness, modules and promises that nobody handles.
 *
 * Invariants
 * 1. No guest code runs on behalf of the host's reading: log lines and errors are read from the guest's heap.
 * 2. What the host does for a guest costs that guest fuel.
 */
import { CaissonError } from '../base/errors.ts'
import type { Limits } from '../machine/limits.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type {
  GuestCapability,
  GuestError,
  LogEntry,
  LogLevel,
  MachineStart,
  SyncCalls,
} from '../machine/turn.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import { ConsoleLog } from './console-log.ts'
import type { InstanceHandlers } from './engine-instance.ts'
import { GuestCalls } from './guest-calls.ts'
import { GuestModules } from './guest-modules.ts'
import { evaluateTrusted } from './guest-runtime.ts'
import { CALL_FUEL, CALL_FUEL_PER_BYTE, chargeReading } from './host-fuel.ts'
import { FIRST_CAPABILITY, HOST_FUNCTIONS } from './host-functions.ts'
import type { PooledInstance } from './instance-pool.ts'
import type { IsolateState } from './isolate-state.ts'
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
  readonly calls: GuestCalls
  /** Timers armed, each repetition of an interval included. */
  timers = 0
  readonly modules: GuestModules
  readonly #pooled: PooledInstance
  readonly #limits: Limits
  readonly #log: ConsoleLog
  #library: LibraryServices | undefined
  readonly #rejections = new Rejections()
  #random: Randomness
  /** Positions of an error in terms of the author's source. */
  locate: (error: GuestError) => GuestError = (error) => error
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
    services.calls.goOn(state)
    services.timers = state.timers
    return services
  }

  state(): ServicesState {
    return {
      clock: this.clock.state(),
      random: this.#randomState(),
      log: this.#log.state(),
      timers: this.timers,
      ...this.calls.state(),
    }
  }

  get logsDropped(): number {
    return this.#log.dropped
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

  private constructor(
    pooled: PooledInstance,
    syncCalls: SyncCalls,
    { limits, capabilities, log, clock, random }: ServicesParts,
  ) {
    this.#pooled = pooled
    this.#limits = limits
    this.modules = new GuestModules(capabilities.some(({ name }) => name === LOAD_MODULE))
    this.calls = new GuestCalls({ pooled, syncCalls, limits, capabilities, clock, modules: this.modules })
    this.#log = log
    this.clock = clock
    this.#random = random
  }

  call(fn: number, count: number, values: number): number {
    if (fn >= FIRST_CAPABILITY) return this.calls.call(fn - FIRST_CAPABILITY, count, values)
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
      this.#chargeReading()
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

  /** @param more bytes that were made of what was read */
  #chargeReading(more = 0): void {
    const { instance, reader } = this.#pooled
    chargeReading(instance.gauge, reader.lastWork + more)
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
      this.#pooled.free(this.#pooled.throwFailure(loaded.failure))
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

  readClock(): number {
    return this.clock.read()
  }

  promiseRejection(promise: bigint, reason: bigint, handled: number): void {
    const address = Number(BigInt.asUintN(32, promise))
    if (handled !== 0) this.#rejections.handled(address)
    else {
      this.#rejections.rejected(address, BigInt.asUintN(64, reason), () => {
        const error = this.#pooled.reader.readErrorBits(reason)
        this.#chargeReading()
        return this.locate(error)
      })
    }
  }
}
