/**
 * A component as a machine that takes turns: it is opened, one export of it is called, and with that it has ended.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. What is wrong with the component, or with what it is called with, is an end of the guest. What is wrong with this
 *    process is thrown.
 * 2. The same program, answers and times give the same memory, output and fuel, also when it was captured between.
 * 3. Whatever ends it, the output until then can be read.
 */
import { DISPOSE } from '../base/disposal.ts'
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import type { Limits } from '../machine/limits.ts'
import type {
  Answer,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  SyncCalls,
  Turn,
  TurnControl,
  TurnEnd,
} from '../machine/turn.ts'
import type { PageTools } from '../ports/page-tools.ts'
import type { OpenWasiTree, WasiSource } from '../ports/wasi-source.ts'
import { PageTree } from '../snapshot/page-tree.ts'
import type { FunctionType } from './abi/wit-type.ts'
import { CallMachine } from './call-machine.ts'
import type { CapabilityCallsParts } from './capability-calls.ts'
import {
  type ComponentCapture,
  captureComponent,
  captureDigest,
  parseComponentState,
} from './component-capture.ts'
import { endOfCall, endOfOpening, fuelOf } from './component-end.ts'
import { type ComponentLife, type ComponentLifeParts, openComponentLife } from './component-life.ts'
import { type ComponentProgram, parseComponentProgram } from './component-program.ts'
import { endOfCollected } from './component-result.ts'
import { checkArgumentCount, plainExport } from './component-shape.ts'
import type { ComponentWorld } from './component-wasi.ts'
import { worldBytes } from './module/guest-world.ts'
import type { PreparedComponent } from './prepare-component.ts'
import { witOf } from './wit-value.ts'

export interface ComponentMachineParts {
  /** Names the component and the tools that prepared it: what a capture can be restored on. */
  readonly engine: string
  readonly prepared: PreparedComponent
  readonly schemas: CapabilityCallsParts['schemas']
  /** Left out where the platform has no WASI. */
  readonly wasi: WasiSource | undefined
  /** How directories of the program are opened that are not in memory, by the path at which the guest finds them. */
  readonly directories?: Readonly<Record<string, { readonly open?: OpenWasiTree }>> | undefined
  readonly syncCalls: SyncCalls
  readonly monotonic: () => number
  readonly tools: PageTools
  /** How it waits where it was not prepared to leave its stack. */
  readonly waitsBy?: ComponentLifeParts['waitsBy']
  /** Told what the guest has written, before that is forgotten. */
  readonly onDispose?: (output: ComponentOutput) => void
}

/** What a guest wrote, up to `limits.logBytes` of each. */
export interface ComponentOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** What there is from the start or the restore on. */
interface Life extends ComponentLife {
  readonly program: ComponentProgram
  readonly type: FunctionType
  readonly limits: Limits
  readonly call: CallMachine
}

export class ComponentMachine implements Machine {
  readonly #parts: ComponentMachineParts
  #state: 'fresh' | 'opening' | 'open' | 'ended' | 'disposed' = 'fresh'
  #life: Life | undefined
  /** What the next capture is relative to. */
  #known = PageTree.empty

  constructor(parts: ComponentMachineParts) {
    this.#parts = parts
  }

  readonly wakeAtMs = undefined

  get pending(): readonly PendingCall[] {
    return this.#life?.call.pending ?? []
  }

  /** What it has written by now. */
  get output(): ComponentOutput {
    const { stdout, stderr } = this.#life?.wasi ?? { stdout: NO_OUTPUT, stderr: NO_OUTPUT }
    return { stdout: stdout.bytes, stderr: stderr.bytes }
  }

