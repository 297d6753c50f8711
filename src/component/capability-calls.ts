/**
 * The granted capabilities of a component, behind its imports: calls go through the gate that every guest has.
 *
 * An import `NS:PACKAGE/prices` `lookup` is the capability `prices.lookup` (`wit-names.ts`); `$root` and `globals` hold
 * those without a namespace. Sync capabilities answer inside of the turn; for the others the guest is suspended.
 *
 * Invariants
 * 1. Every call is paid for and counted before anything is made of it.
 * 2. The record of pending calls is the host's. A component waits in one import at most; requests (of HTTP) may be under
 *    way beside it, and are answered in any order.
 * 3. Ids count through the life of the component, captures included: none is given twice.
 */
import { CaissonError } from '../base/errors.ts'
import type { Answer, GuestCapability, GuestFailure, PendingCall, SyncCalls } from '../capability/call.ts'
import { Refusal } from '../capability/call.ts'
import type { JsonSchema } from '../capability/json-schema.ts'
import { exhausted } from '../machine/exhausted.ts'
import type { Limits } from '../machine/limits.ts'
import { measureValue } from '../values/copy-value.ts'
import type { FunctionType } from './abi/wit-type.ts'
import { type BoundCapability, CapabilityPlaces, checkCapabilityType } from './capability-places.ts'
import { CapabilityRequests } from './capability-requests.ts'
import type { ComponentImports, ImportCall } from './component-imports.ts'
import { GuestStop } from './component-outcome.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { GuestControl } from './guest-control.ts'
import { SUSPENDED } from './link/component-function.ts'
import { failureWriter } from './wit-failure.ts'
import { inputOf, witOf } from './wit-value.ts'

/** As of other guests. */
const CALL_FUEL = 2_000
const CALL_FUEL_PER_BYTE = 8
/** Requests that are under way, or answered and not dropped, at once. */
const MOST_REQUESTS = 64

/** JSON Schemas of a capability, where it has some: they say how its properties are written. */
export interface CapabilitySchemas {
  readonly input?: JsonSchema | undefined
  readonly output?: JsonSchema | undefined
}

export interface CapabilityCallsParts {
  /** In the order of indexes for `syncCalls`. */
  readonly capabilities: readonly GuestCapability[]
  readonly schemas: (capability: string) => CapabilitySchemas
  readonly syncCalls: SyncCalls
  readonly limits: Limits
  readonly control: GuestControl
  /** Logical time, milliseconds since the epoch. */
  readonly nowMs: () => number
}

export interface CapabilityCallsState {
  readonly count: number
  readonly bytesIn: number
  readonly bytesOut: number
  readonly pending: PendingCall | null
}

export class CapabilityCalls implements ComponentImports {
  readonly #parts: CapabilityCallsParts
  readonly #places: CapabilityPlaces
  /** Makes an import's result of an answer, by the place of the import. */
  readonly #answerers = new Map<string, (answer: Answer) => unknown>()
  #count = 0
  /** Of the import that waits. */
  #pending: PendingCall | undefined
  readonly #requests = new CapabilityRequests()
  #lastFailure: GuestFailure | undefined
  #asked: readonly PendingCall[] = []
  #bytesIn = 0
  #bytesOut = 0

  constructor(parts: CapabilityCallsParts) {
    this.#parts = parts
    this.#places = new CapabilityPlaces(parts.capabilities)
  }

  /** Calls so far, of all calls of exports. */
  get count(): number {
    return this.#count
  }

  /** Since the call of an export began. */
  get bytesIn(): number {
    return this.#bytesIn
  }

  get bytesOut(): number {
    return this.#bytesOut
  }

