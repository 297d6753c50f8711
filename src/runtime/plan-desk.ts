/**
 * Runs of plans, as the runtime offers them: loaded with the first plan, and lent what they need of the runtime.
 *
 * Invariant: who only runs programs does not download what runs plans, and a runtime that was closed takes none.
 */
import { CaissonError } from '../base/errors.ts'
import type { CapabilityTable } from '../capability/capability-table.ts'
import type { Gate } from '../capability/gate.ts'
import { toolDigest } from '../capability/tool-digest.ts'
import type { MachineStart } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { Checkpoints } from './checkpoints.ts'
import type { GateOwn } from './gate-maker.ts'
import type { KeptPrograms } from './kept-programs.ts'
import type { MachineMaker } from './machine-maker.ts'
import type { RunOptions, RuntimeOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { PlanRuns, PlanRunsParts } from './plans/plan-runs.ts'
import type { WasmTools } from './plans/wasm-work.ts'
import type { Platform } from './platform.ts'
import { DEFAULT_LEASE_MS } from './run-keeper.ts'
import type { Under } from './run-span.ts'
import { watchedStore } from './watched-store.ts'

/** What the runtime lends. */
export interface PlanDeskParts {
  readonly platform: Platform
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Clock
  readonly options: RuntimeOptions
  readonly table: CapabilityTable
  readonly checkpoints: Checkpoints
  readonly machines: MachineMaker
  gateFor(options: Pick<RunOptions, 'grants' | 'guard'>, guestId: string, own: GateOwn): Gate
  run(source: string, options: RunOptions, under: Under): Promise<Outcome>
  startOf(source: string, options: RunOptions): Promise<MachineStart>
  keptIn(store: RunStore): KeptPrograms
  readonly wasm: WasmTools
}

export class PlanDesk {
  readonly #parts: PlanDeskParts
  #runs: PlanRuns | undefined
  #closed = false

  constructor(parts: PlanDeskParts) {
    this.#parts = parts
  }

  /** @throws CaissonError `disposed`, `unsupported` */
  async load(): Promise<PlanRuns> {
    if (this.#runs !== undefined && !this.#closed) return this.#runs
    // The promise is not kept: a load that failed is tried again, and edge workers refuse promises of other requests.
    const { PlanRuns } = await import('./plans/plan-runs.ts')
    if (this.#closed) throw new CaissonError('disposed', 'The runtime was closed.')
    this.#runs ??= new PlanRuns(this.#lend())
    return this.#runs
  }

  /** Brings all runs to rest. */
  async close(): Promise<void> {
    this.#closed = true
    await this.#runs?.close()
  }

  #lend(): PlanRunsParts {
    const {
      platform,
      hostClock,
      options,
      table,
      checkpoints,
      machines,
      gateFor,
      run,
      startOf,
      keptIn,
      wasm,
    } = this.#parts
    const store = options.store ?? platform.openMemoryStore?.()
    if (store === undefined)
      throw new CaissonError('unsupported', 'Runs of plans are kept in a store: give one to openRuntime.')
    const kept = keptIn(store)
    const signer = options.receipts?.sign
    return {
      store: watchedStore(store),
      states: options.receipts?.states === true,
      scope: [...new Set(options.scope ?? [])],
      leaseMs: options.leaseMs ?? DEFAULT_LEASE_MS,
      engine: machines.engine.id,
      sealing: { ...checkpoints.sealing, ...(signer && { signer }) },
      imageEvery: options.checkpoints?.every,
      signatures: platform.signatures,
      hostClock,
      entropy: platform.entropy,
      tools: (names) => Object.fromEntries(names.map((name) => [name, toolDigest(table.get(name))])),
      openGate: (grants, { guestId, ...own }) =>
        // Nodes have the loop guard of their run.
        gateFor({ grants, guard: false }, guestId, own),
      telemetry: options.telemetry,
      // What is a part of no node is not told.
      runProgram: (source, own, under, key) =>
        own.run === undefined
          ? run(source, own, under ?? null)
          : kept.run(source, own, own.run, under ?? null, key),
      startOf,
      wasm,
      wasmCheck: async () => ({
        wasi: (await platform.modules?.())?.wasi,
        isSync: (name) => {
          const known = table.find(name)
          return known && known.sync === true
        },
        monotonic: platform.clock.monotonic,
      }),
      resumeProgram: (name, own, under, key) => kept.resume(name, own, under ?? null, key),
      repeatProgram: (name, own, key) => kept.repeat(name, own, key),
      inspect: async (checkpoint) => (await checkpoints.inspect(checkpoint)).id,
      tookBefore: (owner, key) => kept.tookBefore(owner, key),
    }
  }
}
