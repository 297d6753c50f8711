/**
 * A guest of one or several core modules that share one gauge, and its turns.
 *
 * Invariants
 * 1. Nothing is thrown through wasm frames: a host function that throws is recorded as the guest's end, which stops at
 *    its next check. From then on no host function of the guest does anything.
 * 2. One turn at a time. Host functions may call exports (`call`) while they are at work for the guest.
 * 3. After any end but `returned` and `suspended` the guest takes no further turn.
 * 4. Between turns no wasm frame is live: a suspended guest was unwound, and what it needs to go on is data
 *    (`Suspension`), not memory.
 * 5. No code of a module runs outside of a turn: a start function is run by `start`, under limits.
 * 6. A guest is suspended only where every frame between its entry and the import is of the one module that is unwound
 *    (`module-crossings.ts`); anywhere else it ends.
 */
import { CaissonError } from '../../base/errors.ts'
import { FuelGauge, type StopReason } from '../../machine/fuel-gauge.ts'
import type { TurnControl } from '../../machine/turn.ts'
import type { CompiledModule } from '../../ports/engine-source.ts'
import {
  DEPTH_EXPORT,
  DEPTH_IMPORT,
  FUEL_EXPORT,
  FUEL_IMPORT,
  METER_NAMESPACE,
  REFILL_GROWTH,
  REFILL_IMPORT,
  START_EXPORT,
} from '../../wasm/meter-options.ts'
import { type CoreEnd, trapOf } from './core-end.ts'
import type { CoreInstance } from './core-instance.ts'
import type { CoreManifest, CoreType, SuspendingImport } from './core-manifest.ts'
import { checkedResult, zeroOf } from './core-result.ts'
import { CoreWait } from './core-wait.ts'
import { importedConstants } from './imported-constants.ts'
import { functionOf, linkCore } from './link-core.ts'
import { ModuleCrossings } from './module-crossings.ts'
import type { Suspension } from './unwind-area.ts'

export type { CoreInstance } from './core-instance.ts'

/** A prepared module that the engine compiled. */
export interface CompiledCore {
  readonly module: CompiledModule
  readonly manifest: CoreManifest
}

export interface CoreGuestOptions {
  /** Fuel over all turns. */
  readonly fuel: number
  /** Depth of the call stack in metered bytes. */
  readonly stackBytes: number
  readonly monotonic: () => number
  /** Where the counters live; `shared` for several modules (default `own`). */
  readonly counters?: 'own' | 'shared'
}

/** A function of the host as wasm calls it: numbers and bigints in, one of them (or a list, or nothing) out. */
export type HostFunction = (...args: readonly unknown[]) => unknown

/** What a host function returns that cannot answer yet: the guest is suspended, and `resume` gives the answer. */
export const SUSPEND: unique symbol = Symbol('suspend')

/** Thrown nowhere: marks that the guest ended itself. */
interface Exit {
  readonly code: number
}

export class CoreGuest {
  readonly #options: CoreGuestOptions
  readonly #instances: CoreInstance[] = []
  readonly #crossings = new ModuleCrossings()
  readonly #shared: { readonly fuel: WebAssembly.Global; readonly depth: WebAssembly.Global } | undefined
  #gauge: FuelGauge | undefined
  #inTurn = false
  #ended = false
  #exit: Exit | undefined
  #fault: { readonly error: unknown } | undefined
  /** Whether a memory or a table was not allowed to grow: whoever takes the guest up again, or leaves its start, says so. */
  memoryRefused = false
  /** How many calls of exports are open: host functions may nest. */
  #nesting = 0
  readonly #wait = new CoreWait()

