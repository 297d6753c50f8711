/**
 * WASI modules as guests of a runtime: prepared, then run to their end, or kept in a store and gone on with.
 *
 * Invariant
 * 1. What is wrong with the module or the options is told before a place in the line is taken.
 */
import { CaissonError } from '../../base/errors.ts'
import type { ModuleCode } from '../../component/module/module-code.ts'
import { ModuleMachine } from '../../component/module/module-machine.ts'
import { awaitedOf } from '../../component/module/module-problems.ts'
import { parseModuleProgram } from '../../component/module/module-program.ts'
import { RepeatedMachine, refuseRealDirectories } from '../../component/repeated-machine.ts'
import type { MachineStart } from '../../machine/turn.ts'
import type { ModuleTools } from '../../ports/module-tools.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import { checkResumeOptions } from '../check-options.ts'
import {
  type GuestCode,
  type GuestOutcome,
  GuestRuns,
  type GuestRunsParts,
  type KeptPlace,
} from '../guest-runs.ts'
import { ASK_NOBODY } from '../kept-approvals.ts'
import { limitsOf } from '../machine-start.ts'
import type { RepeatOptions } from '../options.ts'
import { DEFAULT_DOMAIN } from '../run-owner.ts'
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
export interface ModuleRunsParts extends GuestRunsParts {
  readonly profile: 'v8' | 'portable'
}

type Preparing = Pick<RunModuleOptions, 'directories' | 'domain' | 'grants' | 'limits'> & PrepareModuleOptions

interface WantedModule {
  readonly guest: GuestCode
  /** Whether it is executed again where it waits: it cannot be suspended there. */
  readonly repeats: boolean
}

export class ModuleRuns {
  readonly #parts: ModuleRunsParts
  readonly #tools: ModuleTools
  readonly #preparation: ModulePreparation
  readonly #runs: GuestRuns

  constructor(parts: ModuleRunsParts, tools: ModuleTools) {
    const { platform, profile, options } = parts
    this.#parts = parts
    this.#tools = tools
    this.#runs = new GuestRuns(parts)
    this.#preparation = new ModulePreparation({
      tools,
      profile,
      pageTools: platform.pageTools ?? neutralPageTools,
      monotonic: platform.clock.monotonic,
      checkpoints: platform.checkpoints,
      cache: options.preparedCache,
    })
  }

  async prepare(bytes: Uint8Array, options: PrepareModuleOptions): Promise<PreparedModule> {
    checkPrepareModule(options)
    checkModule(bytes)
    const { startImage, ...own } = options
    const { memoryBytes } = limitsOf(own.limits, this.#parts.bounds)
    if (startImage === undefined) return this.#preparation.prepare(bytes, memoryBytes, own)
    const start = this.#start({ ...startImage, ...(own.limits && { limits: own.limits }) })
    return this.#preparation.prepareWithStart(bytes, start, own)
  }

  async run(
    module: Uint8Array | PreparedModule,
    options: RunModuleOptions,
    place?: KeptPlace,
  ): Promise<ModuleOutcome> {
    checkRunModule(options)
    checkModule(module)
    const draft = this.#start(options)
    const { guest, repeats } = await this.#guest(module, options)
    if (repeats) refuseRealDirectories(parseModuleProgram(draft.program))
    return ofModule(await this.#runs.run(guest, draft, options, place))
  }

  /** What its machine is started with, but for what it may call. @throws CaissonError as `run` */
  async start(_module: Uint8Array, options: RunModuleOptions): Promise<MachineStart> {
    return this.#start(options)
  }

  #start(options: RunModuleOptions): MachineStart {
    const { bounds, platform } = this.#parts
    return moduleStart(options, [], bounds, platform)
  }

  /** Names what executes it. */
  async engine(module: Uint8Array, options: RunModuleOptions): Promise<string> {
    return (await this.#guest(module, options)).guest.engine
  }

  /** Goes on with a kept run of the same module. */
  async resume(
    run: string,
    module: Uint8Array | PreparedModule,
    options: ResumeModuleOptions,
    place?: KeptPlace,
  ): Promise<ModuleOutcome> {
    checkResumeModule(options)
    checkModule(module)
    const {
      directories: _,
      suspendable: _suspendable,
      onProgress: _progress,
      cache: _cache,
      ...own
    } = options
    checkResumeOptions(own)
    const { guest } = await this.#guest(module, options)
    return ofModule(await this.#runs.resume(run, guest, own, place))
  }

  /** Takes a kept run of the same module again. */
  async repeat(
    run: string,
    module: Uint8Array,
    { suspendable, ...options }: RepeatOptions & Pick<RunModuleOptions, 'suspendable'>,
    place?: KeptPlace,
  ): Promise<ModuleOutcome> {
    const { guest } = await this.#guest(module, {
      ...options,
      ...(suspendable !== undefined && { suspendable }),
    })
    return ofModule(await this.#runs.repeat(run, guest, options, place))
  }

  async #guest(module: Uint8Array | PreparedModule, options: Preparing): Promise<WantedModule> {
    const { memoryBytes } = limitsOf(options.limits, this.#parts.bounds)
    const { images, ...code }: ModuleCode = await this.#preparation.code(module, memoryBytes, options)
    const { clock, pageTools = neutralPageTools } = this.#parts.platform
    const { manifest } = code.core
    const { grants } = options
    const { capabilities } = this.#parts.gateFor({ ...(grants && { grants }) }, 'draft', ASK_NOBODY)
    const repeats = manifest.suspends.length === 0 && awaitedOf(manifest, capabilities).length > 0
    const guest: GuestCode = {
      engine: code.engine,
      basePages: code.basePages,
      tellsOutput: true,
      open: (syncCalls, onDispose) => {
        const machine = {
          ...code,
          images: images(options.domain ?? DEFAULT_DOMAIN),
          wasi: this.#tools.wasi,
          directories: options.directories,
          syncCalls,
          monotonic: clock.monotonic,
          tools: pageTools,
        }
        if (!repeats) return new ModuleMachine({ ...machine, onDispose })
        return new RepeatedMachine({
          open: (answers, calls) => new ModuleMachine({ ...machine, syncCalls: calls, answers }),
          world: ({ program }) => parseModuleProgram(program),
          syncCalls,
          onDispose,
        })
      },
    }
    return { guest, repeats }
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

/** What completes a `ModuleMachine` is the end of its module. */
function ofModule(outcome: GuestOutcome): ModuleOutcome {
  return outcome as ModuleOutcome
}
