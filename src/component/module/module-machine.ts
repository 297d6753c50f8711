/**
 * A WASI preview-1 module as a machine that takes turns.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. No code of the module runs outside of a turn: its start section is part of the first.
 * 2. What can be answered at once is; a guest that sleeps, or calls a capability that is not `sync`, is suspended
 *    where it was made suspendable. Where it was not, a sleep moves its clock at once, within `idleMs` over all of
 *    them, and the call fails inside of the guest.
 * 3. The same program, answers and times give the same memory, output and fuel, also when it was captured between.
 * 4. Whatever ends it, the output until then can be read.
 */

import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { clipText } from '../../base/escape-text.ts'
import { exhausted } from '../../machine/exhausted.ts'
import type { Limits } from '../../machine/limits.ts'
import type {
  Answer,
  GuestCapability,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  SyncCalls,
  Turn,
  TurnControl,
  TurnEnd,
} from '../../machine/turn.ts'
import type { PageTools } from '../../ports/page-tools.ts'
import type { WasiTree } from '../../ports/wasi-files.ts'
import type { WasiHost, WasiState, WasiWait } from '../../ports/wasi-host.ts'
import type { ChangedTree, OpenWasiTree, WasiSource } from '../../ports/wasi-source.ts'
import { dirtyPages } from '../../snapshot/dirty-pages.ts'
import type { PageTree } from '../../snapshot/page-tree.ts'
import { START_EXPORT } from '../../wasm/meter-options.ts'
import { captureCore, coreMemory, restoreCore } from '../core/capture-core.ts'
import type { CoreEnd } from '../core/core-end.ts'
import { type CompiledCore, CoreGuest, type CoreInstance, SUSPEND } from '../core/core-guest.ts'
import { ModuleCalls } from './module-calls.ts'
import { ModuleClock, msAt } from './module-clock.ts'
import { moduleDigest } from './module-digest.ts'
import { endOfCore, type ModuleResult } from './module-end.ts'
import { type ImportRole, rolesOf, WASI_NAMESPACE } from './module-imports.ts'
import {
  type ModuleDirectory,
  type ModuleProgram,
  parseModuleProgram,
  programBytes,
} from './module-program.ts'
import { ModuleRandom } from './module-random.ts'
import { checkCapabilities, type ModuleState, parseModuleState } from './module-state.ts'
import { wasiFuel } from './wasi-fuel.ts'

export interface ModuleMachineParts {
  /** Names the prepared module and the tools that made it: what a capture can be restored on. */
  readonly engine: string
  readonly core: CompiledCore
  /** Of a guest that was instantiated and not started. */
  readonly basePages: () => PageTree
  readonly wasi: WasiSource
  /** How directories of the program are opened that are not in memory, by the path at which the guest finds them. */
  readonly directories?: Readonly<Record<string, { readonly open?: OpenWasiTree }>> | undefined
  /** Told what the guest has written, before that is forgotten. */
  readonly onDispose?: (output: Pick<ModuleResult, 'stdout' | 'stderr'>) => void
  readonly syncCalls: SyncCalls
  readonly monotonic: () => number
  readonly tools: PageTools
}

type State = 'fresh' | 'turning' | 'waiting' | 'ended' | 'disposed'

/** Open files and directories of a guest at once. */
const DESCRIPTORS = 256
const NS_PER_MS = 1_000_000n

/** What there is from the start or the restore on. */
interface Life {
  readonly program: ModuleProgram
  readonly seed: Uint8Array
  readonly capabilities: readonly GuestCapability[]
  readonly limits: Limits
  readonly guest: CoreGuest
  readonly instance: CoreInstance
  readonly wasi: WasiHost
  /** By place, with what was changed where they are in memory. */
  readonly trees: readonly (WasiTree | ChangedTree)[]
  readonly clock: ModuleClock
  readonly random: ModuleRandom
  readonly calls: ModuleCalls
  /** Exports to be run, in order. */
  readonly phases: readonly string[]
}

