/**
 * An instance of a component: its exports, called one after the other.
 *
 * Invariants
 * 1. Guest code runs only between `begin` and `end` of the gauge: what it does is counted against the limits of the
 *    instance, its start functions included.
 * 2. One call at a time. A second one, from anywhere, is refused (`busy`) and changes nothing.
 * 3. After a trap, an exhausted limit, an exit or a broken import the instance is over: nothing of it runs again.
 * 4. Arguments are checked before anything reaches the guest: a refused call leaves the instance as it was.
 * 5. A call starts from a shallow host stack: there is an `await` between the caller and the guest.
 * 6. A call that waits keeps the instance busy; no frame of the guest is live meanwhile (`component-wait.ts`).
 */
import { DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import { nearNames } from '../capability/near-names.ts'
import { exhausted } from '../machine/exhausted.ts'
import { FuelGauge } from '../machine/fuel-gauge.ts'
import type { Limits } from '../machine/limits.ts'
import type { TurnControl } from '../machine/turn.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import {
  DEPTH_IMPORT,
  FUEL_IMPORT,
  METER_NAMESPACE,
  REFILL_GROWTH,
  REFILL_IMPORT,
  START_EXPORT,
} from '../wasm/meter-options.ts'
import { checkArguments } from './abi/check-value.ts'
import { GuestFault } from './abi/guest-memory.ts'
import type { HandleTable, LiveResource } from './abi/resources.ts'
import { ValueBudget } from './abi/value-budget.ts'
import type { FunctionType } from './abi/wit-type.ts'
import { RefusedCall } from './capability-calls.ts'
import type { ComponentImports, ImportCall } from './component-imports.ts'
import { type ComponentEnd, type ComponentOutcome, GuestExit, GuestStop } from './component-outcome.ts'
import { exportedFunctions, type ImportedFunction } from './component-shape.ts'
import { ComponentWait } from './component-wait.ts'
import type { CapturedGuest } from './core/capture-core.ts'
import type { CoreInstance } from './core/core-guest.ts'
import { MEMORY_EXPORT } from './core/expose-state.ts'
import type { GuestControl, LateControl } from './guest-control.ts'
import { type CallSteps, type ComponentFunction, SUSPENDED } from './link/component-function.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { type LinkHost, linkComponent } from './link/link-component.ts'
import type { CoreExports } from './link/link-scope.ts'
import type { CallOptions, OpenComponent } from './open-component.ts'
import type { CompiledCore, PreparedComponent } from './prepare-component.ts'

export interface ComponentInstanceOptions {
  readonly imports: ComponentImports
  readonly limits: Limits
  /** Milliseconds, never going back. */
  readonly monotonic: () => number
  /** Attached to the instance before anything of it runs. */
  readonly control?: LateControl
  /** It is put in the place of a captured one: no start function runs. */
  readonly restores?: boolean
}

/** A call that waits for the answer of an import. */
export interface Waiting {
  readonly status: 'waiting'
}

/** What a capture is made of, and a restored instance filled with. */
export interface InstanceParts {
  readonly guest: CapturedGuest
  readonly handles: readonly HandleTable[]
  /** In the order in which they came to life. */
  readonly resources: readonly LiveResource[]
}

/** Modules up to this size are instantiated at once: the other way costs more than most of them take. */
const SMALL_MODULE = 4 * 1024 * 1024

/**
 * What of the imports nobody grants.
 * @throws CaissonError `missing_imports` with `details: { missing: [{ interface, name }] }`
 */
function checkImports(wanted: readonly ImportedFunction[], imports: ComponentImports): void {
  const missing = wanted
    .filter((one) => imports.func(one.interface, one.name, one.type) === undefined)
    .map((one) => ({ interface: one.interface, name: one.name }))
  if (missing.length === 0) return
  const names = missing.slice(0, 20).map((one) => `${one.interface}#${one.name}`)
  const more = missing.length > names.length ? ` and ${missing.length - names.length} more` : ''
  throw new CaissonError(
    'missing_imports',
    clipText(`The component imports what nobody grants: ${names.join(', ')}${more}.`, 2_000),
    { details: { missing: missing.slice(0, 1_000) } },
  )
}

