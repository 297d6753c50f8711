/**
 * An instance of a component: its exports, called one after the other.
 *
 * Invariants (beside those of its turns)
 * 1. One call at a time. A second one, from anywhere, is refused (`busy`) and changes nothing.
 * 2. Arguments are checked before anything reaches the guest: a refused call leaves the instance as it was.
 * 3. A call starts from a shallow host stack: there is an `await` between the caller and the guest.
 *
 * What it is made of stands beside it: its turns (`instance-turns.ts`), counters (`instance-meter.ts`), core modules (`instance-cores.ts`), imports
 * (`instance-imports.ts`), ends (`instance-end.ts`) and what is captured of it (`instance-parts.ts`).
 */
import { DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import type { Limits } from '../machine/limits.ts'
import type { TurnControl } from '../machine/turn.ts'
import { DEFAULT_VALUE_LIMITS } from '../values/limits.ts'
import { checkArguments } from './abi/check-value.ts'
import type { HandleTable, LiveResource } from './abi/resources.ts'
import { ValueBudget } from './abi/value-budget.ts'
import type { FunctionType } from './abi/wit-type.ts'
import type { ComponentImports } from './component-imports.ts'
import type { ComponentEnd, ComponentOutcome } from './component-outcome.ts'
import { exportedFunctions, unknownExport } from './component-shape.ts'
import type { GuestControl, LateControl } from './guest-control.ts'
import { HeldStack } from './held-stack.ts'
import type { OtherWaits } from './import-wait.ts'
import { InstanceCores } from './instance-cores.ts'
import { startProblem } from './instance-end.ts'
import { checkImports, importedFunction, importedResource } from './instance-imports.ts'
import { InstanceMeter } from './instance-meter.ts'
import { capturedGuest, type InstanceParts } from './instance-parts.ts'
import { InstanceTurns, type TurnOutcome } from './instance-turns.ts'
import type { ComponentFunction } from './link/component-function.ts'
import { FaultDomain } from './link/fault-domain.ts'
import { type LinkHost, linkComponent } from './link/link-component.ts'
import type { CoreExports, LinkedInstance } from './link/link-scope.ts'
import type { CallOptions, OpenComponent } from './open-component.ts'
import type { PreparedComponent } from './prepare-component.ts'

export interface ComponentInstanceOptions {
  readonly imports: ComponentImports
  readonly limits: Limits
  /** Milliseconds, never going back. */
  readonly monotonic: () => number
  /** Attached to the instance before anything of it runs. */
  readonly control?: LateControl
  /** It is put in the place of a captured one: no start function runs. */
  readonly restores?: boolean
  /** What decides about time while its start functions run. Default: `wallMs` of the limits. */
  readonly starts?: TurnControl
  /** How it waits where it was not prepared to leave its stack. */
  readonly waits?: OtherWaits
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
  readonly #meter: InstanceMeter
  readonly #domain: FaultDomain
  readonly #cores: InstanceCores
  readonly #held: HeldStack | undefined
  readonly #turns: InstanceTurns
  readonly #handles: HandleTable[] = []
  readonly #resources: LiveResource[] = []
  #functions: ReadonlyMap<string, ComponentFunction> = new Map()

  constructor(prepared: PreparedComponent, options: ComponentInstanceOptions) {
    const { limits, control, restores } = options
    this.#prepared = prepared
    this.#options = options
    if (options.waits?.by === 'held') this.#held = HeldStack.open()
    this.#meter = new InstanceMeter(limits, options.monotonic)
    const { gauge } = this.#meter
    this.#domain = new FaultDomain(
      { bytes: Math.min(limits.bytesIn, limits.bytesOut), nodes: DEFAULT_VALUE_LIMITS.nodes },
      () => gauge.halt('fault'),
    )
    this.#turns = new InstanceTurns({
      meter: this.#meter,
      domain: this.#domain,
      limits,
      monotonic: options.monotonic,
      held: this.#held,
      onLetGo: () => this.#letGo(),
    })
    this.#cores = new InstanceCores({
      cores: prepared.cores,
      meter: this.#meter,
      memoryBytes: limits.memoryBytes,
      starts: restores !== true,
      made: (core) => {
        if (core.manifest.suspends.length > 0) this.#turns.wait.attach(core)
      },
    })
    const own: GuestControl = { gauge, end: (error) => this.#domain.fail(error) }
    control?.attach(own)
  }

  /** Names of functions as `call` takes them, with their types. */
  get exports(): readonly { readonly name: string; readonly type: FunctionType }[] {
    return [...this.#functions].map(([name, { type }]) => ({ name, type }))
  }

  /** Whether it takes a call now. */
  get state(): 'idle' | 'busy' | 'over' {
    return this.#turns.state
  }

  /** Links the component and runs the start functions of its modules. Called once, by `openComponentInstance`. */
  async start(): Promise<void> {
    try {
      const link = (): Promise<LinkedInstance> => linkComponent(this.#prepared.parsed.root, this.#host())
      this.#functions = new Map(exportedFunctions(await this.#turns.start(this.#options.starts, link)))
    } catch (error) {
      if (CaissonError.is(error)) throw error
      const end = this.#turns.endOf(error)
      throw new CaissonError('corrupted', `The component did not start: ${startProblem(end)}`, {
        details: {
          ...(end.status === 'exhausted' ? { limit: end.limit } : { status: end.status }),
          fuel: this.fuelUsed,
        },
        cause: this.#domain.fault,
      })
    }
  }

  /**
   * Calls an export: `run`, or `example:shop/prices@1.0.0#lookup` for one of an interface.
   * @param args in the shapes of `abi/wit-type.ts`; `undefined` for absent options
   * @throws CaissonError `not_found`, `invalid_arguments` with the path, `value_too_large`, `busy`,
   *   `isolate_destroyed`, `aborted`
   */
  async call(
    name: string,
    args: readonly unknown[] = [],
    options: CallOptions = {},
  ): Promise<ComponentOutcome> {
    const target = this.#free(name)
    const checked = this.#check(target, args)
    const { signal } = options
    if (signal?.aborted === true) throw new CaissonError('aborted', 'The call was aborted before it began.')
    this.#turns.reserve()
    // A shallow stack below the guest, whatever stands above.
    await Promise.resolve()
    // Meanwhile it may have been disposed, or a destructor of a resource may have ended it.
    if (this.state === 'over') throw ended()
    return this.#run(target, checked, signal)
  }

  /** As `call`, on the caller's stack: for callers that know it to be shallow. */
  callNow(name: string, args: readonly unknown[] = []): ComponentOutcome {
    const target = this.#free(name)
    return this.#run(target, this.#check(target, args), undefined)
  }

  /**
   * What a call is begun with: checked copies.
   * @throws CaissonError as `call`
   */
  checkCall(name: string, args: readonly unknown[]): readonly unknown[] {
    return this.#check(this.#free(name), args)
  }

  /** Begins a call that may wait. @param args checked */
  enter(name: string, args: readonly unknown[], control: TurnControl): TurnOutcome | Promise<TurnOutcome> {
    return this.#turns.enter(this.#free(name), args, control)
  }

  /** The call that waits goes on. @param answer makes the import's result */
  resume(answer: () => unknown, control: TurnControl): TurnOutcome | Promise<TurnOutcome> {
    if (this.state === 'over') throw ended()
    return this.#turns.resume(answer, control)
  }

  /** Which import the call waits in. */
  get waitsIn(): InstanceTurns['waitsIn'] {
    return this.#turns.waitsIn
  }

  /** Whether frames of it wait that are held by the engine: there is more of it than can be captured. */
  get holdsStack(): boolean {
    return this.#turns.holdsStack
  }

  /** A call that cannot wait, from its begin to its end. */
  #run(
    target: ComponentFunction,
    args: readonly unknown[],
    signal: AbortSignal | undefined,
  ): ComponentOutcome {
    const { monotonic, limits } = this.#options
    const begun = monotonic()
    const control = {
      deadline: begun + limits.wallMs,
      ...(signal && { aborted: (): boolean => signal.aborted }),
    }
    const end = this.#turns.run(target, args, control)
    const wallMs = Math.round((monotonic() - begun) * 1_000) / 1_000
    const usage = { fuel: this.fuelUsed, memoryBytes: this.memoryBytes, wallMs }
    return Object.assign(end as ComponentEnd, { usage })
  }

  /** Fuel used so far, by all calls. */
  get fuelUsed(): number {
    return this.#meter.gauge.consumed
  }

  /** Bytes in all memories of the instance. */
  get memoryBytes(): number {
    return this.#cores.memoryBytes
  }

  /** Takes up a call of a captured instance that waits. @throws CaissonError `corrupted` */
  goOn(name: string): void {
    this.#turns.takeUp(this.#functions.get(name))
  }

  /** Between two turns. */
  get parts(): InstanceParts {
    const guest = capturedGuest(this.#cores.all, this.state === 'over', this.#meter, this.#turns.wait)
    return { guest, handles: this.#handles, resources: this.#resources }
  }

  /** The export of that name, where it can be called now. @throws CaissonError `not_found`, `busy`, `isolate_destroyed` */
  #free(name: string): ComponentFunction {
    if (this.state === 'over') throw ended()
    const target = this.#functions.get(name)
    if (target === undefined) throw unknownExport(name, [...this.#functions.keys()])
    if (this.state === 'busy')
      throw new CaissonError('busy', 'The component is inside a call; it takes one call at a time.')
    return target
  }

  #check({ type }: ComponentFunction, args: readonly unknown[]): readonly unknown[] {
    if (type.params.length === 0 && args.length === 0) return args
    const { bytesIn } = this.#options.limits
    const budget = new ValueBudget({ bytes: bytesIn, nodes: DEFAULT_VALUE_LIMITS.nodes })
    return checkArguments(type.params, args, budget)
  }

  #host(): LinkHost {
    const { imports, waits } = this.#options
    const mayWait = this.#prepared.cores.some(({ manifest }) => manifest.suspends.length > 0)
    const by = waits?.by === 'held' ? this.#held : waits?.by
    const parts = {
      imports,
      meter: this.#meter,
      domain: this.#domain,
      wait: mayWait ? this.#turns.wait : undefined,
      other: waits && by && { by, isAwaited: waits.isAwaited },
    }
    return {
      domain: this.#domain,
      instantiate: (module, given) => this.#instantiate(module, given, mayWait),
      func: (path, name, type) => importedFunction(parts, path, name, type),
      resource: (path, name) => importedResource(imports, path, name),
      runDestructor: (act) => this.#turns.runDestructor(act),
      handlesMade: (handles) => void this.#handles.push(handles),
      resourceMade: (resource) => void this.#resources.push(resource),
    }
  }

  async #instantiate(
    module: number,
    given: Parameters<LinkHost['instantiate']>[1],
    mayUnwind: boolean,
  ): Promise<CoreExports> {
    const manifest = this.#prepared.cores[module]?.manifest
    if (this.#held !== undefined) return this.#cores.instantiate(module, this.#held.imports(given))
    if (!mayUnwind || manifest === undefined) return this.#cores.instantiate(module, given)
    const { reentry } = this.#turns
    const exports = await this.#cores.instantiate(module, reentry.link(manifest, given))
    reentry.made(manifest, exports)
    return exports
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

  /**
   * Refuses further calls and lets go of everything, what the guest owns of its host's included. From inside of one of
   * its imports: the guest ends at its next check. Also at the key of `using`.
   */
  dispose(): void {
    this.#functions = new Map()
    this.#turns.letGo()
  }

  #letGo(): void {
    this.#cores.letGo()
    for (const table of this.#handles)
      try {
        table.dispose()
      } catch (error) {
        // Of the embedder's own: the others are ended all the same.
        this.#domain.fail(error)
      }
  }
}

function ended(): CaissonError {
  return new CaissonError(
    'isolate_destroyed',
    'The component ended, and takes no further call: open a new one.',
  )
}