export class ModuleMachine implements Machine {
  readonly #parts: ModuleMachineParts
  #state: State = 'fresh'
  #life: Life | undefined
  #phase = 0
  /** Until when it sleeps, by its clock. */
  #untilNs: bigint | undefined
  /** Slept by moving the clock. */
  #skippedNs = 0n
  #captured: PageTree | undefined

  constructor(parts: ModuleMachineParts) {
    this.#parts = parts
  }

  get pending(): readonly PendingCall[] {
    return this.#life?.calls.pending ?? []
  }

  get wakeAtMs(): number | undefined {
    return this.#untilNs === undefined ? undefined : msAt(this.#untilNs)
  }

  /** What it has written by now. */
  get output(): Pick<ModuleResult, 'stdout' | 'stderr'> {
    const { stdout, stderr } = this.#life?.wasi ?? { stdout: NO_OUTPUT, stderr: NO_OUTPUT }
    return { stdout: stdout.bytes, stderr: stderr.bytes }
  }

  start(start: MachineStart, control: TurnControl): Turn {
    if (this.#state !== 'fresh') throw this.#refuse('started')
    const { program: given, seed, capabilities, limits, nowMs } = start
    const program = parseModuleProgram(given)
    const life = this.#open({ program, seed: seed.slice(), capabilities, limits, nowMs })
    return this.#turn(life, () => {
      life.calls.receive(programBytes(program))
      return this.#enter(life, control)
    })
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    const life = this.#life
    if (this.#state !== 'waiting' || life === undefined) throw this.#refuse('settled')
    life.calls.checkAnswers(answers)
    life.clock.advance(nowMs)
    const [answer] = answers
    const isDue = this.#untilNs !== undefined && life.clock.position() >= this.#untilNs
    if (answer === undefined && !isDue) return this.#completeTurn(life, this.#waits(), [])
    return this.#turn(life, () => {
      const args = life.guest.suspension?.args ?? []
      const result = answer === undefined ? this.#pollAgain(life, args) : life.calls.deliver(answer, args)
      return this.#proceed(life, life.guest.resume(result, control), control)
    })
  }

  capture(): MachineCapture {
    const life = this.#life
    if (this.#state !== 'waiting' || life === undefined) throw this.#refuse('captured')
    const known = this.#captured ?? this.#parts.basePages()
    const { memoryBytes, changes, state: core } = captureCore(life.guest, known, this.#parts.tools.samePage)
    const { program, seed, capabilities, wasi, calls } = life
    const state: ModuleState = {
      version: 1,
      program,
      seed,
      phase: this.#phase,
      core,
      wasi: wasi.capture(),
      calls: calls.state(),
      capabilities: capabilities.map(({ name, sync }) => ({ name, sync })),
      untilNs: this.#untilNs ?? null,
    }
    this.#captured = known.with(changes)
    return { memoryBytes, changes, state }
  }

  restore({ memoryBytes, changes, state: given, capabilities, limits }: MachineRestore): void {
    if (this.#state !== 'fresh') throw this.#refuse('restored')
    const state = parseModuleState(given)
    checkCapabilities(state.capabilities, capabilities)
    const { program, seed } = state
    const life = this.#open({ program, seed, capabilities, limits, nowMs: 0 }, state.wasi)
    const base = this.#parts.basePages()
    const pages = [...changes]
    try {
      life.calls.restore(state.calls)
      restoreCore(life.guest, { memoryBytes, changes: pages, state: state.core }, base)
      this.#checkWaits(life, state)
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
    this.#captured = base.with(pages)
    this.#phase = state.phase
    this.#untilNs = state.untilNs ?? undefined
    this.#state = 'waiting'
  }

  stateDigest(): string {
    const life = this.#life
    if (life === undefined || this.#state === 'disposed' || this.#state === 'turning')
      throw this.#refuse('digested')
    const memory = coreMemory(life.guest)
    const bytes = memory === undefined ? new Uint8Array(0) : new Uint8Array(memory.buffer)
    const known = this.#captured ?? this.#parts.basePages()
    const { samePage, sha256 } = this.#parts.tools
    // Views suffice: the tree is dropped before anything runs.
    const changes = dirtyPages(bytes, known, [{ start: 0, end: bytes.length }], samePage, (view) => view)
    return moduleDigest({
      engine: this.#parts.engine,
      memory: known.with(changes).root(sha256),
      guest: life.guest,
      phase: this.#phase,
      wasi: life.wasi,
      drawn: life.random.position(),
      files: this.#files(life),
      pending: life.calls.pending.map(({ id }) => id),
    })
  }

  dispose(): void {
    if (this.#state === 'disposed') return
    if (this.#state === 'turning') throw this.#refuse('disposed')
    this.#parts.onDispose?.(this.output)
    this.#state = 'disposed'
    this.#untilNs = undefined
    this.#life?.wasi[DISPOSE]()
    this.#life = undefined
    this.#captured = undefined
  }

  #refuse(what: string): CaissonError {
    return this.#state === 'turning'
      ? new CaissonError('busy', `The module cannot be ${what} inside of a turn.`)
      : new CaissonError('isolate_destroyed', `The module cannot be ${what}: it is ${this.#state}.`)
  }

  /** A guest in its world, instantiated and not started. */
  #open(
    of: Pick<Life, 'program' | 'seed' | 'capabilities' | 'limits'> & { readonly nowMs: number },
    state?: WasiState,
  ): Life {
    const { program, seed, capabilities, limits, nowMs } = of
    const { core, monotonic, tools, syncCalls } = this.#parts
    const clock = new ModuleClock(nowMs)
    const random = new ModuleRandom(seed, tools.sha256)
    const guest = new CoreGuest({ fuel: limits.fuel, stackBytes: limits.stackBytes, monotonic })
    const calls = new ModuleCalls({
      syncCalls,
      limits,
      gauge: () => guest.gauge,
      memory: () => coreMemory(guest),
      nowMs: () => msAt(clock.position()),
    })
    const trees = program.directories.map((directory) => this.#openTree(directory, () => clock.position()))
    const wasi = this.#parts.wasi.openHost(
      {
        args: program.args,
        env: program.env,
        stdin: program.stdin,
        directories: program.directories.map(({ guestPath, writable }, at) => ({
          guestPath,
          writable,
          tree: trees[at] as WasiTree,
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
        halt: (end) => guest.exit(end.kind === 'exit' ? end.code : 0),
      },
      state,
    )
    try {
      const roles = rolesOf(core.manifest, capabilities, wasi)
      const instance = guest.instantiate(
        core,
        this.#imports(guest, wasi, calls, roles, () => instance),
      )
      const memory = coreMemory(guest)
      if (memory !== undefined) wasi.attach(memory)
      const phases = phasesOf(core, program.entry)
      const life = {
        program,
        seed,
        capabilities,
        limits,
        guest,
        instance,
        wasi,
        trees,
        clock,
        random,
        calls,
        phases,
      }
      this.#life = life
      return life
    } catch (error) {
      this.#state = 'ended'
      wasi[DISPOSE]()
      throw error
    }
  }

  #openTree({ files, guestPath }: ModuleDirectory, nowNs: () => bigint): WasiTree | ChangedTree {
    if (files !== null) return this.#parts.wasi.openMemoryTree(files, nowNs)
    const { directories = {} } = this.#parts
    const open = Object.hasOwn(directories, guestPath) ? directories[guestPath]?.open : undefined
    if (open !== undefined) return open(nowNs)
    throw new CaissonError(
      'invalid_argument',
      `The directory ${clipText(guestPath, 200)} of the module is not in memory: give it again.`,
    )
  }

  #imports(
    guest: CoreGuest,
    wasi: WasiHost,
    calls: ModuleCalls,
    roles: ReadonlyMap<{ readonly module: string; readonly name: string }, ImportRole>,
    instance: () => CoreInstance,
  ): WebAssembly.Imports {
    const functions = wasi.preview1() as Readonly<Record<string, (...args: readonly unknown[]) => number>>
    const imports: Record<string, Record<string, WebAssembly.ImportValue>> = {}
    for (const [{ module, name }, role] of roles) {
      const at = { module, name }
      const suspends = this.#suspendsAt(module, name)
      const act = (...args: readonly unknown[]): unknown => {
        switch (role.kind) {
          case 'wasi': {
            guest.gauge.charge(wasiFuel(name, args, coreMemory(guest)))
            const errno = functions[name]?.(...args)
            return this.#takeAsleep() ? SUSPEND : errno
          }
          case 'answer':
            return calls.fetch(args as readonly number[])
          case 'capability':
            return calls.call(role.capability, role.index, suspends, args as readonly number[])
        }
      }
      const results = name === 'proc_exit' && module === WASI_NAMESPACE ? ([] as const) : (['i32'] as const)
      const made = suspends
        ? guest.suspendingFunction(instance, results, at, act)
        : guest.hostFunction(results, act)
      imports[module] ??= Object.create(null) as Record<string, WebAssembly.ImportValue>
      imports[module][name] = made
    }
    return imports
  }

  #suspendsAt(module: string, name: string): boolean {
    return this.#parts.core.manifest.suspends.some((at) => at.module === module && at.name === name)
  }

  /** Set by `#wait` when the import is to suspend. */
  #asleep = false

  #takeAsleep(): boolean {
    const asleep = this.#asleep
    this.#asleep = false
    return asleep
  }

  #wait({ untilNs, requests }: WasiWait): 'ready' | 'suspended' | 'impossible' {
    const life = this.#life
    if (life === undefined || untilNs === undefined || requests.length > 0) return 'impossible'
    const { clock, limits, guest } = life
    const now = clock.position()
    if (untilNs <= now) return 'ready'
    if (this.#suspendsAt(WASI_NAMESPACE, 'poll_oneoff')) {
      this.#untilNs = untilNs
      this.#asleep = true
      return 'suspended'
    }
    clock.reach(untilNs)
    this.#skippedNs += clock.position() - now
    if (this.#skippedNs > BigInt(limits.idleMs) * NS_PER_MS) guest.gauge.halt('idle')
    return 'ready'
  }

  /** The import in which the guest slept, once more: its time has come. */
  #pollAgain({ wasi }: Life, args: readonly unknown[]): number {
    this.#untilNs = undefined
    const poll = wasi.preview1().poll_oneoff as (...args: readonly unknown[]) => number
    return poll(...args)
  }

  #enter(life: Life, control: TurnControl): TurnEnd {
    const name = life.phases[this.#phase]
    if (name === undefined) return this.#complete(life, 0)
    return this.#proceed(life, life.guest.run(life.instance, name, [], control), control)
  }

  #proceed(life: Life, end: CoreEnd, control: TurnControl): TurnEnd {
    switch (end.status) {
      case 'returned':
        this.#phase += 1
        return this.#enter(life, control)
      case 'suspended':
        return this.#waits()
      default: {
        const { guest, instance, wasi, limits, calls } = life
        const ended = {
          said: wasi.end,
          limits,
          memoryRefused: guest.memoryRefused,
          stackOverflowed: hasOverflowed(instance),
          way: calls.bytesIn > limits.bytesIn ? ('bytesIn' as const) : ('bytesOut' as const),
        }
        return endOfCore(end, ended, (code) => this.#complete(life, code))
      }
    }
  }

  #waits(): TurnEnd {
    const { wakeAtMs } = this
    return wakeAtMs === undefined ? { status: 'waiting' } : { status: 'waiting', wakeAtMs }
  }

  #complete(life: Life, exitCode: number): TurnEnd {
    const { wasi, calls, limits } = life
    const { stdout, stderr } = wasi
    const files = this.#files(life)
    calls.bytesOut += stdout.bytes.length
    for (const bytes of Object.values(files)) calls.bytesOut += bytes.length
    if (stdout.droppedBytes > 0 || calls.bytesOut > limits.bytesOut)
      return exhausted('bytes', limits, 'bytesOut')
    const value: ModuleResult = { exitCode, stdout: stdout.bytes, stderr: stderr.bytes, files }
    return { status: 'completed', value }
  }

  #files({ program, trees }: Life): Record<string, Uint8Array> {
    const files: Record<string, Uint8Array> = {}
    for (const [at, tree] of trees.entries()) {
      if (!('changed' in tree)) continue
      const path = program.directories[at]?.guestPath ?? ''
      for (const [name, bytes] of tree.changed()) files[`${path === '/' ? '' : path}/${name}`] = bytes
    }
    return files
  }

  #turn(life: Life, work: () => TurnEnd): Turn {
    this.#state = 'turning'
    let end: TurnEnd
    try {
      end = work()
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
    return this.#completeTurn(life, end, end.status === 'waiting' ? life.calls.takeAsked() : [])
  }

  #completeTurn(life: Life, end: TurnEnd, calls: readonly PendingCall[]): Turn {
    if (end.status === 'waiting') this.#state = 'waiting'
    else {
      this.#state = 'ended'
      this.#untilNs = undefined
      life.calls.end()
    }
    return { ...end, calls, logs: [], unhandledRejections: [], usage: this.#usage(life) }
  }

  #usage({ guest, calls, wasi }: Life): Turn['usage'] {
    return {
      fuel: guest.fuelUsed,
      memoryBytes: coreMemory(guest)?.buffer.byteLength ?? 0,
      calls: calls.count,
      bytesIn: calls.bytesIn,
      bytesOut: calls.bytesOut,
      logsDropped: wasi.stderr.droppedBytes,
    }
  }

  /** What it waits for is where it is suspended. @throws CaissonError `corrupted` */
  #checkWaits({ guest, calls, phases }: Life, { phase, untilNs }: ModuleState): void {
    const at = guest.suspension?.at
    const [call] = calls.pending
    const isSleep = at?.module === WASI_NAMESPACE
    const fits = isSleep
      ? untilNs !== null && call === undefined
      : untilNs === null && call?.capability === `${at?.module}.${at?.name}`
    if (at !== undefined && fits && phase < phases.length) return
    throw new CaissonError('corrupted', 'A captured module does not wait for what it says.')
  }
}

