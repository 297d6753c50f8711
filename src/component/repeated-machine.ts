/**
 * A guest that is executed again from its beginning with each answer that it waited for (`repeated-answers.ts`): for
 * components and modules that can be suspended in no other way. What it costs grows with the square of the number of its
 * waits.
 *
 * Invariants (beside those of `machine/turn`)
 * 1. Its fuel, output and files are those of an execution that was never given up: each begins anew.
 * 2. What the host was asked inside of turns is asked once: later executions get the same answers.
 */
import { CaissonError } from '../base/errors.ts'
import { clipText } from '../base/escape-text.ts'
import {
  type Answer,
  type Machine,
  type MachineCapture,
  type MachineStart,
  type PendingCall,
  Refusal,
  type SyncCalls,
  type Turn,
  type TurnControl,
} from '../machine/turn.ts'
import type { GuestWorld } from './module/guest-world.ts'
import { askedFor, diverged, fingerprint, RepeatedAnswers, type Settlement } from './repeated-answers.ts'

/** What a guest wrote. */
interface Output {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

export interface RepeatedMachineParts {
  /** Of one execution. */
  open(answers: RepeatedAnswers, syncCalls: SyncCalls): Machine & { readonly output: Output }
  /** What the guest is given of WASI. */
  world(start: MachineStart): Pick<GuestWorld, 'directories'> | null
  readonly syncCalls: SyncCalls
  readonly onDispose?: (output: Output) => void
}

export class RepeatedMachine implements Machine {
  readonly #parts: RepeatedMachineParts
  readonly #syncCalls: RepeatedSyncCalls
  #settlements: readonly Settlement[] = []
  /** Of the turn before. */
  #asked: readonly string[] = []
  #start: MachineStart | undefined
  #current: ReturnType<RepeatedMachineParts['open']> | undefined
  #isTurning = false

  constructor(parts: RepeatedMachineParts) {
    this.#parts = parts
    this.#syncCalls = new RepeatedSyncCalls(parts.syncCalls)
  }

  readonly wakeAtMs = undefined

  get pending(): readonly PendingCall[] {
    return this.#current?.pending ?? []
  }

  start(start: MachineStart, control: TurnControl): Promise<Turn> {
    if (this.#start !== undefined) throw this.#refuse('started')
    refuseRealDirectories(this.#parts.world(start))
    this.#start = start
    return this.#execute(start, control)
  }

  settle(answers: readonly Answer[], nowMs: number, control: TurnControl): Promise<Turn> {
    const start = this.#start
    if (start === undefined || this.#isTurning || this.pending.length === 0) throw this.#refuse('settled')
    const open = new Set(this.pending.map(({ id }) => id))
    const wrong = answers.find(({ id }) => !open.delete(id))
    if (wrong !== undefined)
      throw new CaissonError(
        'unknown_call',
        `No call ${wrong.id} is pending; it may have been settled before.`,
        { details: { id: wrong.id } },
      )
    this.#settlements = [...this.#settlements, { asked: this.#asked, answers, nowMs }]
    return this.#execute(start, control)
  }

  /** A run that is kept goes on by its record. */
  capture(): MachineCapture {
    throw new CaissonError(
      'unsupported',
      'The guest cannot be captured: it is executed again where it waits.',
      { details: { obstacle: 'stack', passes: true } },
    )
  }

  restore(): never {
    throw new CaissonError('unsupported', 'A guest that is executed again is not restored.')
  }

  stateDigest(): string | Promise<string> {
    if (this.#current === undefined || this.#isTurning || this.pending.length > 0)
      throw this.#refuse('digested')
    return this.#current.stateDigest()
  }

  dispose(): void {
    const machine = this.#current
    if (machine !== undefined) this.#parts.onDispose?.(machine.output)
    machine?.dispose()
    this.#current = undefined
  }

  async #execute(start: MachineStart, control: TurnControl): Promise<Turn> {
    this.#isTurning = true
    this.#current?.dispose()
    this.#syncCalls.begin()
    const answers = new RepeatedAnswers(this.#settlements)
    const machine = this.#parts.open(answers, this.#syncCalls)
    this.#current = machine
    try {
      const turn = await machine.start(start, control)
      this.#asked = turn.status === 'waiting' ? askedFor(turn.calls) : []
      const fuel = answers.fuelWhenGivenUp
      return turn.status === 'waiting' && fuel !== undefined
        ? { ...turn, usage: { ...turn.usage, fuel } }
        : turn
    } finally {
      this.#isTurning = false
    }
  }

  #refuse(what: string): CaissonError {
    return this.#isTurning
      ? new CaissonError('busy', `The guest cannot be ${what} inside of a turn.`)
      : new CaissonError('isolate_destroyed', `The guest cannot be ${what}: it does not wait.`)
  }
}

/** The same answers in each execution, in their order. */
class RepeatedSyncCalls implements SyncCalls {
  readonly #calls: SyncCalls
  readonly #known: { readonly asked: string; readonly value: unknown }[] = []
  #next = 0

  constructor(calls: SyncCalls) {
    this.#calls = calls
  }

  /** Of the next execution. */
  begin(): void {
    this.#next = 0
  }

  call(index: number, args: unknown, argBytes: number): unknown {
    const known = this.#known[this.#next]
    const asked = `${index} ${fingerprint(args)}`
    this.#next += 1
    if (known === undefined) {
      const value = this.#calls.call(index, args, argBytes)
      this.#known.push({ asked, value })
      return value
    }
    if (known.asked === asked) return known.value
    const { code, message } = diverged()
    return new Refusal({ code, message })
  }
}

/**
 * Of a guest that is executed again: what is written outside of memory would be written by each execution.
 * @throws CaissonError `unsupported`
 */
export function refuseRealDirectories(world: Pick<GuestWorld, 'directories'> | null): void {
  const real = world?.directories.find(({ files, writable }) => files === null && writable)
  if (real === undefined) return
  throw new CaissonError(
    'unsupported',
    `The guest is executed again where it waits, or when it is gone on with, and could write into ${clipText(real.guestPath, 200)} each time: give it that directory in memory, or for reading.`,
  )
}