/**
 * Links and starts a component.
 * @throws CaissonError `missing_imports`, `invalid_component`, `unsupported_feature`, `invalid_limit`; `corrupted` where
 *   the guest's start functions failed or used up a limit (the cause tells)
 */
export async function openComponentInstance(
  prepared: PreparedComponent,
  options: ComponentInstanceOptions,
): Promise<ComponentInstance> {
  checkImports(prepared.shape.imports, options.imports)
  const instance = new ComponentInstance(prepared, options)
  await instance.start()
  return instance
}

export class ComponentInstance
  implements Omit<OpenComponent, 'goOn' | 'waits' | 'checkpoint' | 'stateDigest' | 'stdout' | 'stderr'>
{
  readonly #prepared: PreparedComponent
  readonly #options: ComponentInstanceOptions
  readonly #fuel = new WebAssembly.Global({ value: 'i64', mutable: true }, 0n)
  readonly #depth = new WebAssembly.Global({ value: 'i32', mutable: true }, 0)
  readonly #gauge: FuelGauge
  readonly #domain: FaultDomain
  readonly #memories = new Set<WebAssembly.Memory>()
  readonly #meter: Readonly<Record<string, unknown>>
  readonly #wait = new ComponentWait()
  readonly #cores: CoreInstance[] = []
  readonly #handles: HandleTable[] = []
  readonly #resources: LiveResource[] = []
  /** Of a call that waits. */
  #target: ComponentFunction | undefined
  #functions: ReadonlyMap<string, ComponentFunction> = new Map()
  #state: 'idle' | 'busy' | 'over' = 'idle'
  #memoryRefused = false
  /** Whether the counters hold what the last call left, to be used on. */
  #paused = false

  constructor(prepared: PreparedComponent, options: ComponentInstanceOptions) {
    this.#prepared = prepared
    this.#options = options
    this.#gauge = new FuelGauge({ fuel: this.#fuel, depth: this.#depth }, options.monotonic)
    this.#gauge.reset(options.limits.fuel)
    const { bytesIn, bytesOut } = options.limits
    this.#domain = new FaultDomain(
      { bytes: Math.min(bytesIn, bytesOut), nodes: DEFAULT_VALUE_LIMITS.nodes },
      () => this.#gauge.halt('fault'),
    )
    this.#meter = {
      [REFILL_IMPORT]: (kind: number): bigint => {
        if (kind !== REFILL_GROWTH) return this.#gauge.refill(kind)
        this.#memoryRefused = true
        return 0n
      },
      [FUEL_IMPORT]: this.#fuel,
      [DEPTH_IMPORT]: this.#depth,
    }
    const control: GuestControl = { gauge: this.#gauge, end: (error) => this.#domain.fail(error) }
    options.control?.attach(control)
  }

  /** Names of functions as `call` takes them, with their types. */
  get exports(): readonly { readonly name: string; readonly type: FunctionType }[] {
    return [...this.#functions].map(([name, { type }]) => ({ name, type }))
  }

  /** Whether it takes a call now. */
  get state(): 'idle' | 'busy' | 'over' {
    return this.#state
  }

  /** Links the component and runs the start functions of its modules. Called once, by `openComponentInstance`. */
  async start(): Promise<void> {
    this.#state = 'busy'
    this.#begin(undefined)
    try {
      const linked = await linkComponent(this.#prepared.parsed.root, this.#host())
      this.#functions = new Map(exportedFunctions(linked))
      this.#state = 'idle'
    } catch (error) {
      this.#state = 'over'
      if (CaissonError.is(error)) throw error
      const end = this.#endOf(error)
      throw new CaissonError('corrupted', `The component did not start: ${startProblem(end)}`, {
        details: end.status === 'exhausted' ? { limit: end.limit } : { status: end.status },
        cause: this.#domain.fault,
      })
    } finally {
      this.#pause()
    }
  }

  /**
   * Calls an export: `run`, or `example:shop/prices@1.0.0#lookup` for one of an interface.
   * @param args in the shapes of `abi/wit-type.ts`; `undefined` for absent options
   * @throws CaissonError `unknown_call`, `invalid_arguments` with the path, `value_too_large`, `busy`,
   *   `isolate_destroyed`, `aborted`
   */
  async call(
    name: string,
    args: readonly unknown[] = [],
    options: CallOptions = {},
  ): Promise<ComponentOutcome> {
    const target = this.#functions.get(name)
    if (target === undefined) throw this.#unknown(name)
    this.#checkFree()
    const checked = this.#check(target, args)
    const { signal } = options
    if (signal?.aborted === true) throw new CaissonError('aborted', 'The call was aborted before it began.')
    this.#state = 'busy'
    // A shallow stack below the guest, whatever stands above.
    await Promise.resolve()
    return this.#run(target, checked, signal)
  }

  /** As `call`, on the caller's stack: for callers that know it to be shallow. */
  callNow(name: string, args: readonly unknown[] = []): ComponentOutcome {
    const target = this.#functions.get(name)
    if (target === undefined) throw this.#unknown(name)
    this.#checkFree()
    const checked = this.#check(target, args)
    this.#state = 'busy'
    return this.#run(target, checked, undefined)
  }

  /**
   * What a call is begun with: checked copies.
   * @throws CaissonError as `call`
   */
  checkCall(name: string, args: readonly unknown[]): readonly unknown[] {
    const target = this.#functions.get(name)
    if (target === undefined) throw this.#unknown(name)
    this.#checkFree()
    return this.#check(target, args)
  }

  /** Begins a call that may wait. @param args checked */
  enter(name: string, args: readonly unknown[], control: TurnControl): ComponentEnd | Waiting {
    const target = this.#functions.get(name)
    if (target === undefined) throw this.#unknown(name)
    this.#checkFree()
    const { steps } = target
    this.#wait.begin(steps?.core)
    // Nothing with handles can wait: a frame of the host stays below it.
    if (steps === undefined) return this.#turn(target, control, () => ({ value: target.call(args) }))
    return this.#turn(target, control, () => this.#ended(steps, steps.core(...steps.begin(args))))
  }

  /** The call that waits goes on. @param answer makes the import's result */
  resume(answer: () => unknown, control: TurnControl): ComponentEnd | Waiting {
    const target = this.#target
    const steps = target?.steps
    if (target === undefined || steps === undefined)
      throw new CaissonError('invalid_argument', 'The component does not wait.')
    this.#wait.begin(steps.core)
    return this.#turn(target, control, () => {
      this.#wait.rewind(answer)
      return this.#ended(steps, steps.core(...steps.blank))
    })
  }

  /** Which import the call waits in. */
  get waitsIn(): { readonly interface: string; readonly name: string } | undefined {
    const at = this.#wait.suspension?.at
    return at && { interface: at.module, name: at.name }
  }

  #ended(steps: CallSteps, returned: unknown): { readonly value: unknown } | undefined {
    this.#domain.checkAlive()
    return this.#wait.finishUnwind() ? undefined : { value: steps.end(returned) }
  }

  /** @param act undefined where the guest waits */
  #turn(
    target: ComponentFunction,
    control: TurnControl,
    act: () => { readonly value: unknown } | undefined,
  ): ComponentEnd | Waiting {
    this.#state = 'busy'
    this.#target = target
    this.#beginAt(control.deadline, control.aborted)
    this.#domain.budget.reset()
    this.#domain.nesting = 0
    let end: ComponentEnd | Waiting
    try {
      const done = act()
      end = done === undefined ? { status: 'waiting' } : { status: 'completed', value: done.value }
    } catch (error) {
      end = this.#endOf(error)
    }
    this.#pause()
    const isAlive = end.status === 'completed' || end.status === 'waiting'
    if (isAlive && this.#gauge.stopReason !== undefined) end = this.#endOf(undefined)
    if (end.status === 'waiting') return end
    this.#target = undefined
    this.#state = end.status === 'completed' ? 'idle' : 'over'
    return end
  }

  /** Fuel used so far, by all calls. */
  get fuelUsed(): number {
    return this.#gauge.consumed
  }

  /** Takes up a call of a captured instance that waits. @throws CaissonError `corrupted` */
  goOn(name: string): void {
    const target = this.#functions.get(name)
    if (target?.steps === undefined || this.#wait.suspension === undefined)
      throw new CaissonError('corrupted', 'The captured component waits in no call of its own.')
    this.#target = target
    this.#state = 'busy'
  }

  /** Between two turns. */
  get parts(): InstanceParts {
    return { guest: this.#captured, handles: this.#handles, resources: this.#resources }
  }

  get #captured(): CapturedGuest {
    const { entry, core, suspension } = this.#wait
    return {
      instances: this.#cores,
      ended: this.#state === 'over',
      fuelUsed: this.#gauge.consumed,
      suspension,
      entered:
        suspension === undefined || core === undefined || entry === undefined
          ? undefined
          : { instance: this.#cores.indexOf(core), name: entry },
      adopt: (index, name, waits, fuelUsed) => {
        const made = this.#cores[index]
        const entered = made?.exports[name]
        if (made === undefined || made !== core || typeof entered !== 'function')
          throw new CaissonError('corrupted', 'The captured component waits in a module that cannot wait.')
        this.#adoptFuel(fuelUsed)
        this.#wait.begin(entered as CallSteps['core'])
        this.#wait.adopt(waits)
      },
      adoptFuel: (fuelUsed) => this.#adoptFuel(fuelUsed),
    }
  }

  #adoptFuel(fuelUsed: number): void {
    this.#gauge.reset(this.#options.limits.fuel, fuelUsed)
    this.#paused = false
  }

  #check({ type }: ComponentFunction, args: readonly unknown[]): readonly unknown[] {
    if (type.params.length === 0 && args.length === 0) return args
    const { bytesIn } = this.#options.limits
    const budget = new ValueBudget({ bytes: bytesIn, nodes: DEFAULT_VALUE_LIMITS.nodes })
    return checkArguments(type.params, args, budget)
  }

  #run(
    target: ComponentFunction,
    args: readonly unknown[],
    signal: AbortSignal | undefined,
  ): ComponentOutcome {
    const { monotonic } = this.#options
    const begun = monotonic()
    this.#beginAt(begun + this.#options.limits.wallMs, signal && ((): boolean => signal.aborted))
    this.#domain.budget.reset()
    let end: ComponentEnd
    try {
      const value = target.call(args)
      end = { status: 'completed', value }
    } catch (error) {
      end = this.#endOf(error)
    }
    const fuel = this.#pause()
    if (end.status === 'completed' && this.#gauge.stopReason !== undefined) end = this.#endOf(undefined)
    this.#state = end.status === 'completed' ? 'idle' : 'over'
    const wallMs = Math.round((monotonic() - begun) * 1_000) / 1_000
    return Object.assign(end, { usage: { fuel, memoryBytes: this.memoryBytes, wallMs } })
  }

  #begin(signal: AbortSignal | undefined): void {
    const { limits, monotonic } = this.#options
    this.#beginAt(monotonic() + limits.wallMs, signal && ((): boolean => signal.aborted))
  }

  #beginAt(deadline: number, aborted: (() => boolean) | undefined): void {
    const { limits } = this.#options
    this.#memoryRefused = false
    if (this.#paused) this.#gauge.goOn(deadline, aborted)
    else this.#gauge.begin(limits.stackBytes, deadline, aborted)
    this.#paused = false
  }

  /** After guest code returned; gives the fuel used so far. Its counters stay as they are for the next call. */
  #pause(): number {
    const fuel = this.#gauge.consumed
    if (fuel > this.#options.limits.fuel) this.#gauge.end()
    else this.#paused = true
    return fuel
  }

  /** Bytes in all memories of the instance. */
  get memoryBytes(): number {
    let sum = 0
    for (const { buffer } of this.#memories) sum += buffer.byteLength
    return sum
  }

  #checkFree(): void {
    if (this.#state === 'busy')
      throw new CaissonError('busy', 'The component is inside a call; it takes one call at a time.')
    if (this.#state === 'over')
      throw new CaissonError(
        'isolate_destroyed',
        'The component ended, and takes no further call: open a new one.',
      )
  }

  #unknown(name: string): CaissonError {
    const names = [...this.#functions.keys()]
    const [near] = nearNames(name, names)
    const hint =
      near === undefined ? `It exports: ${names.slice(0, 20).join(', ')}.` : `Did you mean "${near}"?`
    return new CaissonError(
      'not_found',
      clipText(`The component exports no function ${JSON.stringify(clipText(name, 200))}. ${hint}`, 2_000),
    )
  }

  #host(): LinkHost {
    return {
      domain: this.#domain,
      instantiate: (module, imports) => this.#instantiate(this.#prepared.cores[module], imports),
      func: (path, name, type) => this.#import(path, name, type),
      resource: (path, name): LiveResource => ({
        name,
        owner: undefined,
        drop: (resource) => this.#options.imports.dropResource(path, name, resource),
      }),
      runDestructor: (act) => this.#runDestructor(act),
      handlesMade: (handles) => void this.#handles.push(handles),
      resourceMade: (resource) => void this.#resources.push(resource),
    }
  }

  #import(path: string, name: string, type: FunctionType): ComponentFunction {
    const call = this.#options.imports.func(path, name, type) as ImportCall
    const plain = {
      type,
      call: (args: readonly unknown[]): unknown => {
        const answer = call(args)
        if (answer !== SUSPENDED) this.#gauge.hostWorked()
        return answer
      },
    }
    if (!this.#prepared.cores.some(({ manifest }) => manifest.suspends.length > 0)) return plain
    const wait = this.#wait
    const at = { module: path, name }
    return {
      type,
      call: (args) => {
        const come = wait.takeAnswer()
        return come === undefined ? plain.call(args) : come()
      },
      wait: {
        enter: (core) => wait.enter(at, core),
        suspend: (core) => wait.suspend(at, core, this.#domain.nesting),
      },
    }
  }

  /** Also a destructor that the embedder asks for runs under limits, and ends the instance where it fails. */
  #runDestructor(act: () => void): void {
    if (this.#state === 'over') return
    if (this.#state === 'busy') {
      if (this.#wait.suspension !== undefined)
        throw new CaissonError('busy', 'The component waits inside of a call.')
      this.#domain.nesting += 1
      act()
      this.#domain.nesting -= 1
      return
    }
    this.#state = 'busy'
    this.#begin(undefined)
    try {
      act()
      this.#domain.checkAlive()
      this.#state = 'idle'
    } catch (error) {
      this.#state = 'over'
      this.#domain.fail(error)
    } finally {
      this.#pause()
    }
  }

  async #instantiate(
    core: CompiledCore | undefined,
    given: Readonly<Record<string, Readonly<Record<string, unknown>>>>,
  ): Promise<CoreExports> {
    if (core === undefined) throw new CaissonError('corrupted', 'A core module of the component is missing.')
    const { module, manifest } = core
    const imports = { ...given, [METER_NAMESPACE]: this.#meter } as unknown as WebAssembly.Imports
    const small = manifest.bytesOut <= SMALL_MODULE
    const { exports } = await linked(() =>
      small ? new WebAssembly.Instance(module, imports) : WebAssembly.instantiate(module, imports),
    )
    const memory = exports[MEMORY_EXPORT]
    if (memory instanceof WebAssembly.Memory) this.#memories.add(memory)
    if (this.memoryBytes > this.#options.limits.memoryBytes) {
      this.#gauge.halt('memory')
      throw new GuestFault('The modules of the component need more memory than there is.')
    }
    const made = { manifest, exports }
    this.#cores.push(made)
    if (manifest.suspends.length > 0) this.#wait.attach(made)
    const start = exports[START_EXPORT]
    if (this.#options.restores !== true && manifest.hasStart && typeof start === 'function') start()
    return exports
  }

  /** What an error says that came out of guest code, or of ours below it. */
  #endOf(thrown: unknown): ComponentEnd {
    const error = this.#domain.over ? this.#domain.fault : thrown
    this.#domain.fail(error)
    const { limits } = this.#options
    const reason = this.#gauge.stopReason
    if (error instanceof GuestStop) return error.end
    if (error instanceof RefusedCall) return failed(error.failure.code, error.message)
    if (error instanceof GuestExit) return { status: 'exited', exitCode: error.exitCode }
    if (reason === 'aborted')
      return { status: 'failed', error: { name: 'Error', code: 'aborted', message: 'The call was aborted.' } }
    if (reason !== undefined && reason !== 'fault' && reason !== 'bytes') return exhausted(reason, limits)
    if (CaissonError.is(error, 'value_too_large')) return exhausted('bytes', limits, 'bytesOut')
    if (error instanceof RangeError || this.#wait.unwinds) return exhausted('stack', limits)
    if (error instanceof GuestFault) return failed('trapped', error.message)
    if (error instanceof WebAssembly.RuntimeError) {
      if (this.#memoryRefused) return exhausted('memory', limits)
      return failed('trapped', `The guest trapped: ${clipText(error.message, 200)}.`)
    }
    // What the host's own code threw is the host's: nothing of it is shown.
    return failed(
      CaissonError.is(error) ? error.code : 'capability_failed',
      'An import of the component failed.',
    )
  }

  /** What the last fault was, for the host; undefined while the instance lives. */
  get fault(): unknown {
    return this.#domain.fault
  }

  static {
    // Not written as a method: the declaration of one whose key is a constant has to be inferred.
    Object.defineProperty(ComponentInstance.prototype, DISPOSE, {
      value: ComponentInstance.prototype.dispose,
    })
  }

  declare readonly [Symbol.dispose]: () => void

  /** Refuses further calls and lets go of everything. Also at the key of `using`. */
  dispose(): void {
    this.#state = 'over'
    this.#functions = new Map()
    this.#memories.clear()
  }
}

function failed(code: string, message: string): ComponentEnd {
  return { status: 'failed', error: { name: code === 'trapped' ? 'Trap' : 'Error', code, message } }
}

function startProblem(end: ComponentEnd): string {
  switch (end.status) {
    case 'exited':
      return `it exited with ${end.exitCode}.`
    case 'failed':
      return end.error.message
    case 'exhausted':
      return end.message
    case 'completed':
      return 'it has no exports.'
  }
}

/** Links one core module. What does not fit is the component's mistake; what traps is the guest's. */
async function linked(
  make: () => WebAssembly.Instance | Promise<WebAssembly.Instance>,
): Promise<WebAssembly.Instance> {
  try {
    return await make()
  } catch (cause) {
    if (cause instanceof WebAssembly.LinkError || cause instanceof TypeError) {
      throw new CaissonError(
        'invalid_component',
        `Core modules do not fit together: ${cause.message.slice(0, 300)}`,
        {
          cause,
        },
      )
    }
    if (cause instanceof RangeError)
      throw new CaissonError('machine_lost', 'The host has no room for the memory of the component.', {
        cause,
      })
    throw cause
  }
}
