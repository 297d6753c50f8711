/**
 * A WASI preview-1 module as a machine that takes turns. Its guest and what it finds are `module-guest.ts`.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. No code of the module runs outside of a turn: its start section is part of the first.
 * 2. The same program, answers and times give the same memory, output and fuel, also when it was captured between, and
 *    whether or not it began at an image of its start-up (`start-up.ts`).
 * 3. Whatever ends it, the output until then can be read.
 */

import { DISPOSE } from '../../base/disposal.ts'
import { CaissonError } from '../../base/errors.ts'
import { exhausted } from '../../machine/exhausted.ts'
import type {
  Answer,
  Machine,
  MachineCapture,
  MachineRestore,
  MachineStart,
  PendingCall,
  Turn,
  TurnControl,
  TurnEnd,
} from '../../machine/turn.ts'
import { dirtyPages } from '../../snapshot/dirty-pages.ts'
import type { PageTree } from '../../snapshot/page-tree.ts'
import { captureCore, coreMemory, restoreCore } from '../core/capture-core.ts'
import type { CoreEnd } from '../core/core-end.ts'
import type { CoreInstance } from '../core/core-guest.ts'
import { GivenUp } from '../repeated-answers.ts'
import { lowerCall } from './module-call.ts'
import { msAt } from './module-clock.ts'
import { moduleDigest } from './module-digest.ts'
import { endOfCore, type ModuleResult } from './module-end.ts'
import { ModuleGuest, type ModuleGuestParts, type ModuleGuestStart } from './module-guest.ts'
import { beginAtImage, type ModuleImages, takeImage } from './module-image.ts'
import { WASI_NAMESPACE } from './module-imports.ts'
import { parseModuleProgram, programBytes } from './module-program.ts'
import { checkCapabilities, type ModuleState, parseModuleState } from './module-state.ts'
import { startUpKey } from './start-up.ts'

export interface ModuleMachineParts extends ModuleGuestParts {
  /** Names the prepared module and the tools that made it: what a capture can be restored on. */
  readonly engine: string
  /** Of a guest that was instantiated and not started. */
  readonly basePages: () => PageTree
  /** Of this module, for the domain of the guest; left out, every guest starts from the beginning. */
  readonly images?: ModuleImages
  /** Told what the guest has written, before that is forgotten. */
  readonly onDispose?: (output: Pick<ModuleResult, 'stdout' | 'stderr'>) => void
}

type State = 'fresh' | 'turning' | 'waiting' | 'ended' | 'disposed'

export class ModuleMachine implements Machine {
  readonly #parts: ModuleMachineParts
  #state: State = 'fresh'
  #guest: ModuleGuest | undefined
  /** Calls that have returned. */
  #phase = 0
  #captured: PageTree | undefined

  constructor(parts: ModuleMachineParts) {
    this.#parts = parts
  }

  get pending(): readonly PendingCall[] {
    return this.#guest?.calls.pending ?? []
  }

  get wakeAtMs(): number | undefined {
    const { untilNs } = this.#guest ?? {}
    return untilNs === undefined ? undefined : msAt(untilNs)
  }

  /** What it has written by now. */
  get output(): Pick<ModuleResult, 'stdout' | 'stderr'> {
    const { stdout, stderr } = this.#guest?.wasi ?? { stdout: NO_OUTPUT, stderr: NO_OUTPUT }
    return { stdout: stdout.bytes, stderr: stderr.bytes }
  }

