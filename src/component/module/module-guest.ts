/**
 * A module as a guest in its world: instantiated and not started, with WASI, time, randomness, files and capabilities
 * behind its imports. Its turns are the machine's (`module-machine.ts`).
 *
 * Invariants
 * 1. What can be answered at once is; a guest that sleeps, or calls a capability that is not `sync`, is suspended
 *    where it was made suspendable. Where it was not, a sleep moves its clock at once, within `idleMs` over all of
 *    them, and the call fails inside of the guest.
 * 2. What nobody grants ends the guest that calls it, and does nothing.
 */
import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import type { Limits } from '../../machine/limits.ts'
import type { GuestCapability, SyncCalls, Turn } from '../../machine/turn.ts'
import type { PageTools } from '../../ports/page-tools.ts'
import type { WasiTree } from '../../ports/wasi-files.ts'
import type { WasiHost, WasiState, WasiWait } from '../../ports/wasi-host.ts'
import type { ChangedTree, OpenWasiTree, WasiSource } from '../../ports/wasi-source.ts'
import { coreMemory } from '../core/capture-core.ts'
import { type CompiledCore, CoreGuest, type CoreInstance, SUSPEND } from '../core/core-guest.ts'
import type { CoreImport } from '../core/core-manifest.ts'
import type { RepeatedAnswers } from '../repeated-answers.ts'
import { guestFrames } from './guest-frames.ts'
import type { ModuleDirectory } from './guest-world.ts'
import { ModuleCalls } from './module-calls.ts'
import { ModuleClock, msAt } from './module-clock.ts'
import { absentImport, type ImportRole, rolesOf, WASI_NAMESPACE } from './module-imports.ts'
import { type ModulePhases, phasesOf } from './module-phases.ts'
import type { ModuleProgram } from './module-program.ts'
import { ModuleRandom } from './module-random.ts'
import { isSameForAll, readsInput, START_UP_MS, START_UP_SEED } from './start-up.ts'
import { wasiFuel } from './wasi-fuel.ts'

/** What a guest is opened with. */
export interface ModuleGuestParts {
  readonly core: CompiledCore
  readonly wasi: WasiSource
  /** How directories of the program are opened that are not in memory, by the path at which the guest finds them. */
  readonly directories?: Readonly<Record<string, { readonly open?: OpenWasiTree }>> | undefined
  readonly syncCalls: SyncCalls
  readonly monotonic: () => number
  readonly tools: PageTools
  /** What it was answered before, of one that is executed again where it waits and cannot be suspended. */
  readonly answers?: RepeatedAnswers | undefined
  /** Told that start-up comes to its planned end where it reads input, in a guest that cannot be suspended there. */
  readonly onFirstRead?: () => void
}

export interface ModuleGuestStart {
  readonly program: ModuleProgram
  readonly seed: Uint8Array
  readonly capabilities: readonly GuestCapability[]
  readonly limits: Limits
  /** Logical time, milliseconds since the epoch. */
  readonly nowMs: number
}

/** Open files and directories of a guest at once. */
const DESCRIPTORS = 256
const NS_PER_MS = 1_000_000n

type WasiFunction = (...args: readonly unknown[]) => number

export class ModuleGuest {
  readonly start: ModuleGuestStart
  readonly core: CoreGuest
  readonly instance: CoreInstance
  readonly wasi: WasiHost
  readonly clock: ModuleClock
  readonly random: ModuleRandom
  readonly calls: ModuleCalls
  readonly phases: ModulePhases
  /** Until when it sleeps, by its clock. */
  untilNs: bigint | undefined
  readonly #parts: ModuleGuestParts
  /** By place, with what was changed where they are in memory. */
  readonly #trees: readonly (WasiTree | ChangedTree)[]
  readonly #functions: Readonly<Record<string, WasiFunction>>
  #startsUp: boolean
  /** Set where the import that is at work is to suspend. */
  #suspends = false

