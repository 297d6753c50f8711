/**
 * What an embedder holds: capabilities, an engine and pools, ready to run guests.
 *
 * Invariants
 * 1. A turn starts from a shallow host stack: there is always an `await` between the embedder's call and it.
 * 2. Every guest gives its instance back exactly once, however it ended.
 * 3. A guest holds a place in the line while it works: a run from start to end, a stepped guest during its steps.
 */
import { toHex } from '../base/bytes.ts'
import { ASYNC_DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { Ledger } from '../capability/budget.ts'
import { type CapabilityTable, createCapabilityTable } from '../capability/capability-table.ts'
import { createGate, type Gate, type GateOptions } from '../capability/gate.ts'
import { grantSet } from '../capability/grant-set.ts'
import { driveMachine } from '../machine/driver.ts'
import { parseLimits } from '../machine/limits.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import { Stepper } from '../machine/stepper.ts'
import type { GuestError, Machine, MachineStart } from '../machine/turn.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import { checkRunOptions, checkRuntimeOptions } from './check-options.ts'
import { failureReport } from './failure-report.ts'
import { createGuest, type Guest } from './guest.ts'
import { GuestLine } from './guest-line.ts'
import { MachineMaker } from './machine-maker.ts'
import { type LimitBounds, machineStart } from './machine-start.ts'
import { missingGrants, missingGrantsText } from './missing-grants.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { Platform } from './platform.ts'

const DEFAULT_MAX_MEMORY = 256 * 1024 * 1024
const DEFAULT_CONCURRENCY = 64
const DEFAULT_DOMAIN = 'default'

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
  /** Refuses new guests, lets the ones at work finish, and gives idle memory back. */
  close(): void
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
  return new PooledRuntime({ ...platform, ...pick(options) }, options, table, engine)
}

/** What the gates of all guests have in common. */
type GateParts = Omit<GateOptions, 'grants' | 'ledger' | 'guestId'>

function gatePartsOf({ clock }: Platform, options: RuntimeOptions): GateParts {
  const { callLog, approver, lease } = options
  const report = failureReport(options)
  return {
    clock,
    ...(callLog && { callLog }),
    ...(approver && { approver }),
    ...(lease && { lease }),
    ...(report && { report }),
  }
}

function pick({ clock, entropy }: RuntimeOptions): Partial<Platform> {
  return { ...(clock && { clock }), ...(entropy && { entropy }) }
}

/** A guest between admission and release. */
interface Admitted {
  readonly session: SessionOptions
  readonly machine: Machine
  readonly domain: string
}

class PooledRuntime implements Runtime {
  readonly #platform: Platform
  readonly #options: RuntimeOptions
  readonly #table: CapabilityTable
  readonly #bounds: LimitBounds
  readonly #machines: MachineMaker
  readonly #gateParts: GateParts
  readonly #line: GuestLine
  /** Makes idempotency keys of this runtime differ from those of any other. */
  #id: string | undefined
  #guests = 0

  constructor(platform: Platform, options: RuntimeOptions, table: CapabilityTable, loaded: LoadedEngine) {
    const defaults = parseLimits(options.limits)
    this.#platform = platform
    this.#options = options
    this.#table = table
    this.#bounds = {
      defaults,
      maxMemoryBytes: options.maxMemoryBytes ?? Math.max(DEFAULT_MAX_MEMORY, defaults.memoryBytes),
    }
    this.#machines = new MachineMaker(platform, options, loaded, this.#bounds.maxMemoryBytes)
    this.#gateParts = gatePartsOf(platform, options)
    this.#line = new GuestLine(options.concurrency ?? DEFAULT_CONCURRENCY, options.concurrencyPerDomain)
  }

  get engine(): string {
    return this.#machines.engine.id
  }

  async run(source: string, options: RunOptions = {}): Promise<Outcome> {
    const { session, machine, domain } = await this.#admit(source, options)
    try {
      const outcome = this.#complete(await driveMachine(session), session.start)
      return options.stateDigest === true ? { ...outcome, stateDigest: await machine.stateDigest() } : outcome
    } finally {
      machine.dispose()
      this.#line.leave(domain)
    }
  }

  async start(source: string, options: RunOptions = {}): Promise<Guest> {
    const { session, machine, domain } = await this.#admit(source, options)
    try {
      const stepper = await Stepper.start({ ...session, atWork: (step) => this.#atWork(domain, step) })
      return createGuest({
        stepper,
        complete: (outcome) => this.#complete(outcome, session.start),
        release: () => machine.dispose(),
      })
    } catch (error) {
      machine.dispose()
      throw error
    } finally {
      this.#line.leave(domain)
    }
  }

  async #atWork<T>(domain: string, step: () => Promise<T>): Promise<T> {
    await this.#line.enterAgain(domain)
    try {
      return await step()
    } finally {
      this.#line.leave(domain)
    }
  }

  close(): void {
    this.#line.close()
    this.#machines.close()
  }

  [ASYNC_DISPOSE](): Promise<void> {
    this.close()
    return Promise.resolve()
  }

  /** Adds what only the runtime knows. `outcome` is fresh, and nobody else's. */
  #complete(outcome: DrivenOutcome, start: MachineStart): Outcome {
    const completed: Outcome = Object.assign(outcome, { engine: this.engine })
    if (completed.status !== 'failed') return completed
    const hint = this.#hint(completed.error, start)
    return hint === undefined ? completed : Object.assign(completed, { hint })
  }

  #hint(error: GuestError, { source, capabilities }: MachineStart): string | undefined {
    const granted = new Set(capabilities.map(({ name }) => name))
    const withheld = this.#table.names.filter((name) => !granted.has(name))
    const names = missingGrants(error, source, withheld)
    const text = missingGrantsText(names)
    return text && `${text}: add ${names.map((name) => `'${name}'`).join(', ')} to grants.`
  }

  /** Checks everything that the embedder gave before any resource is taken. */
  async #admit(source: string, options: RunOptions): Promise<Admitted> {
    checkRunOptions(options)
    const { domain = DEFAULT_DOMAIN, signal } = options
    const gate = this.#gateFor(options)
    const start = machineStart(source, options, gate.capabilities, this.#bounds, this.#platform)
    await this.#line.enter(domain, signal)
    let machine: Machine
    try {
      machine = await this.#machines.open(options, start.limits, gate)
    } catch (error) {
      this.#line.leave(domain)
      throw error
    }
    return {
      machine,
      domain,
      session: {
        machine,
        start,
        gate,
        clock: this.#platform.clock,
        callLog: this.#options.callLog,
        signal,
      },
    }
  }

  #gateFor(options: RunOptions): Gate {
    // Drawn with the first guest: edge workers refuse randomness while a module loads.
    this.#id ??= toHex(this.#platform.entropy.bytes(8))
    this.#guests += 1
    return createGate({
      ...this.#gateParts,
      grants: grantSet(this.#table, options.grants ?? []),
      ledger: new Ledger(),
      guestId: `${this.#id}-${this.#guests}`,
    })
  }
}
