/**
 * The capabilities of a module: an import `namespace` `name` is the capability `namespace.name`.
 *
 *     int32_t name(const char *args, size_t args_length, char *answer, size_t room);
 *
 * Arguments and answers are JSON in UTF-8 (tagged where JSON cannot carry a value); no bytes stand for `undefined`.
 * The result is the length of the answer; below zero it is that of a failure, `{"code", "message"}`, negated. What does
 * not fit into `room` is not written, and can be fetched once more from `caisson_calls` `answer(buffer, room)`, which
 * gives the same result.
 *
 * Invariants
 * 1. The record of the pending call is the host's; a guest waits for one at most.
 * 2. Every call is paid for and counted before anything is made of it.
 * 3. Nothing of the guest's memory is written outside of the room that it gave.
 */

import { CaissonError } from '../../base/errors.ts'
import type { Answer, GuestCapability, PendingCall, SyncCalls } from '../../capability/call.ts'
import { Refusal } from '../../capability/call.ts'
import type { FuelGauge } from '../../machine/fuel-gauge.ts'
import type { Limits } from '../../machine/limits.ts'
import { measureValue } from '../../values/copy-value.ts'
import { SUSPEND } from '../core/core-guest.ts'
import { isInside, readJson, writeFailure, writeJson } from './guest-text.ts'

/** As of other guests. */
const CALL_FUEL = 2_000
const CALL_FUEL_PER_BYTE = 8

/** The namespace of `answer`. */
export const CALLS_NAMESPACE = 'caisson_calls'

export interface ModuleCallsState {
  readonly count: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly pending: PendingCall | null
  /** The last answer, where it did not fit; `failed` for that of a failure. */
  readonly kept: { readonly bytes: Uint8Array; readonly failed: boolean } | null
}

interface ModuleCallsParts {
  readonly syncCalls: SyncCalls
  readonly limits: Limits
  readonly gauge: () => FuelGauge
  readonly memory: () => WebAssembly.Memory | undefined
  /** Logical time, milliseconds since the epoch. */
  readonly nowMs: () => number
}

/** Where an answer goes. */
interface Room {
  readonly at: number
  readonly bytes: number
}

export class ModuleCalls {
  readonly #parts: ModuleCallsParts
  #count = 0
  #pending: PendingCall | undefined
  #asked: readonly PendingCall[] = []
  #kept: ModuleCallsState['kept'] = null
  bytesIn = 0
  bytesOut = 0

  constructor(parts: ModuleCallsParts) {
    this.#parts = parts
  }

  get count(): number {
    return this.#count
  }

  get pending(): readonly PendingCall[] {
    return this.#pending === undefined ? [] : [this.#pending]
  }

  /** Calls that were asked since this was taken last. */
  takeAsked(): readonly PendingCall[] {
    const asked = this.#asked
    this.#asked = []
    return asked
  }

