/**
 * The granted capabilities of a component, behind its imports: calls go through the gate that every guest has.
 *
 * An import `NS:PACKAGE/prices` `lookup` is the capability `prices.lookup` (`wit-names.ts`); `$root` and `globals` hold
 * those without a namespace. Sync capabilities answer inside of the turn; for the others the guest is suspended.
 *
 * Invariants
 * 1. Every call is paid for and counted before anything is made of it.
 * 2. The record of the pending call is the host's; a component waits for one at most.
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
import type { ComponentImports, ImportCall } from './component-imports.ts'
import { GuestStop } from './component-outcome.ts'
import type { ImportedFunction } from './component-shape.ts'
import type { GuestControl } from './guest-control.ts'
import { SUSPENDED } from './link/component-function.ts'
import { ROOT } from './link/link-component.ts'
import { failureWriter } from './wit-failure.ts'
import { placesOf } from './wit-names.ts'
import { inputOf, witOf } from './wit-value.ts'

/** As of other guests. */
const CALL_FUEL = 2_000
const CALL_FUEL_PER_BYTE = 8
const GLOBALS = 'globals'

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

interface Bound {
  readonly capability: GuestCapability
  readonly index: number
}

/** Finds the capability that stands behind an import; undefined where none does. */
export class CapabilityPlaces {
  readonly #byPlace: ReadonlyMap<string, Bound & { readonly name: string }>

  /** @throws CaissonError `invalid_argument` where two have the same place */
  constructor(capabilities: readonly GuestCapability[]) {
    const places = placesOf(
      capabilities.map((capability, index) => ({ name: capability.name, capability, index })),
    )
    this.#byPlace = new Map([...places].map(([key, bound]) => [key.slice(key.indexOf('/') + 1), bound]))
  }

  find({ interface: from, name }: Pick<ImportedFunction, 'interface' | 'name'>): Bound | undefined {
    if (from.startsWith('wasi:')) return undefined
    const own = from === ROOT ? GLOBALS : /\/([^@/]+)(?:@.*)?$/.exec(from)?.[1]
    return this.#byPlace.get(`${own}#${name}`)
  }

  /** Whether the guest has to be suspended in it. */
  isAwaited(wanted: Pick<ImportedFunction, 'interface' | 'name'>): boolean {
    return this.find(wanted)?.capability.sync === false
  }
}

export class CapabilityCalls implements ComponentImports {
  readonly #parts: CapabilityCallsParts
  readonly #places: CapabilityPlaces
  /** Makes an import's result of an answer, by the place of the import. */
  readonly #answerers = new Map<string, (answer: Answer) => unknown>()
  #count = 0
  #pending: PendingCall | undefined
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
    return this.#pending === undefined ? [] : [this.#pending]
  }

  takeAsked(): readonly PendingCall[] {
    const asked = this.#asked
    this.#asked = []
    return asked
  }

  /** Before the call of an export. */
  begin(): void {
    this.#bytesIn = 0
    this.#bytesOut = 0
  }

  state(): CapabilityCallsState {
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
    if (type.tuple?.handles === true || type.result?.handles === true)
      throw new CaissonError(
        'invalid_component',
        `The component imports the capability "${bound.capability.name}" with resources, which none takes.`,
      )
    const { input, output } = this.#parts.schemas(bound.capability.name)
    const succeed = this.#success(type, output)
    const writeFailure = failureWriter(type)
    const fail = (failure: GuestFailure): unknown => {
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
   * The result of the import that waits, once there is an answer.
   * @throws CaissonError `unknown_call` unless every answer is for the pending call, once
   */
  deliver(answers: readonly Answer[], from: string, name: string): () => unknown {
    const [answer] = answers
    if (answers.length !== 1 || answer === undefined || answer.id !== this.#pending?.id) {
      const { id } = answers.find((one) => one.id !== this.#pending?.id) ?? answers[1] ?? { id: 0 }
      throw new CaissonError('unknown_call', `No call ${id} is pending; it may have been settled before.`, {
        details: { id },
      })
    }
    this.#pending = undefined
    const make = this.#answerers.get(`${from}#${name}`)
    return () => {
      if (make === undefined) throw new CaissonError('corrupted', 'The component waits for no capability.')
      return make(answer)
    }
  }

  /** Nobody waits any more. */
  end(): void {
    this.#pending = undefined
    this.#asked = []
  }

  #pay(): void {
    const { gauge } = this.#parts.control
    gauge.charge(CALL_FUEL)
    this.#count += 1
    if (this.#count > this.#parts.limits.calls) gauge.halt('calls')
  }

  #call(
    { capability, index }: Bound,
    args: unknown,
    bytes: number,
    answered: (answer: Answer) => unknown,
  ): unknown {
    const { control, limits, syncCalls, nowMs } = this.#parts
    control.gauge.charge(bytes * CALL_FUEL_PER_BYTE)
    this.#bytesOut += bytes
    if (this.#bytesOut > limits.bytesOut) throw new GuestStop(exhausted('bytes', limits, 'bytesOut'))
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
    this.#asked = [this.#pending]
    return SUSPENDED
  }

  #success({ result }: FunctionType, output: JsonSchema | undefined): (value: unknown) => unknown {
    const { limits, control } = this.#parts
    const receive = (value: unknown): unknown => {
      const { bytes } = measureValue(value ?? null)
      this.#bytesIn += bytes
      control.gauge.charge(bytes * CALL_FUEL_PER_BYTE)
      if (this.#bytesIn > limits.bytesIn) throw new GuestStop(exhausted('bytes', limits, 'bytesIn'))
      return value
    }
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
