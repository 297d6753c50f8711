/**
 * WASI modules as guests of a runtime: run to their end, or kept in a store and gone on with. Everything beside their
 * machine (gate, session, line, logs, checkpoints) is that of other guests.
 *
 * Invariants
 * 1. A machine that was opened is disposed, and a place in the line that was taken is given back, however it ended.
 * 2. What is wrong with the module or the options is told before a place is taken.
 * 3. A kept run is gone on with by the module that it was begun with, and no other: their engines are compared.
 */
import { CaissonError } from '../../base/errors.ts'
import type { Gate } from '../../capability/gate.ts'
import type { ModuleCode } from '../../component/module/module-code.ts'
import type { ModuleResult } from '../../component/module/module-end.ts'
import { ModuleMachine, type ModuleMachineParts } from '../../component/module/module-machine.ts'
import { driveMachine } from '../../machine/driver.ts'
import type { Outcome as DrivenOutcome } from '../../machine/outcome.ts'
import type { SessionOptions } from '../../machine/session.ts'
import type { Machine, MachineStart, SyncCalls } from '../../machine/turn.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import { Checkpoints } from '../checkpoints.ts'
import { finalDigest } from '../final-digest.ts'
import type { GateOwn, GateWanted } from '../gate-maker.ts'
import type { GuestLine } from '../guest-line.ts'
import type { KeptOutcome } from '../kept-outcome.ts'
import { LinePlace } from '../line-place.ts'
import { type LimitBounds, limitsOf } from '../machine-start.ts'
import type { RuntimeOptions } from '../options.ts'
import type { Platform } from '../platform.ts'
import { RunKeeper } from '../run-keeper.ts'
import { DEFAULT_DOMAIN, ownerOf, runOwnerOf } from '../run-owner.ts'
import { watchedStore } from '../watched-store.ts'
import { checkPrepareModule, checkResumeModule, checkRunModule } from './check-module-options.ts'
import type {
  ModuleOutcome,
  PreparedModule,
  PrepareModuleOptions,
  ResumeModuleOptions,
  RunModuleOptions,
} from './module-options.ts'
import { ModulePreparation } from './module-preparation.ts'
import { moduleStart } from './module-start.ts'

/** What the runtime lends. */
export interface ModuleRunsParts {
  readonly platform: Platform
  readonly hostClock: Pick<Platform['clock'], 'now'>
  readonly options: RuntimeOptions
  readonly bounds: LimitBounds
  readonly line: GuestLine
  readonly profile: 'v8' | 'portable'
  newGuestId(): string
  gateFor(options: GateWanted, guestId: string, own?: GateOwn): Gate
  sessionOf(
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): SessionOptions
}

export class ModuleRuns {
  readonly #parts: ModuleRunsParts
  readonly #tools: ModuleTools
  readonly #preparation: ModulePreparation

