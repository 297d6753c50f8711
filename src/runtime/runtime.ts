/**
 * What an embedder holds: capabilities, an engine and pools, ready to run guests.
 *
 * Invariants
 * 1. A turn starts from a shallow host stack: there is always an `await` between the embedder's call and it.
 * 2. Every guest gives its instance back exactly once, however it ended.
 * 3. A run holds a place in the line from its start to its end, but for the times in which it only waits for timers.
 */
import { toHex } from '../base/bytes.ts'
import { ASYNC_DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { Ledger } from '../capability/budget.ts'
import { type CapabilityTable, createCapabilityTable } from '../capability/capability-table.ts'
import { createGate, type Gate, type GateOptions } from '../capability/gate.ts'
import { grantSet } from '../capability/grant-set.ts'
import { toolDigest } from '../capability/tool-digest.ts'
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
import {
  checkRestoreOptions,
  checkRunOptions,
  checkRuntimeOptions,
  checkSessionOptions,
} from './check-options.ts'
import { Checkpoints } from './checkpoints.ts'
import { failureHint } from './failure-hint.ts'
import { failureReport } from './failure-report.ts'
import { finalDigest } from './final-digest.ts'
import type { Guest } from './guest.ts'
import { GuestLine } from './guest-line.ts'
import { type GuestSession, openGuestSession } from './guest-session.ts'
import { KeptPrograms } from './kept-programs.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import { MachineMaker } from './machine-maker.ts'
import { type LimitBounds, machineStart } from './machine-start.ts'
import { ModuleDesk, type WithModules, withLoading } from './module-desk.ts'
import type {
  OpenSessionOptions,
  RepeatOptions,
  RestoreOptions,
  ResumeOptions,
  RunOptions,
  RuntimeOptions,
} from './options.ts'
import type { Outcome } from './outcome.ts'
import type { ForkOptions } from './plans/fork-run.ts'
import type { PlanRun, PlanRunOptions, ProposeOptions } from './plans/plan-run.ts'
import type { PlanRuns, PlanRunsParts } from './plans/plan-runs.ts'
import type { Verification, VerifyOptions } from './plans/verify/verify-run.ts'
import type { Platform } from './platform.ts'
import { DEFAULT_LEASE_MS } from './run-keeper.ts'
import { DEFAULT_DOMAIN } from './run-owner.ts'
import { sleepReport } from './sleep-report.ts'
import { soundClock } from './sound-clock.ts'
import { type Admitted, SteppedGuests } from './stepped-guests.ts'
import { TypeScriptDesk } from './typescript-desk.ts'
import { watchedStore } from './watched-store.ts'

const DEFAULT_MAX_MEMORY = 256 * 1024 * 1024
const DEFAULT_CONCURRENCY = 64

/** Runs guests. Open it once, use it for many, close it. */
export interface Runtime {
  /** Id of the engine build. */
  readonly engine: string
  /**
   * Runs a program to its end. Expected ends are data: this rejects only when it was used wrongly.
   * @throws CaissonError `invalid_argument`, `invalid_limit`, `unknown_capability`, `aborted`, `disposed`, `native_stack_low`
   */
  run(source: string, options?: RunOptions): Promise<Outcome>
  /** Starts a program and stops at its first calls: see `Guest`. */
  start(source: string, options?: RunOptions): Promise<Guest>
  /**
   * Opens a guest that is told one program after the other, as at a prompt: see `GuestSession`.
   * @throws CaissonError `invalid_argument`, `invalid_limit`, `unknown_capability`, `disposed`; with `from` as `restore`
   */
  openSession(options?: OpenSessionOptions): Promise<GuestSession>
  /**
   * Takes up a guest from a checkpoint that stands alone. Nothing is run or invoked until it is stepped, or told to
   * `finish`. Its pending calls pass the gate of now; no record tells whether they took effect before, so those that
   * are not idempotent are in doubt.
   * @throws CaissonError `corrupted`, `checkpoint_refused`, `checkpoint_too_large`, `engine_mismatch`,
   *   `encryption_required`, `invalid_argument`, `invalid_limit`, `unknown_capability`, `aborted`, `disposed`
   */
  restore(checkpoint: Uint8Array, options?: RestoreOptions): Promise<Guest>
  /**
   * Goes on with a run of the store: from its last checkpoint, through the answers that were recorded since, to its
   * end. Calls of which nobody knows whether they took effect are made again if they are idempotent or confirmed;
   * otherwise the run is suspended when it waits for nothing else. A run that has ended gives its outcome again.
   * @throws CaissonError as `restore`; `not_found`, `store_conflict`, `lease_lost`, `store_failed`, `unknown_call`
   */
  resume(run: string, options?: ResumeOptions): Promise<Outcome>
  /**
   * Takes a run of the store again, as its record has it: from its last checkpoint, with the recorded answers at their
   * times and in their order. Invokes nothing, changes nothing, and needs nobody's leave to write. It ends as the run
   * ended, `suspended` where the record ends before, or as `failed` with code `diverged`.
   * @throws CaissonError as `restore`; `not_found`, `store_failed`
   */
  repeat(run: string, options?: RepeatOptions): Promise<Outcome>
  /**
   * Proposes a run of a plan: it is kept in the store, and does nothing before somebody approves exactly this.
   * @throws CaissonError `invalid_plan`, `invalid_argument`, `unknown_capability`, `already_exists`, `store_failed`, `disposed`
   */
  propose(plan: Plan | DefinedPlan, options: ProposeOptions): Promise<PlanRun>
  /**
   * A run of a plan that is in the store, whoever proposed it.
   * @throws CaissonError `not_found`, `corrupted`, `checkpoint_refused`, `invalid_argument`, `store_failed`, `disposed`
   */
  planRun(run: string, options?: PlanRunOptions): Promise<PlanRun>
  /**
   * A new run from a point of another one: the first `at` events have happened in it too, and nothing of what came after.
   * Its keys and random streams are its own. It stands still until somebody confirms its point with `resume`.
   * @throws CaissonError `invalid_transition` where something was under way in the world at the point, `already_exists`,
   *   and as `planRun`
   */
  fork(run: string, options: ForkOptions): Promise<PlanRun>
  /**
   * Looks at a run of a plan again, from its record alone: that nothing in it was changed, and that all that can be
   * evaluated and executed again comes out the same, to the last unit of fuel. A difference is data, and names its place.
   * @throws CaissonError `not_found`, `invalid_argument`, `unsupported`, `aborted`, `store_failed`, `disposed`
   */
  verify(run: string, options?: VerifyOptions): Promise<Verification>
  /**
   * Receipts of all attempts of nodes of a run that have ended, in their order: signed, where the runtime has a signer.
   * @throws CaissonError as `planRun`
   */
  receipts(run: string, options?: PlanRunOptions): Promise<readonly SignedReceipt[]>
  /**
   * Refuses new guests, lets the ones at work finish, and gives idle memory back. Resolves when the threads that
   * waited for a guest have ended: await it before `process.exit`, which may crash Node while they end.
   */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Opens a runtime on a platform. Entry points wrap this as `openRuntime`. */
export async function createRuntime(platform: Platform, options: RuntimeOptions = {}): Promise<Runtime> {
  checkRuntimeOptions(options)
  const table = createCapabilityTable(options.capabilities ?? [])
  parseLimits(options.limits)
  const engines = options.engines ?? platform.engines
  const wanted = options.engineId ?? engines.ids[0]
  if (wanted === undefined) throw new CaissonError('engine_unavailable', 'The engine source has no engines.')
  const engine = await engines.load(wanted)
  return new PooledRuntime(platform, options, table, engine)
}

/** What the gates of all guests have in common. */
type GateParts = Omit<GateOptions, 'grants' | 'ledger' | 'guestId'>

/** What a guest asks of its gate. */
type GateWanted = Pick<RunOptions, 'grants' | 'guard'> & WithModules

function gatePartsOf({ clock }: Platform, options: RuntimeOptions): GateParts {
  const { callLog, approver, approveEffects, lease } = options
  const report = failureReport(options)
  return {
    clock,
    ...(callLog && { callLog }),
    ...(approver && { approver }),
    ...(approveEffects && { approveEffects }),
    ...(lease && { lease }),
    ...(report && { report }),
  }
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
  readonly #gateParts: GateParts
  readonly #typescript: TypeScriptDesk
  readonly #modules: ModuleDesk
  readonly #line: GuestLine
  readonly #stepped: SteppedGuests
  readonly #kept: KeptPrograms
  /** Makes idempotency keys of this runtime differ from those of any other. */
  #id: string | undefined
  #guests = 0
  /** Loaded with the first plan: who only runs programs does not download what runs plans. */
  #planRuns: PlanRuns | undefined
  #closed = false

  constructor(host: Platform, options: RuntimeOptions, table: CapabilityTable, loaded: LoadedEngine) {
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
    this.#gateParts = gatePartsOf(platform, options)
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
        this.#gateParts.report?.({ capability: LOAD_MODULE, callId: 0, code: 'capability_failed', cause }),
    })
    this.#line = new GuestLine(options.concurrency ?? DEFAULT_CONCURRENCY, options.concurrencyPerDomain)
    this.#stepped = new SteppedGuests({
      store: options.store,
      hostClock: this.#hostClock,
      checkpoints: this.#checkpoints,
      machines: this.#machines,
      line: this.#line,
      bounds: this.#bounds,
      gateFor: (options, guestId) => this.#gateFor(options, guestId),
      sessionOf: (machine, start, gate, signal) => this.#sessionOf(machine, start, gate, signal),
      complete: (outcome, start) => this.#complete(outcome, start),
    })
    this.#kept = this.#keptIn(options.store)
  }

  get engine(): string {
    return this.#machines.engine.id
  }

  async run(source: string, options: RunOptions = {}): Promise<Outcome> {
    if (options.run !== undefined) return this.#kept.run(source, options, options.run)
    const { session, machine, domain } = await this.#admit(source, options)
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
    return openGuestSession(
      {
        platform: this.#given,
        hostClock: this.#hostClock,
        typescript: this.#typescript,
        checkpoints: this.#checkpoints,
        machines: this.#machines,
        line: this.#line,
        bounds: this.#bounds,
        newGuestId: () => this.#newGuestId(),
        gateFor: (own, guestId) => this.#gateFor(own, guestId),
        sessionOf: (machine, start, gate, signal) => this.#sessionOf(machine, start, gate, signal),
        complete: (outcome, start) => this.#complete(outcome, start),
      },
      this.#modules.open(options),
    )
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
    const parts = {
      platform: this.#platform,
      hostClock: this.#hostClock,
      options: this.#options,
      checkpoints: this.#checkpoints,
      machines: this.#machines,
      modules: this.#modules,
      line: this.#line,
      bounds: this.#bounds,
      newGuestId: (): string => this.#newGuestId(),
      gateFor: (options: GateWanted, guestId: string, own: Partial<GateOptions>): Gate =>
        this.#gateFor(options, guestId, own),
      startOf: (source: string, options: RunOptions, gate: Gate): Promise<MachineStart> =>
        this.#startOf(source, options, gate.capabilities),
      complete: (outcome: DrivenOutcome, start: MachineStart): Outcome => this.#complete(outcome, start),
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
    return (await this.#loadPlans()).propose(plan, options)
  }

  async planRun(run: string, options: PlanRunOptions = {}): Promise<PlanRun> {
    return (await this.#loadPlans()).open(run, options)
  }

  async fork(run: string, options: ForkOptions): Promise<PlanRun> {
    return (await this.#loadPlans()).fork(run, options)
  }

  async verify(run: string, options: VerifyOptions = {}): Promise<Verification> {
    return (await this.#loadPlans()).verify(run, options)
  }

  async receipts(run: string, options: PlanRunOptions = {}): Promise<readonly SignedReceipt[]> {
    return (await this.#loadPlans()).receipts(run, options)
  }

  async #loadPlans(): Promise<PlanRuns> {
    // The promise is not kept: a load that failed is tried again, and edge workers refuse promises of other requests.
    const { PlanRuns } = await import('./plans/plan-runs.ts')
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
    this.#planRuns ??= new PlanRuns(this.#planRunParts())
    return this.#planRuns
  }

  #planRunParts(): PlanRunsParts {
    const store = this.#options.store ?? this.#given.openMemoryStore?.()
    if (store === undefined)
      throw new CaissonError('unsupported', 'Runs of plans are kept in a store: give one to openRuntime.')
    const kept = this.#keptIn(store)
    const signer = this.#options.receipts?.sign
    return {
      store: watchedStore(store),
      leaseMs: this.#options.leaseMs ?? DEFAULT_LEASE_MS,
      engine: this.engine,
      sealing: { ...this.#checkpoints.sealing, ...(signer && { signer }) },
      signatures: this.#given.signatures,
      hostClock: this.#hostClock,
      entropy: this.#platform.entropy,
      tools: (names) => Object.fromEntries(names.map((name) => [name, toolDigest(this.#table.get(name))])),
      openGate: (grants, { guestId, ...own }) =>
        // Nodes have the loop guard of their run.
        this.#gateFor({ grants, guard: false }, guestId, { clock: this.#hostClock, ...own }),
      runProgram: (source, options) =>
        options.run === undefined ? this.run(source, options) : kept.run(source, options, options.run),
      resumeProgram: (run, options) => kept.resume(run, options),
      repeatProgram: (run, options) => kept.repeat(run, options),
      inspect: async (checkpoint) => (await this.#checkpoints.inspect(checkpoint)).id,
      tookBefore: (owner) => kept.tookBefore(owner),
    }
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#planRuns?.close()
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
  async #admit(source: string, given: RunOptions): Promise<Admitted> {
    checkRunOptions(given)
    const options = this.#modules.open(given)
    const { domain = DEFAULT_DOMAIN, signal } = options
    const guestId = this.#newGuestId()
    const draft = await this.#startOf(source, options, [])
    const gate = this.#gateFor(options, guestId)
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

  #gateFor(
    { grants: given = [], guard = this.#options.guard ?? {}, programModules }: GateWanted,
    guestId: string,
    own: Partial<GateOptions> = {},
  ): Gate {
    const { table, grants } = withLoading(this.#table, given, programModules)
    return createGate({
      ...this.#gateParts,
      grants: grantSet(table, grants),
      ledger: new Ledger(),
      ...(guard !== false && { guard }),
      guestId,
      ...own,
    })
  }
}
