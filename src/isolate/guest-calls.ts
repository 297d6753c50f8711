/**
 * The calls of a guest to the capabilities that it was granted: asked, pending, answered, and counted.
 *
 * Invariants
 * 1. The record of pending calls is the host's; the guest only holds promises.
 * 2. No guest code runs on behalf of the host's reading: arguments are read from the guest's heap.
 * 3. A guest pays for a call, and for its bytes in both directions, whatever comes of it.
 */
import { CaissonError } from '../base/errors.ts'
import type { Limits } from '../machine/limits.ts'
import { LOAD_MODULE, type ModuleRequest, parseModuleAnswer } from '../machine/module-graph.ts'
import {
  type Answer,
  type GuestCapability,
  type GuestFailure,
  type PendingCall,
  Refusal,
  type SyncCalls,
} from '../machine/turn.ts'
import type { SourcePlace } from '../program/source-place.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import type { GuestModules } from './guest-modules.ts'
import { CALL_FUEL, CALL_FUEL_PER_BYTE, chargeReading } from './host-fuel.ts'
import type { PooledInstance } from './instance-pool.ts'
import type { IsolateState, PendingRecord } from './isolate-state.ts'
import type { LogicalClock } from './logical-clock.ts'
import type { NumberedCapability } from './numbered-capabilities.ts'

/** The part of an isolate's state that is kept here. */
export type CallsState = Pick<IsolateState, 'calls' | 'bytesIn' | 'bytesOut' | 'capabilities' | 'pending'>

interface CallsParts {
  readonly pooled: PooledInstance
  readonly syncCalls: SyncCalls
  readonly limits: Limits
  /** In the order of the guest's functions. */
  readonly capabilities: readonly NumberedCapability[]
  readonly clock: LogicalClock
  /** They take what answers an import. */
  readonly modules: GuestModules
}

export class GuestCalls {
  /** Calls asked, sync ones included, and bytes moved over the bridge. */
  count = 0
  bytesIn = 0
  bytesOut = 0
  /** A place in the author's code as a frame of the engine's. */
  frameAt: (file: string, place: SourcePlace) => string = () => ''
  readonly #pooled: PooledInstance
  readonly #syncCalls: SyncCalls
  readonly #limits: Limits
  readonly #capabilities: readonly NumberedCapability[]
  readonly #clock: LogicalClock
  readonly #modules: GuestModules
  readonly #pending = new Map<number, PendingRecord>()
  #asked: PendingCall[] = []

  constructor({ pooled, syncCalls, limits, capabilities, clock, modules }: CallsParts) {
    this.#pooled = pooled
    this.#syncCalls = syncCalls
    this.#limits = limits
    this.#capabilities = capabilities
    this.#clock = clock
    this.#modules = modules
  }

  /** Takes up what a captured guest had asked and used up. */
  goOn({ calls, bytesIn, bytesOut, pending }: CallsState): void {
    this.count = calls
    this.bytesIn = bytesIn
    this.bytesOut = bytesOut
    for (const record of pending) this.#pending.set(record.id, record)
  }

  state(): CallsState {
    return {
      calls: this.count,
      bytesIn: this.bytesIn,
      bytesOut: this.bytesOut,
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

  get arePending(): boolean {
    return this.#pending.size > 0
  }

  beginTurn(): void {
    this.#asked = []
  }

  /** Calls asked in this turn. */
  get asked(): readonly PendingCall[] {
    return this.#asked
  }

  /** The guest has ended: nobody waits any more. */
  end(): void {
    this.#pending.clear()
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

  /**
   * Asks capability `number` with one argument at most, the first of `values`.
   * @returns a cell that the guest owns: a promise, or what a sync capability answers or throws; 0 for undefined, and
   *   where a limit stops the guest
   * @throws CaissonError `corrupted` for a number that none has
   */
  call(number: number, count: number, values: number): number {
    const capability = this.#capabilities[number]
    if (capability === undefined)
      throw new CaissonError('corrupted', `The guest called host function ${number}.`)
    const { gauge } = this.#pooled.instance
    this.count += 1
    if (this.count > this.#limits.calls) {
      gauge.halt('calls')
      return 0
    }
    if (count === 0) {
      gauge.charge(CALL_FUEL)
      return this.#ask(capability, undefined, 0)
    }
    const { reader } = this.#pooled
    let args: unknown
    try {
      args = reader.read(values, DEFAULT_VALUE_LIMITS, capability.name)
    } catch (error) {
      chargeReading(gauge, reader.lastWork)
      if (!CaissonError.is(error) || error.code === 'corrupted') throw error
      return this.#refuse(capability, { code: error.code, message: error.message, name: 'TypeError' })
    }
    const bytes = reader.lastBytes
    chargeReading(gauge, reader.lastWork)
    this.bytesOut += bytes
    if (this.bytesOut > this.#limits.bytesOut) {
      gauge.halt('bytes')
      return 0
    }
    return this.#ask(capability, args, bytes)
  }

  #ask(capability: NumberedCapability, args: unknown, bytes: number): number {
    if (capability.sync) return this.#callNow(capability, args, bytes)
    const { promise, resolve, reject } = this.#pooled.newPromise()
    const record: PendingRecord = {
      id: this.count,
      capability: capability.name,
      args,
      bytes,
      askedAtMs: this.#clock.peek(),
      resolve,
      reject,
    }
    this.#pending.set(record.id, record)
    this.#asked.push(publicCall(record))
    return promise
  }

  #callNow({ index, name }: NumberedCapability, args: unknown, bytes: number): number {
    const { instance, writer } = this.#pooled
    // The deadline passed while the arguments were read: nothing leaves the guest any more.
    if (instance.gauge.stopReason !== undefined) return 0
    const reply = this.#syncCalls.call(index, args, bytes)
    instance.gauge.hostWorked()
    if (reply instanceof Refusal) return this.#pooled.throwFailure(reply.failure)
    if (reply === undefined) return 0
    let cell: number
    try {
      cell = writer.write(reply, DEFAULT_VALUE_LIMITS, name)
    } catch (error) {
      return this.#pooled.throwFailure(invalidResult(error))
    }
    this.receive(writer.lastBytes)
    instance.gauge.charge(writer.lastBytes * CALL_FUEL_PER_BYTE)
    return cell
  }

  /** A refusal of the bridge itself: awaited capabilities reject, sync ones throw. */
  #refuse(capability: GuestCapability, failure: GuestFailure): number {
    if (capability.sync) return this.#pooled.throwFailure(failure)
    const { promise, resolve, reject } = this.#pooled.newPromise()
    const error = this.#pooled.writer.writeFailure(failure)
    this.#pooled.callAndFree(reject, error)
    this.#pooled.free(error, resolve, reject)
    return promise
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

  /** Takes the modules that answer an import. Counted as what enters the guest. */
  #takeModules({ args }: PendingRecord, value: unknown): void {
    const { name, files } = parseModuleAnswer(value)
    const { specifier, referrer } = args as ModuleRequest
    this.#modules.hand(String(specifier), String(referrer), name, files)
    this.receive(files.reduce((sum, { code }) => sum + code.length, 0))
  }

  /** With its place, where the host knows it: the engine writes none where a program awaits an import. */
  #importFailure(failure: GuestFailure): GuestFailure {
    const { file, line, column } = failure.details ?? {}
    const isPlace = typeof file === 'string' && typeof line === 'number' && typeof column === 'number'
    return { ...failure, frames: isPlace ? this.frameAt(file, { line, column }) : '' }
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