  constructor(parts: ModuleRunsParts, tools: ModuleTools) {
    const { platform, profile } = parts
    this.#parts = parts
    this.#tools = tools
    this.#preparation = new ModulePreparation({
      tools,
      profile,
      pageTools: platform.pageTools ?? neutralPageTools,
      monotonic: platform.clock.monotonic,
      checkpoints: platform.checkpoints,
    })
  }

  async prepare(bytes: Uint8Array, options: PrepareModuleOptions): Promise<PreparedModule> {
    checkPrepareModule(options)
    checkModule(bytes)
    return this.#preparation.prepare(bytes, limitsOf(options.limits, this.#parts.bounds).memoryBytes, options)
  }

  async run(module: Uint8Array | PreparedModule, options: RunModuleOptions): Promise<ModuleOutcome> {
    checkRunModule(options)
    checkModule(module)
    const { bounds, platform, newGuestId, gateFor } = this.#parts
    const guestId = newGuestId()
    const draft = moduleStart(options, [], bounds, platform)
    const code = await this.#preparation.code(module, draft.limits.memoryBytes, options)
    if (options.run !== undefined) return this.#begin(code, draft, options, options.run, guestId)
    const gate = gateFor(options, guestId)
    const start = { ...draft, capabilities: gate.capabilities }
    return this.#drive(code, start, gate, options)
  }

  async #drive(
    code: ModuleCode,
    start: MachineStart,
    gate: Gate,
    options: RunModuleOptions,
  ): Promise<ModuleOutcome> {
    const { line, sessionOf } = this.#parts
    const { domain = DEFAULT_DOMAIN, signal, nowMs } = options
    await line.enter(domain, signal)
    const place = new LinePlace(line, domain, true)
    const machine = this.#machine(code, options.directories, gate.sync)
    try {
      const session = sessionOf(machine, start, gate, signal)
      const timed = nowMs === undefined ? session : { ...session, now: () => nowMs }
      const outcome = await driveMachine({ ...timed, asleep: place.asleep })
      const stateDigest = await finalDigest(machine, options)
      return {
        ...outcome,
        engine: code.engine,
        ...outputOf(outcome, machine),
        ...(stateDigest && { stateDigest }),
      }
    } finally {
      machine.dispose()
      place.leave()
    }
  }

  async #begin(
    code: ModuleCode,
    draft: MachineStart,
    options: RunModuleOptions,
    run: string,
    guestId: string,
  ): Promise<ModuleOutcome> {
    const { nowMs, ...own } = options
    if (nowMs !== undefined)
      throw new CaissonError('invalid_argument', 'A kept run has the times of its record: leave nowMs out.')
    const last: LastMachine = {}
    const keeper = this.#keeper(code, options.directories, options.signal, last, (gate) => ({
      ...draft,
      capabilities: gate.capabilities,
    }))
    const kept = await keeper.begin('', own, ownerOf(options, run), guestId)
    return complete(code, kept, run, last)
  }

  /** Goes on with a kept run of the same module. */
  async resume(
    run: string,
    module: Uint8Array | PreparedModule,
    options: ResumeModuleOptions,
  ): Promise<ModuleOutcome> {
    checkResumeModule(options)
    checkModule(module)
    const { memoryBytes } = limitsOf(options.limits, this.#parts.bounds)
    const code = await this.#preparation.code(module, memoryBytes, options)
    const last: LastMachine = {}
    const { directories, suspendable: _suspendable, onProgress: _progress, cache: _cache, ...own } = options
    const keeper = this.#keeper(code, directories, options.signal, last, () => {
      throw new CaissonError('corrupted', 'A run that is gone on with is not begun.')
    })
    return complete(code, await keeper.resume(runOwnerOf(options, run), own), run, last)
  }

  #keeper(
    code: ModuleCode,
    directories: Directories,
    signal: AbortSignal | undefined,
    last: LastMachine,
    startOf: (gate: Gate) => MachineStart,
  ): RunKeeper {
    const { options, platform } = this.#parts
    const { store } = options
    if (store === undefined) {
      throw new CaissonError(
        'invalid_argument',
        'Runs with a name are kept in a store: give one to openRuntime.',
      )
    }
    const base = {
      get pages() {
        return code.basePages()
      },
    }
    return new RunKeeper({
      ...this.#parts,
      store: watchedStore(store, signal),
      signal,
      checkpoints: new Checkpoints(platform.checkpoints, options.checkpoints ?? {}, code.engine, base),
      machines: {
        engine: { id: code.engine },
        open: (_kind, _limits, syncCalls) => {
          return this.#machine(code, directories, syncCalls, (output) => {
            last.output = output
          })
        },
      },
      startOf: (_source, _options, gate) => Promise.resolve(startOf(gate)),
    })
  }

  #machine(
    code: ModuleCode,
    directories: Directories,
    syncCalls: SyncCalls,
    onDispose?: (output: Output) => void,
  ): ModuleMachine {
    const { clock, pageTools = neutralPageTools } = this.#parts.platform
    return new ModuleMachine({
      ...code,
      wasi: this.#tools.wasi,
      directories,
      syncCalls,
      monotonic: clock.monotonic,
      tools: pageTools,
      ...(onDispose && { onDispose }),
    })
  }
}

type Directories = ModuleMachineParts['directories']
type Output = Pick<ModuleResult, 'stdout' | 'stderr'>

/** What the machine of a kept run had written when it was disposed. */
interface LastMachine {
  output?: Output
}

function outputOf(
  outcome: DrivenOutcome,
  { output }: { readonly output: Output },
): { readonly output?: Output } {
  return outcome.status === 'completed' ? {} : { output }
}

function complete(code: ModuleCode, kept: KeptOutcome, run: string, { output }: LastMachine): ModuleOutcome {
  const { outcome, checkpoint, stateDigest, resumable, unwritten, log } = kept
  return {
    ...outcome,
    engine: code.engine,
    run,
    ...(output && outputOf(outcome, { output })),
    ...(resumable && { resumable }),
    ...(unwritten && { unwritten }),
    ...(log && { log }),
    ...(checkpoint && { checkpoint }),
    ...(stateDigest && { stateDigest }),
  }
}

/** @throws CaissonError `invalid_argument` */
function checkModule(module: unknown): void {
  const isPrepared = (module as Partial<PreparedModule> | null)?.kind === 'prepared-module'
  if (module instanceof Uint8Array || isPrepared) return
  throw new CaissonError(
    'invalid_argument',
    'A module is given as its bytes (Uint8Array), or as what prepareModule made of it.',
  )
}