  constructor(options: CoreGuestOptions) {
    this.#options = options
    if (options.counters !== 'shared') return
    this.#shared = {
      fuel: new WebAssembly.Global({ value: 'i64', mutable: true }, 0n),
      depth: new WebAssembly.Global({ value: 'i32', mutable: true }, 0),
    }
    this.#gauge = this.#openGauge(this.#shared)
  }

  /** In the order in which they were made. */
  get instances(): readonly CoreInstance[] {
    return this.#instances
  }

  /** Fuel used so far, in all turns. */
  get fuelUsed(): number {
    return this.#gauge?.consumed ?? 0
  }

  get ended(): boolean {
    return this.#ended
  }

  get suspension(): Suspension | undefined {
    return this.#wait.suspension
  }

  /** The gauge, for host functions that charge for their work. @throws CaissonError `invalid_argument` before there is one */
  get gauge(): FuelGauge {
    if (this.#gauge === undefined) throw misuse('The guest has no module yet.')
    return this.#gauge
  }

  #openGauge(globals: { readonly fuel: WebAssembly.Global; readonly depth: WebAssembly.Global }): FuelGauge {
    const gauge = new FuelGauge(globals, this.#options.monotonic)
    gauge.reset(this.#options.fuel)
    return gauge
  }

  /**
   * Adds a module. Its start function does not run yet (`start`).
   *
   * @param imports those of the original module; functions of the host have to come from `hostFunction` and
   *   `suspendingFunction`
   * @throws CaissonError `invalid_module` when it cannot be linked, or its segments do not fit; `machine_lost` where the
   *   host has no room; `unsupported` where a suspendable module shares tables or references with another one
   */
  instantiate(core: CompiledCore, imports: WebAssembly.Imports): CoreInstance {
    const { counters } = core.manifest
    if (counters !== (this.#options.counters ?? 'own'))
      throw misuse(`The module was prepared with ${counters} counters.`)
    if (counters === 'own' && this.#instances.length > 0) {
      throw misuse('Modules of a guest of several are prepared with shared counters.')
    }
    const meter: WebAssembly.ModuleImports = { [REFILL_IMPORT]: this.#refill }
    if (this.#shared !== undefined) {
      meter[FUEL_IMPORT] = this.#shared.fuel
      meter[DEPTH_IMPORT] = this.#shared.depth
    }
    const linked = this.#crossings.link(core.manifest, imports, this.#instances)
    const instance = linkCore(core.module, {
      ...linked,
      ...importedConstants(core.manifest, imports),
      [METER_NAMESPACE]: meter,
    })
    const { exports } = instance
    this.#gauge ??= this.#openGauge({
      fuel: exports[FUEL_EXPORT] as WebAssembly.Global,
      depth: exports[DEPTH_EXPORT] as WebAssembly.Global,
    })
    const made: CoreInstance = { manifest: core.manifest, exports }
    this.#instances.push(made)
    return made
  }

  readonly #refill = (kind: number): bigint => {
    if (kind === REFILL_GROWTH) {
      this.memoryRefused = true
      return 0n
    }
    return this.#gauge === undefined ? -1n : this.#gauge.refill(kind)
  }

  /**
   * A function of the host for imports: it never throws, and does nothing once the guest has to stop.
   *
   * @param results types of the import's results: what `invoke` returns must be of them
   */
  hostFunction(results: readonly CoreType[], invoke: HostFunction): HostFunction {
    const zero = zeroOf(results)
    return this.#crossings.host((...args) => {
      if (this.#stops) return zero
      try {
        const result = checkedResult(results, invoke(...args))
        this.#gauge?.hostWorked()
        return this.#stops ? zero : result
      } catch (error) {
        this.fault(error)
        return zero
      }
    })
  }

  /**
   * An import of `manifest.suspends`: the turn ends when the guest calls it.
   *
   * @param invoke asked first: what it returns is the answer, unless it is `SUSPEND`. Default: always suspends
   */
  suspendingFunction(
    of: () => CoreInstance,
    results: readonly CoreType[],
    at: SuspendingImport,
    invoke: HostFunction = () => SUSPEND,
  ): HostFunction {
    const zero = zeroOf(results)
    return this.#crossings.host((...args) => {
      if (this.#stops) return zero
      try {
        const come = this.#wait.takeAnswer()
        if (come !== undefined) return checkedResult(results, come.answer)
        const answer = invoke(...args)
        if (answer !== SUSPEND) {
          const result = checkedResult(results, answer)
          this.#gauge?.hostWorked()
          return this.#stops ? zero : result
        }
        this.#wait.suspend(of(), at, args, this.#nesting === 1 && this.#crossings.open === 0)
      } catch (error) {
        this.fault(error)
      }
      return zero
    })
  }

  /** Whether nothing that the guest asks for is done any more. */
  get #stops(): boolean {
    return this.#gauge?.stopReason !== undefined || this.#wait.unwinds
  }

  /** From inside of a host function: the guest ends with this code. */
  exit(code: number): void {
    this.#exit ??= { code }
    this.#gauge?.halt('fault')
  }

  /** From inside of a host function: something of the host's failed. */
  fault(error: unknown): void {
    this.#fault ??= { error }
    this.#gauge?.halt('fault')
  }

  /** Runs the start function of an instance, if it has one. */
  start(instance: CoreInstance, control: TurnControl): CoreEnd {
    if (!instance.manifest.hasStart) return { status: 'returned', values: [] }
    return this.run(instance, START_EXPORT, [], control)
  }

  /**
   * A turn: calls an export, until it returns, suspends or ends.
   *
   * @throws CaissonError `busy`, `isolate_destroyed`, `invalid_argument` for an export that is none
   */
  run(instance: CoreInstance, name: string, args: readonly unknown[], control: TurnControl): CoreEnd {
    this.#mayBegin()
    this.#wait.begin({ instance, name })
    const entry = functionOf(instance, name)
    return this.#turn(() => entry(...args), control)
  }

  /**
   * A turn: the import at which the guest was suspended returns `answer`.
   *
   * @param answer a number, a bigint for i64, or undefined, as the import's result wants it
   */
  resume(answer: unknown, control: TurnControl): CoreEnd {
    this.#mayBegin()
    const { suspension, entry } = this.#wait
    if (suspension === undefined || entry === undefined) throw misuse('The guest is not suspended.')
    const call = functionOf(entry.instance, entry.name)
    const { params = [] } =
      entry.instance.manifest.exports.find(({ name }) => name === entry.name)?.signature ?? {}
    const args = params.map((type) => zeroOf([type]))
    const rewind = this.#wait.resume(entry, suspension, answer)
    return this.#turn(() => {
      rewind()
      return call(...args)
    }, control)
  }

  /** Inside of a host function: calls an export within the turn. What it throws, let it pass to `hostFunction`. */
  call(instance: CoreInstance, name: string, args: readonly unknown[]): unknown {
    if (!this.#inTurn) throw misuse('An export is called inside of a turn only.')
    const entry = functionOf(instance, name)
    this.#nesting += 1
    try {
      return entry(...args)
    } finally {
      this.#nesting -= 1
    }
  }

  /** A suspended guest in place of this fresh one: its memory and globals are put in beside (`restoreCore`). */
  adopt(index: number, name: string, suspension: Suspension, fuelUsed: number): void {
    const instance = this.#instances[index]
    if (instance === undefined) throw misuse('There is no such instance.')
    this.gauge.reset(this.#options.fuel, fuelUsed)
    this.#wait.adopt({ instance, name }, suspension)
  }

  /** Where the guest was entered that is suspended now: index of the instance, and export. */
  get entered(): { readonly instance: number; readonly name: string } | undefined {
    const { entry } = this.#wait
    return entry && { instance: this.#instances.indexOf(entry.instance), name: entry.name }
  }

  /** Fuel of an earlier life, for a guest that is not suspended. */
  adoptFuel(fuelUsed: number): void {
    this.gauge.reset(this.#options.fuel, fuelUsed)
  }

  #mayBegin(): void {
    if (this.#inTurn) throw new CaissonError('busy', 'The guest is inside of a turn.')
    if (this.#ended) throw new CaissonError('isolate_destroyed', 'The guest has ended; open a new one.')
  }

  #turn(enter: () => unknown, control: TurnControl): CoreEnd {
    const gauge = this.gauge
    gauge.begin(this.#options.stackBytes, control.deadline, control.aborted)
    this.#inTurn = true
    this.#nesting = 1
    this.#crossings.reset()
    let end: CoreEnd
    try {
      end = this.#returned(enter())
    } catch (thrown) {
      end = this.#thrown(thrown)
    }
    this.#nesting = 0
    this.#inTurn = false
    gauge.end()
    // Fuel may have run out behind the last check.
    if (end.status === 'returned' || end.status === 'suspended') {
      const stop = gauge.stopReason
      if (stop !== undefined) end = this.#stopped(stop)
    }
    this.#ended = end.status !== 'returned' && end.status !== 'suspended'
    if (end.status !== 'suspended') this.#wait.forgetEntry()
    return end
  }

  #returned(value: unknown): CoreEnd {
    const stop = this.#gauge?.stopReason
    if (stop !== undefined) return this.#stopped(stop)
    const suspension = this.#wait.finishUnwind()
    if (suspension !== undefined) return { status: 'suspended', at: suspension.at, args: suspension.args }
    return { status: 'returned', values: value === undefined ? [] : Array.isArray(value) ? value : [value] }
  }

  #thrown(thrown: unknown): CoreEnd {
    const stop = this.#gauge?.stopReason
    if (stop !== undefined) return this.#stopped(stop)
    // The area for unwinding is full: the stack of the guest is deeper than it can be kept.
    if (this.#wait.unwinds) return { status: 'exhausted', limit: 'stack' }
    const trap = trapOf(thrown)
    if (trap !== undefined) return { status: 'trapped', ...trap, memoryRefused: this.memoryRefused }
    if (thrown instanceof RangeError) return { status: 'exhausted', limit: 'stack' }
    return { status: 'faulted', error: thrown }
  }

  #stopped(reason: StopReason): CoreEnd {
    switch (reason) {
      case 'aborted':
        return { status: 'aborted' }
      case 'fault':
        if (this.#fault !== undefined) return { status: 'faulted', error: this.#fault.error }
        return { status: 'exited', code: this.#exit?.code ?? 0 }
      default:
        return { status: 'exhausted', limit: reason }
    }
  }
}

function misuse(message: string): CaissonError {
  return new CaissonError('invalid_argument', message)
}