  async start(start: MachineStart, control: TurnControl): Promise<Turn> {
    if (this.#state !== 'fresh') throw this.#refuse('started')
    const program = parseComponentProgram(start.program)
    this.#state = 'opening'
    let life: Life
    try {
      const type = this.#typeOf(program)
      const { capabilities, limits, seed, nowMs } = start
      life = await this.#open(program, type, { capabilities, limits, seed, nowMs, starts: control })
    } catch (error) {
      if (this.#state === 'opening') this.#state = 'ended'
      return ended(endOfOpening(error, start.limits), fuelOf(error))
    }
    return this.#told(life, await life.call.start(start, control))
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn | Promise<Turn> {
    const life = this.#held('settled')
    const turn = life.call.settle(answers, nowMs, control)
    return turn instanceof Promise ? turn.then((taken) => this.#told(life, taken)) : this.#told(life, turn)
  }

  capture(): MachineCapture {
    const { call, program } = this.#held('captured')
    const { memoryBytes, changes, state } = call.capture() as ComponentCapture
    this.#known = this.#known.with(changes)
    return { memoryBytes, changes, state: { ...state, program } }
  }

  async restore({ memoryBytes, changes, state: given, capabilities, limits }: MachineRestore): Promise<void> {
    if (this.#state !== 'fresh') throw this.#refuse('restored')
    this.#state = 'opening'
    try {
      const state = parseComponentState(given, capabilities)
      const program = parseComponentProgram((given as { readonly program?: unknown }).program)
      if (state.call !== program.export)
        throw new CaissonError(
          'corrupted',
          'A captured component does not wait in the call that it was started with.',
        )
      const pages = [...changes]
      const from = { memoryBytes, changes: pages, state }
      const { seed } = state
      await this.#open(program, this.#typeOf(program), { capabilities, limits, seed, nowMs: 0, from })
      this.#known = PageTree.empty.with(pages)
    } catch (error) {
      if (this.#state === 'opening') this.#state = 'ended'
      throw error
    }
  }

  stateDigest(): string {
    return this.#held('digested').call.stateDigest()
  }

  dispose(): void {
    if (this.#state === 'disposed') return
    const life = this.#life
    life?.call.dispose()
    this.#parts.onDispose?.(this.output)
    this.#state = 'disposed'
    this.#life = undefined
    this.#known = PageTree.empty
    if (life !== undefined) letGo(life)
  }

  /** @throws CaissonError `not_found`, `unsupported_feature`, `invalid_arguments` */
  #typeOf({ export: name, args }: ComponentProgram): FunctionType {
    const type = plainExport(this.#parts.prepared.shape.exports, name)
    checkArgumentCount(name, type, args.length)
    return type
  }

  async #open(
    program: ComponentProgram,
    type: FunctionType,
    of: Pick<ComponentLifeParts, 'capabilities' | 'limits' | 'seed' | 'nowMs' | 'starts' | 'from'>,
  ): Promise<Life> {
    const { prepared, schemas, syncCalls, monotonic, tools, waitsBy } = this.#parts
    const wasi = this.#worldOf(program)
    const { sha256 } = tools
    const shared = { prepared, schemas, syncCalls, monotonic, sha256, waitsBy }
    const opened = await openComponentLife({ ...shared, ...of, ...(wasi && { wasi }) })
    const { instance, calls, clock } = opened
    try {
      if (this.#state !== 'opening') throw this.#refuse('opened')
      const waits = of.from !== undefined
      const given = type.params.map(({ type: own }, at) => witOf(own, program.args[at]))
      const args = waits ? [] : instance.checkCall(program.export, given)
      const capture = (name: string | null): ComponentCapture =>
        captureComponent(
          { instance, wasi: opened.wasi, calls, clock, capabilities: of.capabilities, seed: opened.seed },
          name,
          tools.samePage,
          this.#known,
        )
      const call = new CallMachine(
        {
          instance,
          calls,
          clock,
          name: program.export,
          args,
          // Of one that gives what it wrote, what it was given counts the same.
          ...(program.collects && program.world && { bytesIn: worldBytes(program.world) }),
          capture,
          digest: (name) => captureDigest(capture(name), this.#parts.engine, sha256, this.#known),
        },
        waits,
      )
      this.#state = 'open'
      this.#life = { ...opened, program, type, limits: of.limits, call }
      return this.#life
    } catch (error) {
      letGo(opened)
      throw error
    }
  }

  #worldOf({ world, collects }: ComponentProgram): ComponentLifeParts['wasi'] {
    const { wasi: source, directories = {} } = this.#parts
    if (world === null) return undefined
    if (source === undefined) throw new CaissonError('unsupported', 'This platform has no WASI.')
    const opened: ComponentWorld['directories'] = world.directories.map(({ guestPath, writable, files }) => {
      if (files !== null) return { guestPath, writable, files }
      const open = Object.hasOwn(directories, guestPath) ? directories[guestPath]?.open : undefined
      if (open !== undefined) return { guestPath, writable, open }
      throw new CaissonError(
        'invalid_argument',
        `The directory ${clipText(guestPath, 200)} of the component is not in memory: give it again.`,
      )
    })
    return { source, world: { ...world, directories: opened }, ...(collects && { collects }) }
  }

  /** A turn of the call, with the end that a guest has. */
  #told(life: Life, turn: Turn): Turn {
    const { call, type, program, limits } = life
    const { end } = call
    if (turn.status === 'waiting' || end === undefined) return turn
    const { calls, logs, unhandledRejections, usage } = turn
    const common = { calls, logs, unhandledRejections }
    if (program.collects !== true) return { ...endOfCall(end, type), ...common, usage }
    const told = endOfCollected(end, { export: program.export, type }, life, limits, usage)
    return { ...told.end, ...common, usage: told.usage }
  }

  #held(what: string): Life {
    if (this.#life === undefined) throw this.#refuse(what)
    return this.#life
  }

  #refuse(what: string): CaissonError {
    return this.#state === 'opening'
      ? new CaissonError('busy', `The component cannot be ${what} while it is opened.`)
      : new CaissonError('isolate_destroyed', `The component cannot be ${what}: it is ${this.#state}.`)
  }
}

const NO_OUTPUT = { bytes: new Uint8Array(0), droppedBytes: 0 }

function letGo({ instance, wasi }: ComponentLife): void {
  instance[DISPOSE]()
  wasi?.[DISPOSE]()
}

function ended(end: TurnEnd, fuel: number): Turn {
  const usage = { fuel, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, logsDropped: 0 }
  return { ...end, calls: [], logs: [], unhandledRejections: [], usage }
}