  /**
   * @param state of its WASI host, for one that is restored: its start-up is over
   * @throws CaissonError `missing_imports`, `invalid_module`, `invalid_argument`, `machine_lost`; `corrupted` (the state)
   */
  constructor(parts: ModuleGuestParts, start: ModuleGuestStart, state?: WasiState) {
    const { program, seed, capabilities, limits, nowMs } = start
    const { core, monotonic, tools, syncCalls } = parts
    this.#parts = parts
    this.start = start
    this.phases = phasesOf(core.manifest, program)
    this.#startsUp = program.startUp !== undefined && state === undefined
    this.clock = new ModuleClock(this.#startsUp ? START_UP_MS : nowMs)
    this.random = new ModuleRandom(this.#startsUp ? START_UP_SEED : seed, tools.sha256)
    this.core = new CoreGuest({ fuel: limits.fuel, stackBytes: limits.stackBytes, monotonic })
    this.calls = new ModuleCalls({
      syncCalls,
      limits,
      gauge: () => this.core.gauge,
      memory: () => coreMemory(this.core),
      nowMs: () => msAt(this.clock.position()),
    })
    this.#trees = program.directories.map((directory) => this.#openTree(directory))
    this.wasi = this.#openHost(state)
    this.#functions = this.wasi.preview1() as Readonly<Record<string, WasiFunction>>
    try {
      const roles = rolesOf(core.manifest, capabilities, this.wasi, program.missing)
      this.instance = this.core.instantiate(core, this.#imports(roles))
      const memory = coreMemory(this.core)
      if (memory !== undefined) this.wasi.attach(memory)
    } catch (error) {
      this.wasi[DISPOSE]()
      throw error
    }
  }

  /** Whether it is in its start-up still (`start-up.ts`). */
  get startsUp(): boolean {
    return this.#startsUp
  }

  /** Its own run reaches it from now on. */
  endStartUp(): void {
    if (!this.#startsUp) return
    this.#startsUp = false
    // One that begins at an image of the start knows nothing of it.
    this.core.memoryRefused = false
    this.clock.advance(this.start.nowMs)
    this.random.restart(this.start.seed)
  }

  /** The import of WASI in which it was suspended, once more: its time has come. */
  callAgain(): number {
    this.untilNs = undefined
    const { at, args } = this.core.suspension as NonNullable<CoreGuest['suspension']>
    return this.#functions[at.name]?.(...args) as number
  }

  /** What was made or changed in directories in memory, by the path that it has in the guest. */
  files(): Record<string, Uint8Array> {
    const files: Record<string, Uint8Array> = {}
    for (const [at, tree] of this.#trees.entries()) {
      if (!('changed' in tree)) continue
      const path = this.start.program.directories[at]?.guestPath ?? ''
      for (const [name, bytes] of tree.changed()) files[`${path === '/' ? '' : path}/${name}`] = bytes
    }
    return files
  }

  usage(): Turn['usage'] {
    return {
      fuel: this.core.fuelUsed,
      memoryBytes: coreMemory(this.core)?.buffer.byteLength ?? 0,
      calls: this.calls.count,
      bytesIn: this.calls.bytesIn,
      bytesOut: this.calls.bytesOut,
      logsDropped: this.wasi.stderr.droppedBytes,
    }
  }

  #openTree({ files, guestPath }: ModuleDirectory): WasiTree | ChangedTree {
    // Start-up touches no file: what is there is of the time of the run.
    const begun = new ModuleClock(this.start.nowMs).position()
    const nowNs = (): bigint => (this.#startsUp ? begun : this.clock.position())
    if (files !== null) return this.#parts.wasi.openMemoryTree(files, nowNs)
    const { directories = {} } = this.#parts
    const open = Object.hasOwn(directories, guestPath) ? directories[guestPath]?.open : undefined
    if (open !== undefined) return open(nowNs)
    throw new CaissonError(
      'invalid_argument',
      `The directory ${clipText(guestPath, 200)} of the module is not in memory: give it again.`,
    )
  }

  #openHost(state: WasiState | undefined): WasiHost {
    const { program, limits } = this.start
    const { clock, random } = this
    return this.#parts.wasi.openHost(
      {
        args: program.args,
        env: program.env,
        stdin: program.stdin,
        directories: program.directories.map(({ guestPath, writable }, at) => ({
          guestPath,
          writable,
          tree: this.#trees[at] as WasiTree,
        })),
        ...(program.clock && { clock }),
        ...(program.random && { random }),
        limits: {
          stdoutBytes: limits.bytesOut,
          stderrBytes: limits.logBytes,
          descriptors: DESCRIPTORS,
          resources: 0,
          requestBytes: 0,
        },
      },
      {
        wait: (until) => this.#wait(until),
        halt: (end) => this.core.exit(end.kind === 'exit' ? end.code : 0),
      },
      state,
    )
  }

  #imports(roles: ReadonlyMap<CoreImport, ImportRole>): WebAssembly.Imports {
    const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {}
    for (const [wanted, role] of roles) {
      const { module, name, signature } = wanted
      const suspends = this.#suspendsAt(module, name)
      const act = (...args: readonly unknown[]): unknown => this.#act(wanted, role, suspends, args)
      const results = signature?.results ?? []
      imports[module] ??= Object.create(null) as Record<string, WebAssembly.ImportValue>
      imports[module][name] = suspends
        ? this.core.suspendingFunction(() => this.instance, results, { module, name }, act)
        : this.core.hostFunction(results, act)
    }
    return imports
  }

  #act(wanted: CoreImport, role: ImportRole, suspends: boolean, args: readonly unknown[]): unknown {
    switch (role.kind) {
      case 'wasi':
        return this.#actWasi(role.name, suspends, args)
      case 'handle':
        return args[0]
      case 'absent':
        throw absentImport(wanted)
      case 'answer':
        this.endStartUp()
        return this.calls.fetch(args as readonly number[])
      case 'capability':
        this.endStartUp()
        return this.#call(wanted, role, suspends, args as readonly number[])
    }
  }

