/**
 * Runs of guests that are no programs (modules, components): driven to their end, kept in a store, gone on with, taken
 * again. Everything beside their machine (gate, session, line, logs, checkpoints) is that of other guests.
 *
 * Invariants
 * 1. A machine that was opened is disposed, and a place in the line that was taken is given back, however it ended.
 * 2. A kept run is gone on with by the code that it was begun with, and no other: their engines are compared.
 */
import { CaissonError } from '../base/errors.ts'
import type { Gate } from '../capability/gate.ts'
import { driveMachine } from '../machine/driver.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import type { Machine, MachineStart, SyncCalls } from '../machine/turn.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import { Checkpoints } from './checkpoints.ts'
import { finalDigest } from './final-digest.ts'
import type { GateOwn, GateWanted } from './gate-maker.ts'
import type { GuestLine } from './guest-line.ts'
import type { KeptOutcome } from './kept-outcome.ts'
import { LinePlace } from './line-place.ts'
import type { LimitBounds } from './machine-start.ts'
import type { RepeatOptions, ResumeOptions, RunOptions, RuntimeOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import { refusePartName } from './plans/part-names.ts'
import type { Platform } from './platform.ts'
import { repeatRun } from './repeat-run.ts'
import { RunKeeper, type RunKeeperParts } from './run-keeper.ts'
import { ownerOf, runOwnerOf } from './run-owner.ts'
import type { Under } from './run-span.ts'
import { type WatchedStore, watchedStore } from './watched-store.ts'

/** What the runtime lends. */
export interface GuestRunsParts {
  readonly platform: Platform
  readonly hostClock: Pick<Platform['clock'], 'now'>
  readonly options: RuntimeOptions
  readonly bounds: LimitBounds
  readonly line: GuestLine
  newGuestId(): string
  gateFor(options: GateWanted, guestId: string, own?: GateOwn): Gate
  sessionOf(
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): SessionOptions
}

/** What the guests of one run are made of. */
export interface GuestCode {
  /** Names all that a guest can observe of it: what it is gone on with. */
  readonly engine: string
  /** Of a guest that has not started. */
  readonly basePages: () => PageTree
  /** Whether the value of one that completed has what it wrote. */
  readonly tellsOutput: boolean
  /** @param onDispose told what the guest has written, before that is forgotten */
  open(syncCalls: SyncCalls, onDispose: (output: GuestOutput) => void): Machine
}

export interface GuestOutput {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** How a guest ended, with what it had written by then where that is no part of its value. */
export type GuestOutcome = Outcome & { readonly output?: GuestOutput }

/** Where a run is kept that is a part of another one. */
export interface KeptPlace {
  /** Default: the runtime's. */
  readonly store?: WatchedStore
  /** What is kept is encrypted under it. */
  readonly key?: Uint8Array | undefined
  readonly under?: Under
}

/** Options of a run that begins, whatever its guest is. */
export type GuestRunOptions = Pick<
  RunOptions,
  | 'grants'
  | 'guard'
  | 'signal'
  | 'nowMs'
  | 'domain'
  | 'principal'
  | 'label'
  | 'stateDigest'
  | 'run'
  | 'scope'
  | 'stopAtCall'
>

/** What the machine of a kept run had written when it was disposed. */
interface LastOutput {
  output?: GuestOutput
}

export class GuestRuns {
  readonly #parts: GuestRunsParts

  constructor(parts: GuestRunsParts) {
    this.#parts = parts
  }

  /** @param draft without its capabilities */
  async run(
    code: GuestCode,
    draft: MachineStart,
    options: GuestRunOptions,
    place: KeptPlace = {},
  ): Promise<GuestOutcome> {
    const guestId = this.#parts.newGuestId()
    if (options.run !== undefined && place.store === undefined) refusePartName(options.run)
    if (options.run !== undefined) return this.#begin(code, draft, options, options.run, guestId, place)
    const { gateFor, line, sessionOf } = this.#parts
    const gate = gateFor(options, guestId)
    const start = { ...draft, capabilities: gate.capabilities }
    const { domain = ownerOf(options, '').tenant, signal, nowMs } = options
    await line.enter(domain, signal)
    const held = new LinePlace(line, domain, true)
    const last: LastOutput = {}
    const machine = code.open(gate.sync, keepIn(last))
    let outcome: DrivenOutcome
    let stateDigest: string | undefined
    try {
      const session = sessionOf(machine, start, gate, signal)
      const timed = nowMs === undefined ? session : { ...session, now: () => nowMs }
      outcome = await driveMachine({ ...timed, asleep: held.asleep })
      stateDigest = await finalDigest(machine, options)
    } finally {
      machine.dispose()
      held.leave()
    }
    return {
      ...outcome,
      engine: code.engine,
      ...outputOf(code, outcome, last),
      ...(stateDigest && { stateDigest }),
    }
  }

  async #begin(
    code: GuestCode,
    draft: MachineStart,
    options: GuestRunOptions,
    run: string,
    guestId: string,
    place: KeptPlace,
  ): Promise<GuestOutcome> {
    const { nowMs, ...own } = options
    if (nowMs !== undefined)
      throw new CaissonError('invalid_argument', 'A kept run has the times of its record: leave nowMs out.')
    const last: LastOutput = {}
    const keeper = new RunKeeper({
      ...this.#keeperParts(code, options.signal, last, place),
      startOf: (_source, _options, gate) => Promise.resolve({ ...draft, capabilities: gate.capabilities }),
    })
    return complete(code, await keeper.begin('', own, ownerOf(options, run), guestId), run, last)
  }

  /** Goes on with a kept run of the same code. @param options checked */
  async resume(
    run: string,
    code: GuestCode,
    options: ResumeOptions,
    place: KeptPlace = {},
  ): Promise<GuestOutcome> {
    const last: LastOutput = {}
    const keeper = new RunKeeper(this.#keeperParts(code, options.signal, last, place))
    return complete(code, await keeper.resume(runOwnerOf(options, run), options), run, last)
  }

  /** Takes a kept run again, as its record has it. */
  async repeat(
    run: string,
    code: GuestCode,
    options: RepeatOptions,
    place: KeptPlace = {},
  ): Promise<GuestOutcome> {
    const last: LastOutput = {}
    const parts = this.#keeperParts(code, options.signal, last, place)
    return complete(code, await repeatRun(parts, runOwnerOf(options, run), options), run, last)
  }

  #keeperParts(
    code: GuestCode,
    signal: AbortSignal | undefined,
    last: LastOutput,
    { store = this.#parts.options.store, key, under }: KeptPlace,
  ): RunKeeperParts {
    const { options, platform } = this.#parts
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
    const { engine } = code
    const checkpoints = new Checkpoints(platform.checkpoints, options.checkpoints ?? {}, engine, base)
    return {
      ...this.#parts,
      store: watchedStore(store, signal),
      signal,
      ...(under !== undefined && { under }),
      checkpoints: key === undefined ? checkpoints : checkpoints.under(key),
      machines: { engine: { id: engine }, open: (_kind, _limits, sync) => code.open(sync, keepIn(last)) },
      startOf: () => {
        throw new CaissonError('corrupted', 'A run that is gone on with is not begun.')
      },
    }
  }
}

function keepIn(last: LastOutput): (output: GuestOutput) => void {
  return (output) => {
    last.output = output
  }
}

function outputOf(
  { tellsOutput }: GuestCode,
  { status }: DrivenOutcome,
  { output }: LastOutput,
): { readonly output?: GuestOutput } {
  return output === undefined || (tellsOutput && status === 'completed') ? {} : { output }
}

function complete(code: GuestCode, kept: KeptOutcome, run: string, last: LastOutput): GuestOutcome {
  const { outcome, checkpoint, stateDigest, resumable, unwritten, log } = kept
  return {
    ...outcome,
    engine: code.engine,
    run,
    ...outputOf(code, outcome, last),
    ...(resumable && { resumable }),
    ...(unwritten && { unwritten }),
    ...(log && { log }),
    ...(checkpoint && { checkpoint }),
    ...(stateDigest && { stateDigest }),
  }
}
