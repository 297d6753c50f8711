/**
 * The runtime: the parts that all guests share, put together, and the way of a guest from its options to its outcome.
 *
 * Invariants
 * 1. A turn starts from a shallow host stack: there is always an `await` between the embedder's call and it.
 * 2. Every guest gives its instance back exactly once, however it ended.
 * 3. A run holds a place in the line from its start to its end, but for the times in which it only waits for timers.
 */
import { toHex } from '../base/bytes.ts'
import { ASYNC_DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { type CapabilityTable, createCapabilityTable } from '../capability/capability-table.ts'
import type { Gate } from '../capability/gate.ts'
import type { OpenComponent } from '../component/open-component.ts'
import type { PrebuiltComponent } from '../component/prebuilt-manifest.ts'
import type { DefinedPlan } from '../graph/plan/define-plan.ts'
import type { Plan } from '../graph/plan/plan.ts'
import type { SignedReceipt } from '../journal/receipt.ts'
import { driveMachine } from '../machine/driver.ts'
import { parseLimits } from '../machine/limits.ts'
import { LOAD_MODULE } from '../machine/module-graph.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import type { GuestCapability, GuestError, Machine, MachineStart } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { TelemetrySpan } from '../ports/telemetry.ts'
import {
  checkRestoreOptions,
  checkRunOptions,
  checkRuntimeOptions,
  checkSessionOptions,
} from './check-options.ts'
import { Checkpoints } from './checkpoints.ts'
import { ComponentDesk } from './component-desk.ts'
import type {
  OpenComponentOptions,
  ResumeComponentOptions,
  RunComponentOptions,
  RunComponentOutcome,
} from './components/component-options.ts'
import { failureHint } from './failure-hint.ts'
import { finalDigest } from './final-digest.ts'
import { GateMaker, type GateOwn, type GateWanted } from './gate-maker.ts'
import type { Guest } from './guest.ts'
import { GuestLine } from './guest-line.ts'
import { type GuestSession, type GuestSessionParts, openGuestSession } from './guest-session.ts'
import { KeptPrograms, type KeptProgramsParts } from './kept-programs.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import { MachineMaker } from './machine-maker.ts'
import { type LimitBounds, machineStart } from './machine-start.ts'
import { ModuleDesk, type WithModules } from './module-desk.ts'
import { ModuleRunsDesk } from './module-runs-desk.ts'
import type {
  OpenSessionOptions,
  RepeatOptions,
  RestoreOptions,
  ResumeOptions,
  RunOptions,
  RuntimeOptions,
} from './options.ts'
import type { Outcome } from './outcome.ts'
import { PlanDesk } from './plan-desk.ts'
import type { ForkOptions } from './plans/fork-run.ts'
import { refusePartName } from './plans/part-names.ts'
import type {
  CheckPlanOptions,
  CompactOptions,
  EraseOptions,
  PlanRun,
  PlanRunOptions,
  ProposeOptions,
} from './plans/plan-run.ts'
import type { Verification, VerifyOptions } from './plans/verify/verification.ts'
import type { Platform } from './platform.ts'
import { DEFAULT_DOMAIN } from './run-owner.ts'
import { beginRunSpan, endRunSpan, failRunSpan, type Under } from './run-span.ts'
import type { Runtime } from './runtime.ts'
import { sleepReport } from './sleep-report.ts'
import { soundClock } from './sound-clock.ts'
import { type Admitted, SteppedGuests } from './stepped-guests.ts'
import type { CallSpans } from './traced-gate.ts'
import { TypeScriptDesk } from './typescript-desk.ts'
import type {
  ModuleOutcome,
  PreparedModule,
  PrepareModuleOptions,
  ResumeModuleOptions,
  RunModuleOptions,
} from './wasi/module-options.ts'

const DEFAULT_MAX_MEMORY = 256 * 1024 * 1024
const DEFAULT_CONCURRENCY = 64

/** Opens a runtime on a platform. Entry points wrap this as `openRuntime`. */
export async function createRuntime(platform: Platform, options: RuntimeOptions = {}): Promise<Runtime> {
  checkRuntimeOptions(options)
  const table = createCapabilityTable(options.capabilities ?? [])
  parseLimits(options.limits)
  const engines = options.engines ?? platform.engines
  const wanted = options.engineId ?? engines.ids[0]
  if (wanted === undefined) throw new CaissonError('engine_unavailable', 'The engine source has no engines.')
  const engine = await engines.load(wanted)
  const { telemetry } = options
  if (telemetry === undefined) return new PooledRuntime(platform, options, table, engine)
  const [{ GuardedTelemetry }, { CallSpans }] = await Promise.all([
    import('./guarded-telemetry.ts'),
    import('./traced-gate.ts'),
  ])
  const told = { ...options, telemetry: new GuardedTelemetry(telemetry) }
  return new PooledRuntime(platform, told, table, engine, CallSpans)
}

/** What the ways of running a guest share. */
type LentParts = Omit<GuestSessionParts, 'platform' | 'typescript' | 'hostClock' | 'gateFor'> & {
  readonly hostClock: Clock
  gateFor(options: GateWanted, guestId: string, own?: GateOwn): Gate
}

function pick({ clock, entropy }: RuntimeOptions): Partial<Platform> {
  return { ...(clock && { clock }), ...(entropy && { entropy }) }
}

class PooledRuntime implements Runtime {
  readonly #platform: Platform
  /** With the clock as it was given: a guest does not start at a time that is none. */
  readonly #given: Platform
  /** The host's own, whatever the time in guests is. */
  readonly #hostClock: Clock
  readonly #options: RuntimeOptions
  readonly #table: CapabilityTable
  readonly #bounds: LimitBounds
  readonly #machines: MachineMaker
  readonly #checkpoints: Checkpoints
  readonly #gates: GateMaker
  readonly #typescript: TypeScriptDesk
  readonly #modules: ModuleDesk
  readonly #line: GuestLine
  readonly #lent: LentParts
  readonly #stepped: SteppedGuests
  readonly #kept: KeptPrograms
  readonly #plans: PlanDesk
  readonly #components: ComponentDesk
  readonly #moduleRuns: ModuleRunsDesk
  /** Makes idempotency keys of this runtime differ from those of any other. */
  #id: string | undefined
  #guests = 0

  /** @param spans what tells of calls: fetched where somebody is told */
  constructor(
    host: Platform,
    options: RuntimeOptions,
    table: CapabilityTable,
    loaded: LoadedEngine,
    spans?: typeof CallSpans,
  ) {
    const defaults = parseLimits(options.limits)
    const given = { ...host, ...pick(options) }
    const platform = { ...given, clock: soundClock(given.clock) }
    this.#platform = platform
    this.#given = given
    this.#hostClock = soundClock(host.clock)
    this.#options = options
    this.#table = table
    this.#bounds = {
      defaults,
      maxMemoryBytes: options.maxMemoryBytes ?? Math.max(DEFAULT_MAX_MEMORY, defaults.memoryBytes),
    }
    this.#machines = new MachineMaker(platform, options, loaded, this.#bounds.maxMemoryBytes)
    const { engine, base } = this.#machines
    this.#checkpoints = new Checkpoints(platform.checkpoints, options.checkpoints ?? {}, engine.id, base)
    this.#gates = new GateMaker(platform.clock, options, table, spans)
    this.#typescript = new TypeScriptDesk({
      machines: this.#machines,
      load: platform.typescript,
      monotonic: platform.clock.monotonic,
    })
    this.#modules = new ModuleDesk({
      machines: this.#machines,
      monotonic: platform.clock.monotonic,
      prepareFor: ({ domain, signal }) => this.#typescript.prepareFor({ domain, signal, limits: defaults }),
      report: (cause) =>
        this.#gates.report?.({ capability: LOAD_MODULE, callId: 0, code: 'capability_failed', cause }),
    })
    this.#line = new GuestLine(options.concurrency ?? DEFAULT_CONCURRENCY, options.concurrencyPerDomain)
    this.#lent = {
      hostClock: this.#hostClock,
      checkpoints: this.#checkpoints,
      machines: this.#machines,
      line: this.#line,
      bounds: this.#bounds,
      newGuestId: () => this.#newGuestId(),
      gateFor: (wanted, guestId, own) => this.#gates.open(wanted, guestId, own),
      sessionOf: (machine, start, gate, signal) => this.#sessionOf(machine, start, gate, signal),
      complete: (outcome, start) => this.#complete(outcome, start),
    }
    this.#stepped = new SteppedGuests({ ...this.#lent, store: options.store })
    this.#kept = this.#keptIn(options.store)
    this.#components = new ComponentDesk({
      ...this.#lent,
      profile: loaded.profile,
      platform,
      options,
      table,
    })
    this.#moduleRuns = new ModuleRunsDesk({ ...this.#lent, platform, options, profile: loaded.profile })
    this.#plans = new PlanDesk({
      ...this.#lent,
      platform,
      options,
      table,
      run: (source, own, under) => this.#run(source, own, under),
      startOf: (source, own) => this.#startOf(source, this.#modules.open(own), []),
      keptIn: (store) => this.#keptIn(store),
      wasm: {
        modules: () => this.#moduleRuns.load(),
        components: () => this.#components.runs(),
      },
    })
  }

  get engine(): string {
    return this.#machines.engine.id
  }

  async run(source: string, options: RunOptions = {}): Promise<Outcome> {
    if (typeof options.run === 'string') refusePartName(options.run)
    if (options.run !== undefined) return this.#kept.run(source, options, options.run)
    return this.#run(source, options, undefined)
  }

  async #run(source: string, options: RunOptions, under: Under): Promise<Outcome> {
    const { telemetry } = this.#options
    if (telemetry === undefined) return this.#runUntold(source, options, undefined)
    const span = beginRunSpan(telemetry, under, { engine: this.engine })
    try {
      const outcome = await this.#runUntold(source, options, span)
      const { stateDigest } = outcome
      endRunSpan(span, outcome, stateDigest === undefined ? {} : { stateDigest })
      return outcome
    } catch (error) {
      failRunSpan(span, error)
      throw error
    }
  }

  /** @param span that tells of it */
  async #runUntold(source: string, options: RunOptions, span: TelemetrySpan | undefined): Promise<Outcome> {
    const { session, machine, domain } = await this.#admit(source, options, span)
    const place = new LinePlace(this.#line, domain, true)
    try {
      const asleep = holdsThread(options) ? undefined : place.asleep
      const outcome = this.#complete(await driveMachine({ ...session, asleep }), session.start)
      const stateDigest = await finalDigest(machine, options)
      return stateDigest === undefined ? outcome : { ...outcome, stateDigest }
    } finally {
      machine.dispose()
      place.leave()
    }
  }

  async start(source: string, options: RunOptions = {}): Promise<Guest> {
    return this.#stepped.start(await this.#admit(source, options), options)
  }

  async openSession(options: OpenSessionOptions = {}): Promise<GuestSession> {
    checkSessionOptions(options)
    const parts = { ...this.#lent, platform: this.#given, typescript: this.#typescript }
    return openGuestSession(parts, this.#modules.open(options))
  }

  async restore(checkpoint: Uint8Array, options: RestoreOptions = {}): Promise<Guest> {
    checkRestoreOptions(options)
    return this.#stepped.restore(checkpoint, this.#modules.open(options))
  }

  async resume(run: string, options: ResumeOptions = {}): Promise<Outcome> {
    return this.#kept.resume(run, options)
  }

  async repeat(run: string, options: RepeatOptions = {}): Promise<Outcome> {
    return this.#kept.repeat(run, options)
  }

  #keptIn(store: RunStore | undefined): KeptPrograms {
    const parts: KeptProgramsParts = {
      ...this.#lent,
      platform: this.#platform,
      options: this.#options,
      modules: this.#modules,
      startOf: (source, options, gate) => this.#startOf(source, options, gate.capabilities),
    }
    return new KeptPrograms(parts, store)
  }

  /** What a machine is started with: its source in JavaScript, and the modules that it imports. */
  async #startOf(
    source: string,
    options: RunOptions & WithModules,
    capabilities: readonly GuestCapability[],
  ): Promise<MachineStart> {
    const draft = machineStart(source, options, capabilities, this.#bounds, this.#given)
    return this.#modules.start(await this.#typescript.start(draft, options), options)
  }

  async propose(plan: Plan | DefinedPlan, options: ProposeOptions): Promise<PlanRun> {
    return (await this.#plans.load()).propose(plan, options)
  }

  async checkPlan(plan: Plan | DefinedPlan, options: CheckPlanOptions = {}): Promise<DefinedPlan> {
    return (await this.#plans.load()).check(plan, options)
  }

  async planRun(run: string, options: PlanRunOptions = {}): Promise<PlanRun> {
    return (await this.#plans.load()).open(run, options)
  }

  async fork(run: string, options: ForkOptions): Promise<PlanRun> {
    return (await this.#plans.load()).fork(run, options)
  }

  async verify(run: string, options: VerifyOptions = {}): Promise<Verification> {
    return (await this.#plans.load()).verify(run, options)
  }

  async openComponent(
    source: Uint8Array | PrebuiltComponent,
    options: OpenComponentOptions = {},
  ): Promise<OpenComponent> {
    return this.#components.open(source, options)
  }

  async runComponent(
    source: Uint8Array | PrebuiltComponent,
    options: RunComponentOptions = {},
  ): Promise<RunComponentOutcome> {
    return (await this.#components.runs()).run(source, options)
  }

  async resumeComponent(
    run: string,
    source: Uint8Array | PrebuiltComponent,
    options: ResumeComponentOptions = {},
  ): Promise<RunComponentOutcome> {
    return (await this.#components.runs()).resume(run, source, options)
  }

  async runModule(
    module: Uint8Array | PreparedModule,
    options: RunModuleOptions = {},
  ): Promise<ModuleOutcome> {
    return (await this.#moduleRuns.load()).run(module, options)
  }

  async resumeModule(
    run: string,
    module: Uint8Array | PreparedModule,
    options: ResumeModuleOptions = {},
  ): Promise<ModuleOutcome> {
    return (await this.#moduleRuns.load()).resume(run, module, options)
  }

  async prepareModule(module: Uint8Array, options: PrepareModuleOptions = {}): Promise<PreparedModule> {
    return (await this.#moduleRuns.load()).prepare(module, options)
  }

  async receipts(run: string, options: PlanRunOptions = {}): Promise<readonly SignedReceipt[]> {
    return (await this.#plans.load()).receipts(run, options)
  }

  async compact(run: string, options: CompactOptions): Promise<void> {
    return (await this.#plans.load()).compact(run, options)
  }

  async erase(run: string, options: EraseOptions): Promise<void> {
    return (await this.#plans.load()).erase(run, options)
  }

  async exportRun(run: string, options: PlanRunOptions = {}): Promise<Uint8Array> {
    return (await this.#plans.load()).export(run, options)
  }

  async importRun(bytes: Uint8Array, options: PlanRunOptions = {}): Promise<PlanRun> {
    return (await this.#plans.load()).import(bytes, options)
  }

  async close(): Promise<void> {
    this.#components.close()
    this.#moduleRuns.close()
    await this.#plans.close()
    this.#line.close()
    this.#typescript.close()
    return this.#machines.close()
  }

  [ASYNC_DISPOSE](): Promise<void> {
    return this.close()
  }

  /** Adds what only the runtime knows. `outcome` is fresh, and nobody else's. */
  #complete(outcome: DrivenOutcome, start: MachineStart): Outcome {
    const completed: Outcome = Object.assign(outcome, { engine: this.engine })
    if (completed.status !== 'failed') return completed
    const hint = this.#hint(completed.error, start)
    return hint === undefined ? completed : Object.assign(completed, { hint })
  }

  #hint(error: GuestError, start: MachineStart): string | undefined {
    const { source, modules, capabilities } = start
    const file = error.position?.file
    const text = modules?.files.find(({ name }) => name === file)?.code ?? source
    const granted = new Set(capabilities.map(({ name }) => name))
    const withheld = this.#table.names.filter((name) => !granted.has(name))
    return failureHint(error, text, withheld, [...granted])
  }

  /** Checks everything that the embedder gave before any resource is taken. */
  async #admit(source: string, given: RunOptions, span?: TelemetrySpan): Promise<Admitted> {
    checkRunOptions(given)
    const options = this.#modules.open(given)
    const { domain = DEFAULT_DOMAIN, signal } = options
    const guestId = this.#newGuestId()
    const draft = await this.#startOf(source, options, [])
    const gate = this.#gates.open(options, guestId, span && { spanOf: () => span })
    const start = { ...draft, capabilities: gate.capabilities }
    await this.#line.enter(domain, signal)
    let machine: Machine
    try {
      machine = await this.#machines.open(options, start.limits, gate.sync)
    } catch (error) {
      this.#line.leave(domain)
      throw error
    }
    const session = this.#sessionOf(machine, start, gate, signal)
    const { nowMs } = options
    return {
      machine,
      domain,
      guestId,
      session: nowMs === undefined ? session : { ...session, now: () => nowMs },
    }
  }

  #sessionOf(
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): SessionOptions {
    const { clock } = this.#platform
    const { callLog } = this.#options
    return { machine, start, gate, clock, callLog, signal, onSleep: sleepReport(this.#options) }
  }

  #newGuestId(): string {
    // Drawn with the first guest: edge workers refuse randomness while a module loads.
    this.#id ??= toHex(this.#platform.entropy.bytes(8))
    this.#guests += 1
    return `${this.#id}-${this.#guests}`
  }
}