  get pending(): readonly PendingCall[] {
    return [...this.#requests.pending, ...(this.#pending === undefined ? [] : [this.#pending])]
  }

  /** What the guest was told last of a call that failed, since the call of an export began. */
  get lastFailure(): GuestFailure | undefined {
    return this.#lastFailure
  }

  /** Whether an import is answered later. */
  isAwaited(wanted: Pick<ImportedFunction, 'interface' | 'name'>): boolean {
    return this.#places.isAwaited(wanted)
  }

  takeAsked(): readonly PendingCall[] {
    const asked = this.#asked
    this.#asked = []
    return asked
  }

  /** Before the call of an export. @param bytesIn that the guest has by then */
  begin(bytesIn = 0): void {
    this.#bytesIn = bytesIn
    this.#bytesOut = 0
    this.#lastFailure = undefined
  }

  /** @throws CaissonError `unsupported` while requests are under way, with `details.passes`: it is none for ever */
  state(): CapabilityCallsState {
    if (this.#requests.size > 0)
      throw new CaissonError(
        'unsupported',
        'The component cannot be captured: it has a request of HTTP under way.',
        { details: { obstacle: 'http', passes: true } },
      )
    return {
      count: this.#count,
      bytesIn: this.#bytesIn,
      bytesOut: this.#bytesOut,
      pending: this.#pending ?? null,
    }
  }

  /** @throws CaissonError `corrupted` */
  restore(given: unknown): void {
    const { count, bytesIn, bytesOut, pending } = (given ?? {}) as Partial<CapabilityCallsState>
    const counts = [count, bytesIn, bytesOut]
    if (!counts.every((n) => Number.isSafeInteger(n) && (n as number) >= 0) || !isPending(pending))
      throw new CaissonError('corrupted', 'The calls of a captured component contradict themselves.')
    this.#count = count as number
    this.#bytesIn = bytesIn as number
    this.#bytesOut = bytesOut as number
    this.#pending = pending ?? undefined
  }

  func(from: string, name: string, type: FunctionType): ImportCall | undefined {
    const bound = this.#places.find({ interface: from, name })
    if (bound === undefined) return undefined
    checkCapabilityType(bound.capability.name, type)
    const { input, output } = this.#parts.schemas(bound.capability.name)
    const succeed = this.#success(type, output)
    const writeFailure = failureWriter(type)
    const fail = (failure: GuestFailure): unknown => {
      this.#lastFailure = failure
      if (writeFailure !== undefined) return writeFailure(failure)
      throw new RefusedCall(failure)
    }
    const answered = (answer: Answer): unknown => (answer.ok ? succeed(answer.value) : fail(answer.error))
    this.#answerers.set(`${from}#${name}`, answered)
    return (args) => {
      let value: unknown
      let bytes = 0
      this.#pay()
      try {
        value = inputOf(type.params, args, input)
        bytes = value === undefined ? 0 : measureValue(value).bytes
      } catch (error) {
        if (!CaissonError.is(error)) throw error
        return fail({ code: error.code, message: error.message })
      }
      return this.#call(bound, value, bytes, answered)
    }
  }

  dropResource(): void {}

  /**
   * The result of the import that waits, once its answer is there; undefined as long as it is not.
   * @throws CaissonError `unknown_call` unless every answer is for a pending call, once
   */
  deliver(answers: readonly Answer[], from: string, name: string): (() => unknown) | undefined {
    const open = new Set(this.pending.map(({ id }) => id))
    const wrong = answers.find(({ id }) => !open.delete(id))
    if (wrong !== undefined) {
      throw new CaissonError(
        'unknown_call',
        `No call ${wrong.id} is pending; it may have been settled before.`,
        { details: { id: wrong.id } },
      )
    }
    const own = answers.find(({ id }) => id === this.#pending?.id)
    for (const answer of answers) if (answer !== own) this.#requests.answer(answer)
    if (own === undefined) {
      const again = this.#pending === undefined ? this.#requests.takeWait() : undefined
      return (
        again &&
        ((): unknown => {
          this.#countAnswers()
          return again()
        })
      )
    }
    this.#pending = undefined
    const make = this.#answerers.get(`${from}#${name}`)
    return () => {
      this.#countAnswers()
      if (make === undefined) throw new CaissonError('corrupted', 'The component waits for no capability.')
      return make(own)
    }
  }

  /**
   * Begins a call and does not wait for it. It is asked for when the guest waits for anything.
   * @param capability its name
   * @returns its number
   */
  request(capability: string, args: unknown): number {
    const { capabilities, control, limits, nowMs } = this.#parts
    this.#pay()
    const id = this.#count
    const { bytes } = measureValue(args)
    this.#send(bytes)
    const failure =
      control.gauge.stopReason !== undefined
        ? { code: 'aborted', message: 'The guest has to stop.' }
        : capabilities.every(({ name, sync }) => name !== capability || sync)
          ? { code: 'denied', message: `The capability "${capability}" is not granted.` }
          : this.#requests.size >= Math.min(limits.calls, MOST_REQUESTS)
            ? { code: 'denied', message: 'Too many requests are under way.' }
            : undefined
    if (failure !== undefined) {
      this.#requests.answer({ id, ok: false, error: failure })
      return id
    }
    const call = { id, capability, args, bytes, askedAtMs: nowMs() }
    this.#requests.begin(call)
    this.#asked = [...this.#asked, call]
    return id
  }

  /** Undefined until it is there. */
  answerTo(request: number): Answer | undefined {
    return this.#requests.answerTo(request)
  }

  /** Nobody asks for it any more. What was not asked for yet is not. */
  forget(request: number): void {
    const isAsked = !this.#asked.some(({ id }) => id === request)
    this.#requests.forget(request, isAsked)
    if (!isAsked) this.#asked = this.#asked.filter(({ id }) => id !== request)
  }

  /** An import waits for any request. @param again makes its call again */
  waitForRequests(again: () => unknown): void {
    this.#requests.wait(again)
  }

  /** Nobody waits any more. */
  end(): void {
    this.#pending = undefined
    this.#requests.clear()
    this.#asked = []
  }

  /** Pays for what came for requests: only in a turn. */
  #countAnswers(): void {
    for (const answer of this.#requests.takeUncounted()) if (answer.ok) this.#receive(answer.value)
  }

  #pay(): void {
    const { gauge } = this.#parts.control
    gauge.charge(CALL_FUEL)
    this.#count += 1
    if (this.#count > this.#parts.limits.calls) gauge.halt('calls')
  }

  #call(
    { capability, index }: BoundCapability,
    args: unknown,
    bytes: number,
    answered: (answer: Answer) => unknown,
  ): unknown {
    const { control, syncCalls, nowMs } = this.#parts
    this.#send(bytes)
    const id = this.#count
    // The guest ends at its next check: nothing is asked for it any more.
    if (control.gauge.stopReason !== undefined)
      return answered({ id, ok: false, error: { code: 'aborted', message: 'The guest has to stop.' } })
    if (capability.sync) {
      const value = syncCalls.call(index, args, bytes)
      return answered(
        value instanceof Refusal ? { id, ok: false, error: value.failure } : { id, ok: true, value },
      )
    }
    this.#pending = { id, capability: capability.name, args, bytes, askedAtMs: nowMs() }
    this.#asked = [...this.#asked, this.#pending]
    return SUSPENDED
  }

  /** @throws GuestStop */
  #send(bytes: number): void {
    const { control, limits } = this.#parts
    control.gauge.charge(bytes * CALL_FUEL_PER_BYTE)
    this.#bytesOut += bytes
    if (this.#bytesOut > limits.bytesOut) throw new GuestStop(exhausted('bytes', limits, 'bytesOut'))
  }

  /** @throws GuestStop */
  #receive(value: unknown): unknown {
    const { control, limits } = this.#parts
    const { bytes } = measureValue(value ?? null)
    this.#bytesIn += bytes
    control.gauge.charge(bytes * CALL_FUEL_PER_BYTE)
    if (this.#bytesIn > limits.bytesIn) throw new GuestStop(exhausted('bytes', limits, 'bytesIn'))
    return value
  }

  #success({ result }: FunctionType, output: JsonSchema | undefined): (value: unknown) => unknown {
    const receive = (value: unknown): unknown => this.#receive(value)
    if (result === undefined) return (value) => void receive(value)
    if (result.kind !== 'result') return (value) => witOf(result, receive(value), output)
    const ok = result.cases[0]?.type
    return (value) => {
      receive(value)
      return ok === undefined ? { tag: 'ok' } : { tag: 'ok', val: witOf(ok, value, output) }
    }
  }
}

/** A call that was refused, by a function that cannot say so: its guest ends. */
export class RefusedCall extends Error {
  override readonly name = 'RefusedCall'
  readonly failure: GuestFailure

  constructor(failure: GuestFailure) {
    super(failure.message)
    this.failure = failure
  }
}

function isPending(given: unknown): given is PendingCall | null {
  if (given === null) return true
  const call = given as Partial<PendingCall> | undefined
  return (
    typeof call === 'object' &&
    Number.isSafeInteger(call.id) &&
    (call.id as number) > 0 &&
    typeof call.capability === 'string' &&
    Number.isSafeInteger(call.bytes) &&
    typeof call.askedAtMs === 'number'
  )
}