  #call(
    { module, name }: CoreImport,
    { capability, index }: Extract<ImportRole, { kind: 'capability' }>,
    suspends: boolean,
    args: readonly number[],
  ): unknown {
    const { answers } = this.#parts
    const answer = this.calls.call(capability, index, suspends || answers !== undefined, args)
    if (answer !== SUSPEND || suspends || answers === undefined) return answer
    const { calls, clock, core } = this
    return answers.suspend(
      { module, name },
      {
        deliver(given) {
          calls.checkAnswers(given)
          const [own] = given
          return own && ((): number => calls.deliver(own, args))
        },
        takeAsked: () => calls.takeAsked(),
        advance: (ms) => clock.advance(ms),
        fuel: () => core.fuelUsed,
      },
    )()
  }

  #actWasi(name: string, suspends: boolean, args: readonly unknown[]): unknown {
    this.core.gauge.charge(wasiFuel(name, args, coreMemory(this.core)))
    if (this.#startsUp && !isSameForAll(name, args)) {
      // The machine ends start-up, and calls it again.
      if (suspends && readsInput(name, args) && this.#canBeLeft()) return SUSPEND
      if (readsInput(name, args)) this.#parts.onFirstRead?.()
      this.endStartUp()
    }
    const errno = this.#functions[name]?.(...args)
    const asleep = this.#suspends
    this.#suspends = false
    return asleep ? SUSPEND : errno
  }

  /**
   * Whether all that is at work was made to be unwound. Only where it was run with these arguments and variables before is
   * that known; with others it may have come here on another way.
   */
  #canBeLeft(): boolean {
    const { module, manifest } = this.#parts.core
    const { unwinds } = manifest
    if (unwinds === undefined) return true
    return guestFrames(module)?.every((place) => unwinds.includes(place)) ?? false
  }

  #suspendsAt(module: string, name: string): boolean {
    return this.#parts.core.manifest.suspends.some((at) => at.module === module && at.name === name)
  }

  #wait({ untilNs, requests }: WasiWait): 'ready' | 'suspended' | 'impossible' {
    if (untilNs === undefined || requests.length > 0) return 'impossible'
    const { clock } = this
    const now = clock.position()
    if (untilNs <= now) return 'ready'
    if (this.#suspendsAt(WASI_NAMESPACE, 'poll_oneoff')) {
      this.untilNs = untilNs
      this.#suspends = true
      return 'suspended'
    }
    clock.skip(untilNs)
    if (clock.skippedNs > BigInt(this.start.limits.idleMs) * NS_PER_MS) this.core.gauge.halt('idle')
    return 'ready'
  }
}
