/**
 * What an embedder holds: capabilities, an engine and pools, ready to run guests.
 *
 * Invariants
 * 1. A turn starts from a shallow host stack: there is always an `await` between the embedder's call and it.
 * 2. Every guest gives its instance back exactly once, however it ended.
 * 3. Instances are never shared between trust domains, not even one after the other.
 */
import { toHex } from '../base/bytes.ts'
import { ASYNC_DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { Ledger } from '../capability/budget.ts'
import { type CapabilityTable, createCapabilityTable } from '../capability/capability-table.ts'
import { createGate, type Gate, type GateOptions } from '../capability/gate.ts'
import { grantSet } from '../capability/grant-set.ts'
import { type BaseImage, baseImageOf } from '../isolate/base-image.ts'
import { type Engine, parseEngine } from '../isolate/engine.ts'
import { InstancePool } from '../isolate/instance-pool.ts'
import { Isolate } from '../isolate/isolate.ts'
import { checkNativeStack } from '../isolate/native-stack.ts'
import { SEED_BYTES, seedFromInteger } from '../isolate/randomness.ts'
import { driveMachine } from '../machine/driver.ts'
import { type Limits, parseLimits } from '../machine/limits.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import { Stepper } from '../machine/stepper.ts'
import type { GuestError, Machine, MachineStart } from '../machine/turn.ts'
import type { LoadedEngine } from '../ports/engine-source.ts'
import { checkRunOptions, checkRuntimeOptions } from './check-options.ts'
import { DomainPools } from './domain-pools.ts'
import { failureReport } from './failure-report.ts'
import { createGuest, type Guest } from './guest.ts'
import { GuestLine } from './guest-line.ts'
import { missingGrants, missingGrantsText } from './missing-grants.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { Platform } from './platform.ts'
import { WorkerPool } from './worker-pool.ts'

const PAGE = 65_536
const LONE_SURROGATE = /[\ud800-\udfff]/u
const DEFAULT_MAX_MEMORY = 256 * 1024 * 1024
const DEFAULT_KEEP = 4

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
  const defaults = parseLimits(options.limits)
  const engines = options.engines ?? platform.engines
  const wanted = options.engineId ?? engines.ids[0]
  if (wanted === undefined) throw new CaissonError('engine_unavailable', 'The engine source has no engines.')
  const engine = await engines.load(wanted)
  return new PooledRuntime({ ...platform, ...pick(options) }, options, table, defaults, engine)
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

function wholePages(limits: Limits): Limits {
  return { ...limits, memoryBytes: Math.floor(limits.memoryBytes / PAGE) * PAGE }
}

function pick({ clock, entropy }: RuntimeOptions): Partial<Platform> {
  return { ...(clock && { clock }), ...(entropy && { entropy }) }
}

/** A guest between admission and release. */
interface Admitted {
  readonly session: SessionOptions
  readonly machine: Machine
  readonly release: () => void
}

class PooledRuntime implements Runtime {
  readonly #platform: Platform
  readonly #options: RuntimeOptions
  readonly #table: CapabilityTable
  readonly #defaults: Limits
  readonly #engine: Engine
  readonly #base: BaseImage
  readonly #gateParts: GateParts
  readonly #line: GuestLine
  readonly #pools: DomainPools
  readonly #workers: WorkerPool
  /** Makes idempotency keys of this runtime differ from those of any other. */
  #id: string | undefined
  #guests = 0

  constructor(
    platform: Platform,
    options: RuntimeOptions,
    table: CapabilityTable,
    defaults: Limits,
    loaded: LoadedEngine,
  ) {
    const engine = parseEngine(loaded)
    this.#platform = platform
    this.#options = options
    this.#table = table
    this.#defaults = defaults
    this.#engine = engine
    this.#base = baseImageOf(engine)
    this.#gateParts = gatePartsOf(platform, options)
    this.#line = new GuestLine(options.concurrency ?? 64)
    const maxPages = Math.ceil((options.maxMemoryBytes ?? DEFAULT_MAX_MEMORY) / PAGE)
    const keep = options.keepInstances ?? DEFAULT_KEEP
    const { monotonic } = platform.clock
    this.#pools = new DomainPools(
      () => new InstancePool({ engine, base: this.#base, maxPages, keep, monotonic }),
    )
    this.#workers = new WorkerPool({
      openWorker: platform.openWorker,
      engine: loaded,
      maxPages,
      keep,
      monotonic,
    })
  }

  get engine(): string {
    return this.#engine.id
  }

  async run(source: string, options: RunOptions = {}): Promise<Outcome> {
    const { session, machine, release } = await this.#admit(source, options)
    try {
      const outcome = this.#complete(await driveMachine(session), session.start)
      return options.stateDigest === true ? { ...outcome, stateDigest: await machine.stateDigest() } : outcome
    } finally {
      release()
    }
  }

  async start(source: string, options: RunOptions = {}): Promise<Guest> {
    const { session, release } = await this.#admit(source, options)
    try {
      const stepper = await Stepper.start(session)
      return createGuest(stepper, (outcome) => this.#complete(outcome, session.start), release)
    } catch (error) {
      release()
      throw error
    }
  }

  close(): void {
    this.#line.close()
    this.#pools.close()
    this.#workers.close()
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
    const gate = this.#gateFor(options)
    const start = this.#startOf(source, options, gate)
    await this.#line.enter(options.signal)
    let machine: Machine
    try {
      machine = await this.#open(options, start.limits, gate)
    } catch (error) {
      this.#line.leave()
      throw error
    }
    let released = false
    return {
      machine,
      session: {
        machine,
        start,
        gate,
        clock: this.#platform.clock,
        callLog: this.#options.callLog,
        signal: options.signal,
      },
      release: () => {
        if (released) return
        released = true
        machine.dispose()
        this.#line.leave()
      },
    }
  }

  #open({ domain = 'default', thread }: RunOptions, limits: Limits, gate: Gate): Machine | Promise<Machine> {
    if (thread === 'worker') return this.#workers.acquire(domain, gate.sync)
    checkNativeStack(this.#engine, this.#base, limits.stackBytes)
    return new Isolate(this.#pools.get(domain).acquire(), gate.sync)
  }

  #startOf(source: string, options: RunOptions, gate: Gate): MachineStart {
    if (typeof source !== 'string') {
      throw new CaissonError('invalid_argument', 'The program must be a string of source code.')
    }
    // The engine reads UTF-8, which has no form for them: they would silently become other characters.
    const lone = source.search(LONE_SURROGATE)
    if (lone >= 0) {
      throw new CaissonError(
        'invalid_argument',
        `The program has a lone surrogate at index ${lone}; write it as an escape such as "\\ud800".`,
        { details: { index: lone } },
      )
    }
    const limits = options.limits === undefined ? this.#defaults : parseLimits(options.limits, this.#defaults)
    const most = this.#options.maxMemoryBytes ?? Math.max(DEFAULT_MAX_MEMORY, this.#defaults.memoryBytes)
    if (limits.memoryBytes > most) {
      throw new CaissonError(
        'invalid_limit',
        `Limit memoryBytes is ${limits.memoryBytes}; this runtime allows ${most} (option maxMemoryBytes).`,
        { details: { limit: 'memoryBytes', value: limits.memoryBytes, max: most, unit: 'bytes' } },
      )
    }
    return {
      source,
      form: options.form ?? 'auto',
      fileName: options.fileName ?? 'program.js',
      input: options.input,
      capabilities: gate.capabilities,
      limits: limits.memoryBytes % PAGE === 0 ? limits : wholePages(limits),
      seed: this.#seedOf(options.seed),
      nowMs: this.#platform.clock.now(),
    }
  }

  #seedOf(seed: RunOptions['seed']): Uint8Array {
    if (seed === undefined) return this.#platform.entropy.bytes(SEED_BYTES)
    if (typeof seed === 'number') return seedFromInteger(seed)
    if (seed instanceof Uint8Array && seed.length === SEED_BYTES) return seed.slice()
    throw new CaissonError('invalid_argument', `A seed is a whole number from 0, or ${SEED_BYTES} bytes.`)
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
