/**
 * Components that are run to their end, by one call of an export: driven, or kept in a store and gone on with.
 *
 * Invariant
 * 1. What is wrong with the options, or with the component itself, is told before a place in the line is taken.
 */
import { CaissonError } from '../../base/errors.ts'
import { ComponentMachine } from '../../component/component-machine.ts'
import { type ComponentProgram, parseComponentProgram } from '../../component/component-program.ts'
import { isCommand } from '../../component/component-result.ts'
import type { ExportedFunction } from '../../component/component-shape.ts'
import { checkProgramSize } from '../../component/module/module-program.ts'
import { isPrebuilt, NO_SOURCE, type PrebuiltComponent } from '../../component/prebuilt-manifest.ts'
import type { PreparedComponent } from '../../component/prepare-component.ts'
import { RepeatedMachine, refuseRealDirectories } from '../../component/repeated-machine.ts'
import type { MachineStart } from '../../machine/turn.ts'
import { neutralPageTools } from '../../snapshot/neutral-page-tools.ts'
import { PageTree } from '../../snapshot/page-tree.ts'
import { copyValue } from '../../values/copy-value.ts'
import { checkResumeOptions } from '../check-options.ts'
import {
  type GuestCode,
  type GuestOutcome,
  GuestRuns,
  type GuestRunsParts,
  type KeptPlace,
} from '../guest-runs.ts'
import { ASK_NOBODY } from '../kept-approvals.ts'
import { limitsOf, machineStart } from '../machine-start.ts'
import type { RepeatOptions } from '../options.ts'
import { grantedWorld } from '../wasi/granted-world.ts'
import { checkResumeComponent, checkRunComponent } from './check-component-options.ts'
import { type ComponentCodeParts, componentCode, type WaitingComponent } from './component-code.ts'
import type { ResumeComponentOptions, RunComponentOptions } from './component-options.ts'
import type { KeptComponents } from './prepared-components.ts'

/** Its bytes, or what was built of it. */
export type ComponentSource = Uint8Array | PrebuiltComponent

/** What the runtime lends. */
export interface ComponentRunsParts extends GuestRunsParts, ComponentCodeParts {}

type Preparing = Pick<
  RunComponentOptions,
  'grants' | 'limits' | 'signal' | 'cache' | 'onProgress' | 'wasi' | 'collect' | 'suspension'
>

interface WantedComponent extends Pick<WaitingComponent, 'prepared' | 'waitsBy'> {
  readonly guest: GuestCode
}

export class ComponentRuns {
  readonly #parts: ComponentRunsParts
  readonly #kept: KeptComponents
  readonly #runs: GuestRuns

  /** @param kept what was prepared before */
  constructor(parts: ComponentRunsParts, kept: KeptComponents) {
    this.#parts = parts
    this.#kept = kept
    this.#runs = new GuestRuns(parts)
  }