  start(start: MachineStart, control: TurnControl): Turn {
    if (this.#state !== 'fresh') throw this.#refuse('started')
    const { program: given, seed, capabilities, limits, nowMs } = start
    const program = parseModuleProgram(given)
    const guest = this.#open({ program, seed: seed.slice(), capabilities, limits, nowMs })
    return this.#turn(guest, () => {
      guest.calls.receive(programBytes(program))
      return this.#begin(guest, control)
    })
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Turn {
    const guest = this.#guest
    if (this.#state !== 'waiting' || guest === undefined) throw this.#refuse('settled')
    const { calls, clock, core, untilNs } = guest
    calls.checkAnswers(answers)
    clock.advance(nowMs)
    const [answer] = answers
    const isDue = untilNs !== undefined && clock.position() >= untilNs
    if (answer === undefined && !isDue) return this.#completeTurn(guest, this.#waits(), [])
    return this.#turn(guest, () => {
      const args = core.suspension?.args ?? []
      const result = answer === undefined ? guest.callAgain() : calls.deliver(answer, args)
      return this.#proceed(guest, core.resume(result, control), control)
    })
  }

  capture(): MachineCapture {
    const guest = this.#guest
    if (this.#state !== 'waiting' || guest === undefined) throw this.#refuse('captured')
    const known = this.#captured ?? this.#parts.basePages()
    const { memoryBytes, changes, state: core } = captureCore(guest.core, known, this.#parts.tools.samePage)
    const { program, seed, capabilities } = guest.start
    const state: ModuleState = {
      version: 1,
      program,
      seed,
      phase: this.#phase,
      core,
      wasi: guest.wasi.capture(),
      calls: guest.calls.state(),
      capabilities: capabilities.map(({ name, sync }) => ({ name, sync })),
      untilNs: guest.untilNs ?? null,
      ...(guest.core.memoryRefused && { memoryRefused: true as const }),
    }
    this.#captured = known.with(changes)
    return { memoryBytes, changes, state }
  }

  restore({ memoryBytes, changes, state: given, capabilities, limits }: MachineRestore): void {
    if (this.#state !== 'fresh') throw this.#refuse('restored')
    const state = parseModuleState(given)
    checkCapabilities(state.capabilities, capabilities)
    const { program, seed } = state
    const guest = this.#open({ program, seed, capabilities, limits, nowMs: 0 }, state)
    const base = this.#parts.basePages()
    const pages = [...changes]
    try {
      guest.calls.restore(state.calls)
      restoreCore(guest.core, { memoryBytes, changes: pages, state: state.core }, base)
      checkWaits(guest, state)
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
    this.#captured = base.with(pages)
    this.#phase = state.phase
    guest.untilNs = state.untilNs ?? undefined
    guest.core.memoryRefused = state.memoryRefused === true
    this.#state = 'waiting'
  }

  stateDigest(): string {
    const guest = this.#guest
    if (guest === undefined || this.#state === 'disposed' || this.#state === 'turning')
      throw this.#refuse('digested')
    const memory = coreMemory(guest.core)
    const bytes = memory === undefined ? new Uint8Array(0) : new Uint8Array(memory.buffer)
    const known = this.#captured ?? this.#parts.basePages()
    const { samePage, sha256 } = this.#parts.tools
    // Views suffice: the tree is dropped before anything runs.
    const changes = dirtyPages(bytes, known, [{ start: 0, end: bytes.length }], samePage, (view) => view)
    return moduleDigest({
      engine: this.#parts.engine,
      memory: known.with(changes).root(sha256),
      guest: guest.core,
      phase: this.#phase,
      wasi: guest.wasi,
      drawn: guest.random.position(),
      files: guest.files(),
      pending: guest.calls.pending.map(({ id }) => id),
    })
  }

  dispose(): void {
    if (this.#state === 'disposed') return
    if (this.#state === 'turning') throw this.#refuse('disposed')
    this.#parts.onDispose?.(this.output)
    this.#state = 'disposed'
    this.#guest?.wasi[DISPOSE]()
    this.#guest = undefined
    this.#captured = undefined
  }

  #refuse(what: string): CaissonError {
    return this.#state === 'turning'
      ? new CaissonError('busy', `The module cannot be ${what} inside of a turn.`)
      : new CaissonError('isolate_destroyed', `The module cannot be ${what}: it is ${this.#state}.`)
  }

  #open(start: ModuleGuestStart, state?: ModuleState): ModuleGuest {
    try {
      this.#guest = new ModuleGuest(this.#parts, start, state?.wasi)
      return this.#guest
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
  }

  /** From the beginning, or at an image of the start-up. */
  #begin(guest: ModuleGuest, control: TurnControl): TurnEnd {
    const image = guest.startsUp ? this.#parts.images?.get(this.#imageKey(guest)) : undefined
    // A limit that its start-up does not fit into has to end it where it would have ended.
    const fits = image !== undefined && image !== null && image.state.fuelUsed <= guest.start.limits.fuel
    if (!fits) return this.#enter(guest, control)
    beginAtImage(guest.core, image)
    this.#phase = image.phase
    guest.clock.moveTo(image.clockNs)
    guest.endStartUp()
    return guest.core.suspension === undefined
      ? this.#enter(guest, control)
      : this.#proceed(guest, guest.core.resume(guest.callAgain(), control), control)
  }

  /** The planned end of start-up. */
  #endStartUp(guest: ModuleGuest): void {
    const { images, basePages, tools } = this.#parts
    const key = this.#imageKey(guest)
    if (images !== undefined && images.get(key) === undefined) {
      const at = { phase: this.#phase, clockNs: guest.clock.position() }
      images.set(key, takeImage(guest.core, basePages, tools.samePage, at))
    }
    guest.endStartUp()
  }

  #imageKey({ start: { program, limits } }: ModuleGuest): string {
    return startUpKey(program, limits.stackBytes)
  }

  #enter(guest: ModuleGuest, control: TurnControl): TurnEnd {
    const { phases, core, instance } = guest
    if (guest.startsUp && this.#phase === phases.startUp) this.#endStartUp(guest)
    const call = phases.calls[this.#phase]
    if (call === undefined) return this.#complete(guest, 0)
    const lowered = lowerCall(core, instance, call, control)
    return 'end' in lowered
      ? this.#proceed(guest, lowered.end, control)
      : this.#proceed(guest, core.run(instance, call.name, lowered.numbers, control), control)
  }

  #proceed(guest: ModuleGuest, end: CoreEnd, control: TurnControl): TurnEnd {
    switch (end.status) {
      case 'returned':
        this.#phase += 1
        return this.#enter(guest, control)
      case 'suspended': {
        if (!guest.startsUp) return this.#waits()
        this.#endStartUp(guest)
        return this.#proceed(guest, guest.core.resume(guest.callAgain(), control), control)
      }
      default: {
        // It is over here, and waits all the same: it will be executed again.
        if (end.status === 'faulted' && end.error instanceof GivenUp) return this.#waits()
        const { core, instance, wasi, calls, start } = guest
        const { limits } = start
        const ended = {
          said: wasi.end,
          limits,
          memoryRefused: core.memoryRefused,
          stackOverflowed: hasOverflowed(instance),
          way: calls.bytesIn > limits.bytesIn ? ('bytesIn' as const) : ('bytesOut' as const),
        }
        return endOfCore(end, ended, (code) => this.#complete(guest, code))
      }
    }
  }

  #waits(): TurnEnd {
    const { wakeAtMs } = this
    return wakeAtMs === undefined ? { status: 'waiting' } : { status: 'waiting', wakeAtMs }
  }

  #complete(guest: ModuleGuest, exitCode: number): TurnEnd {
    const { wasi, calls, start } = guest
    const { limits } = start
    const { stdout, stderr } = wasi
    const files = guest.files()
    calls.bytesOut += stdout.bytes.length
    for (const bytes of Object.values(files)) calls.bytesOut += bytes.length
    if (stdout.droppedBytes > 0 || calls.bytesOut > limits.bytesOut)
      return exhausted('bytes', limits, 'bytesOut')
    const value: ModuleResult = { exitCode, stdout: stdout.bytes, stderr: stderr.bytes, files }
    return { status: 'completed', value }
  }

  #turn(guest: ModuleGuest, work: () => TurnEnd): Turn {
    this.#state = 'turning'
    let end: TurnEnd
    try {
      end = work()
    } catch (error) {
      this.#state = 'ended'
      throw error
    }
    return this.#completeTurn(guest, end, end.status === 'waiting' ? guest.calls.takeAsked() : [])
  }

  #completeTurn(guest: ModuleGuest, end: TurnEnd, calls: readonly PendingCall[]): Turn {
    if (end.status === 'waiting') this.#state = 'waiting'
    else {
      this.#state = 'ended'
      guest.untilNs = undefined
      guest.calls.end()
    }
    return { ...end, calls, logs: [], unhandledRejections: [], usage: guest.usage() }
  }
}

/** What it waits for is where it is suspended. @throws CaissonError `corrupted` */
function checkWaits({ core, calls, phases }: ModuleGuest, { phase, untilNs }: ModuleState): void {
  const at = core.suspension?.at
  const [call] = calls.pending
  const isSleep = at?.module === WASI_NAMESPACE
  const fits = isSleep
    ? untilNs !== null && call === undefined
    : untilNs === null && call?.capability === `${at?.module}.${at?.name}`
  if (at !== undefined && fits && phase < phases.calls.length) return
  throw new CaissonError('corrupted', 'A captured module does not wait for what it says.')
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