  state(): ModuleCallsState {
    const { bytesIn, bytesOut } = this
    return { count: this.#count, bytesIn, bytesOut, pending: this.#pending ?? null, kept: this.#kept }
  }

  /** @throws CaissonError `corrupted` */
  restore(given: unknown): void {
    const state = given as Partial<ModuleCallsState> | null | undefined
    const { count, bytesIn, bytesOut, pending, kept } = state ?? {}
    const areCounts = [count, bytesIn, bytesOut].every((n) => Number.isSafeInteger(n) && (n as number) >= 0)
    if (!areCounts || !isPending(pending) || !isKept(kept)) {
      throw new CaissonError('corrupted', 'The calls of a captured module contradict themselves.')
    }
    this.#count = count as number
    this.bytesIn = bytesIn as number
    this.bytesOut = bytesOut as number
    this.#pending = pending ?? undefined
    this.#kept = kept ?? null
  }

  /** Bytes that enter the guest. */
  receive(bytes: number): void {
    this.bytesIn += bytes
    if (this.bytesIn > this.#parts.limits.bytesIn) this.#parts.gauge().halt('bytes')
  }

  /**
   * The import of a capability.
   * @param index its number for `SyncCalls`
   * @param suspends whether the guest can wait in it
   * @returns the result of the import, or `SUSPEND`
   */
  call(
    { name, sync }: GuestCapability,
    index: number,
    suspends: boolean,
    [at, length, answerAt, room]: readonly number[],
  ): number | typeof SUSPEND {
    const to = { at: (answerAt as number) >>> 0, bytes: (room as number) >>> 0 }
    const gauge = this.#parts.gauge()
    gauge.charge(CALL_FUEL + ((length as number) >>> 0) * CALL_FUEL_PER_BYTE)
    this.#count += 1
    if (this.#count > this.#parts.limits.calls) {
      gauge.halt('calls')
      return 0
    }
    let asked: { readonly args: unknown; readonly bytes: number }
    try {
      asked = this.#read((at as number) >>> 0, (length as number) >>> 0)
    } catch (error) {
      if (!CaissonError.is(error)) throw error
      return this.#fail(to, error.code, error.message)
    }
    this.bytesOut += asked.bytes
    if (this.bytesOut > this.#parts.limits.bytesOut) {
      gauge.halt('bytes')
      return 0
    }
    if (sync) {
      const value = this.#parts.syncCalls.call(index, asked.args, asked.bytes)
      if (value instanceof Refusal) return this.#fail(to, value.failure.code, value.failure.message)
      return this.#succeed(to, value)
    }
    if (!suspends) {
      return this.#fail(
        to,
        'unsupported',
        'The module was not made suspendable: it cannot wait for an answer.',
      )
    }
    this.#pending = { id: this.#count, capability: name, ...asked, askedAtMs: this.#parts.nowMs() }
    this.#asked = [this.#pending]
    return SUSPEND
  }

  /** The import `answer`: the last one, where it did not fit. */
  fetch([at, room]: readonly number[]): number {
    if (this.#kept === null) return 0
    const { bytes, failed } = this.#kept
    return this.#put({ at: (at as number) >>> 0, bytes: (room as number) >>> 0 }, bytes, failed)
  }

  /** @throws CaissonError `unknown_call` unless every answer is for the pending call, once */
  checkAnswers(answers: readonly Answer[]): void {
    for (const [at, { id }] of answers.entries()) {
      if (at === 0 && id === this.#pending?.id) continue
      throw new CaissonError('unknown_call', `No call ${id} is pending; it may have been settled before.`, {
        details: { id },
      })
    }
  }

  /** Writes the answer to the pending call, which was called with these numbers. @returns the import's result */
  deliver(answer: Answer, args: readonly unknown[]): number {
    this.#pending = undefined
    const to = { at: Number(args[2]) >>> 0, bytes: Number(args[3]) >>> 0 }
    return answer.ok
      ? this.#succeed(to, answer.value)
      : this.#fail(to, answer.error.code, answer.error.message)
  }

  /** Nobody waits any more. */
  end(): void {
    this.#pending = undefined
    this.#asked = []
  }

  #read(at: number, length: number): { readonly args: unknown; readonly bytes: number } {
    const memory = this.#parts.memory()
    if (memory === undefined || !isInside(memory, at, length)) {
      throw new CaissonError('invalid_arguments', 'The arguments lie outside of the memory.')
    }
    const args = readJson(new Uint8Array(memory.buffer, at, length).slice())
    return { args, bytes: args === undefined ? 0 : measureValue(args).bytes }
  }

  #succeed(to: Room, value: unknown): number {
    return this.#put(to, writeJson(value), false)
  }

  #fail(to: Room, code: string, message: string): number {
    return this.#put(to, writeFailure({ code, message }), true)
  }

  #put({ at, bytes: room }: Room, answer: Uint8Array, failed: boolean): number {
    const memory = this.#parts.memory()
    this.#parts.gauge().charge(answer.length * CALL_FUEL_PER_BYTE)
    const fits = memory !== undefined && answer.length <= room && isInside(memory, at, answer.length)
    if (fits) {
      this.receive(answer.length)
      new Uint8Array(memory.buffer).set(answer, at)
    }
    this.#kept = fits ? null : { bytes: answer, failed }
    return failed ? -answer.length : answer.length
  }
}

function isPending(given: unknown): given is PendingCall | null {
  if (given === null) return true
  const call = given as Partial<PendingCall> | undefined
  return (
    typeof call === 'object' &&
    Number.isSafeInteger(call.id) &&
    typeof call.capability === 'string' &&
    Number.isSafeInteger(call.bytes) &&
    typeof call.askedAtMs === 'number'
  )
}

function isKept(given: unknown): given is ModuleCallsState['kept'] {
  if (given === null) return true
  const kept = given as { bytes?: unknown; failed?: unknown } | undefined
  return typeof kept === 'object' && kept.bytes instanceof Uint8Array && typeof kept.failed === 'boolean'
}