/**
 * Whether the stack that LLVM's languages keep in memory, from its global 0 downwards, has left the memory at its lower
 * end: what they do instead of running out of wasm's own.
 */
function hasOverflowed({ manifest, exports }: CoreInstance): boolean {
  const [first] = manifest.globals
  if (first?.type !== 'i32') return false
  return ((exports[first.name] as WebAssembly.Global).value as number) < 0
}

const NO_OUTPUT = { bytes: new Uint8Array(0), droppedBytes: 0 }

/**
 * What is run, in order: the start section, what initialises a reactor, and the entry.
 * @throws CaissonError `invalid_module` where there is no such entry
 */
function phasesOf({ manifest }: CompiledCore, entry: string): readonly string[] {
  const callable = (name: string): boolean =>
    manifest.exports.some(
      (item) => item.name === name && item.kind === 'function' && item.signature?.params.length === 0,
    )
  if (!callable(entry)) {
    throw new CaissonError(
      'invalid_module',
      `The module exports no function ${JSON.stringify(entry.slice(0, 80))} without parameters. A command has "_start"; of other modules name what is to be run (entry).`,
      { details: { reason: 'no entry' } },
    )
  }
  const isReactor = entry !== '_start' && callable('_initialize')
  return [...(manifest.hasStart ? [START_EXPORT] : []), ...(isReactor ? ['_initialize'] : []), entry]
}