  async run(source: ComponentSource, options: RunComponentOptions, place?: KeptPlace): Promise<GuestOutcome> {
    checkRunComponent(options)
    checkSource(source)
    // Before the component is looked at, which takes time.
    machineStart('', startOptions(options), [], this.#parts.bounds, this.#parts.platform)
    const { guest, prepared, waitsBy } = await this.#component(source, options)
    const start = this.#start(prepared, options)
    // Also one whose stack is held, where it is kept: it goes on by its record.
    if (waitsBy === 'reexecute' || (waitsBy === 'held' && options.run !== undefined))
      refuseRealDirectories(parseComponentProgram(start.program).world)
    return this.#runs.run(guest, start, options, place)
  }

  /** What its machine is started with, but for what it may call. @throws CaissonError as `run` */
  async start(source: ComponentSource, options: RunComponentOptions): Promise<MachineStart> {
    return this.#start((await this.#component(source, options)).prepared, options)
  }

  /** Names what executes it. */
  async engine(source: ComponentSource, options: RunComponentOptions): Promise<string> {
    return (await this.#component(source, options)).guest.engine
  }

  /** Goes on with a kept run of the same component. */
  async resume(
    run: string,
    source: ComponentSource,
    options: ResumeComponentOptions,
    place?: KeptPlace,
  ): Promise<GuestOutcome> {
    checkResumeComponent(options)
    checkSource(source)
    const { onProgress: _, cache: _cache, suspension: _suspension, directories, ...own } = options
    checkResumeOptions(own)
    const { guest } = await this.#component(source, {
      ...options,
      wasi: { ...(directories && { directories }) },
    })
    return this.#runs.resume(run, guest, own, place).catch((error: unknown) => {
      throw CaissonError.is(error, 'engine_mismatch') ? ofAnotherWay(error) : error
    })
  }

  /** Takes a kept run of the same component again. */
  async repeat(
    run: string,
    source: ComponentSource,
    options: RepeatOptions,
    place?: KeptPlace,
  ): Promise<GuestOutcome> {
    const { guest } = await this.#component(source, options)
    return this.#runs.repeat(run, guest, options, place)
  }

  #start({ shape }: PreparedComponent, options: RunComponentOptions): MachineStart {
    const { bounds, platform } = this.#parts
    const start = machineStart('', startOptions(options), [], bounds, platform)
    const importsWasi = shape.imports.some((one) => one.interface.startsWith('wasi:'))
    const world = options.wasi === undefined || !importsWasi ? null : grantedWorld(options.wasi)
    if (world !== null) checkProgramSize(world, start.limits.bytesIn)
    const { args = [], name = 'component' } = options
    const { nodes, depth } = ARGUMENTS
    const program: ComponentProgram = {
      kind: 'component',
      version: 1,
      export: options.export ?? defaultExport(shape.exports),
      args: copyValue(args, { bytes: start.limits.bytesIn, nodes, depth }, 'args'),
      world,
      ...(options.collect === true && { collects: true }),
    }
    return { ...start, fileName: name, program }
  }

  async #component(source: ComponentSource, options: Preparing): Promise<WantedComponent> {
    const { platform, bounds, gateFor } = this.#parts
    const { grants, wasi, collect = false } = options
    // Of the capabilities alone: what it waits for is a part of what it is.
    const { capabilities } = gateFor({ ...(grants && { grants }) }, 'draft', ASK_NOBODY)
    const how = { suspension: 'auto', ...options } as const
    const code = await componentCode(this.#parts, source, capabilities, how, this.#kept)
    const { engine, prepared, waitsBy } = await code.prepare(limitsOf(options.limits, bounds))
    const { modules, schemas } = code
    const guest: GuestCode = {
      engine,
      basePages: () => PageTree.empty,
      tellsOutput: collect,
      open: (syncCalls, onDispose) => {
        const machine = {
          engine,
          prepared,
          schemas,
          wasi: modules?.wasi,
          directories: wasi?.directories,
          syncCalls,
          monotonic: platform.clock.monotonic,
          tools: platform.pageTools ?? neutralPageTools,
        }
        if (waitsBy !== 'reexecute') return new ComponentMachine({ ...machine, waitsBy, onDispose })
        return new RepeatedMachine({
          open: (answers, calls) => new ComponentMachine({ ...machine, syncCalls: calls, waitsBy: answers }),
          world: ({ program }) => parseComponentProgram(program).world,
          syncCalls,
          onDispose,
        })
      },
    }
    return { guest, prepared, waitsBy }
  }
}

/** Of arguments, beside their bytes. */
const ARGUMENTS = { nodes: 1_000_000, depth: 500 }

function startOptions({
  limits,
  seed,
  nowMs,
}: RunComponentOptions): Pick<RunComponentOptions, 'limits' | 'seed' | 'nowMs'> {
  return {
    ...(limits && { limits }),
    ...(seed !== undefined && { seed }),
    ...(nowMs !== undefined && { nowMs }),
  }
}

/** What makes engines of components differ is said. */
function ofAnotherWay({ code, message, details }: CaissonError): CaissonError {
  const why =
    'It was begun with another component, with other grants that it waits for, or with another `suspension`.'
  return new CaissonError(code, `${message} ${why}`, { details })
}

/** A function `run`, or what runs a command. */
function defaultExport(exports: readonly ExportedFunction[]): string {
  const names = exports.map(({ name }) => name)
  return names.includes('run') ? 'run' : (names.find(isCommand) ?? 'run')
}

/** @throws CaissonError `invalid_argument` */
function checkSource(source: unknown): void {
  if (source instanceof Uint8Array || isPrebuilt(source)) return
  throw new CaissonError('invalid_argument', NO_SOURCE)
}
