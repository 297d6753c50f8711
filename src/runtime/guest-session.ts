/**
 * A guest that is told one program after the other, as at a prompt: what a turn declares, imports and changes is there
 * for the next one.
 *
 * Invariants
 * 1. A turn that fails, or reaches a limit, leaves the guest as it was before it. What its calls did in the world stays
 *    done.
 * 2. Between turns the guest holds no instance: it is pages and data, and costs what it changed.
 * 3. Turns are taken one at a time. Limits are those of a turn, but for memory, which is the guest's.
 */
import { CaissonError } from '../base/errors.ts'
import type { Gate } from '../capability/gate.ts'
import { forkedState } from '../isolate/fork-state.ts'
import { checkCapabilities } from '../isolate/numbered-capabilities.ts'
import { driveMachine } from '../machine/driver.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import type { Machine, MachineStart } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import { checkTurnOptions } from './check-options.ts'
import type { CheckpointOwner, Checkpoints } from './checkpoints.ts'
import { finalDigest } from './final-digest.ts'
import type { GuestLine } from './guest-line.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import type { MachineMaker } from './machine-maker.ts'
import { checkFits, type LimitBounds, limitsOf, machineStart } from './machine-start.ts'
import type { WithModules } from './module-desk.ts'
import type { OpenSessionOptions, TurnOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import type { Platform } from './platform.ts'
import { DEFAULT_DOMAIN, ownerOf } from './run-owner.ts'
import type { TypeScriptDesk } from './typescript-desk.ts'

/** A guest between the programs that it is given. */
export interface GuestSession {
  /** Turns that completed since the session began, those before its checkpoint included. */
  readonly turns: number
  /**
   * Runs a turn: statements, with `await` at the top level; the value is that of the last expression. Declarations
   * stay, and may be made again. Never rejects for anything that the guest does: after `failed` and `exhausted` the
   * guest is as it was before.
   * @throws CaissonError `busy` during another turn, `disposed` after `close`, and what `run` refuses
   */
  evaluate(source: string, options?: TurnOptions): Promise<Outcome>
  /**
   * The guest as bytes, for `openSession({ from })` anywhere. Console lines and what turns used up are not in them.
   * @throws CaissonError `busy`, `disposed`, `unsupported`, `encryption_required`, `checkpoint_too_large`
   */
  checkpoint(): Promise<Uint8Array>
  /** Forgets the guest. */
  close(): void
}

/** What the runtime lends. */
export interface GuestSessionParts {
  readonly platform: Platform
  /** The host's own, whatever the time in guests is: how old a checkpoint is goes by it. */
  readonly hostClock: Pick<Clock, 'now'>
  readonly typescript: TypeScriptDesk
  readonly checkpoints: Checkpoints
  readonly machines: MachineMaker
  readonly line: GuestLine
  readonly bounds: LimitBounds
  newGuestId(): string
  gateFor(options: OpenSessionOptions & WithModules, guestId: string): Gate
  sessionOf(
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): SessionOptions
  complete(outcome: DrivenOutcome, start: MachineStart): Outcome
}

/** The guest between two turns. */
interface Kept {
  readonly memoryBytes: number
  readonly pages: PageTree
  readonly state: unknown
}

/** Opens a session, from a checkpoint where one is given. @param options checked */
export async function openGuestSession(
  parts: GuestSessionParts,
  options: OpenSessionOptions & WithModules,
): Promise<GuestSession> {
  const { checkpoints } = parts
  const { from, fork, domain = DEFAULT_DOMAIN, principal = '' } = options
  const limits = limitsOf(options.limits, parts.bounds)
  const guestId = parts.newGuestId()
  const owner = ownerOf(options, `session-${guestId}`)
  if (from === undefined) return new KeptGuest(parts, options, { owner, turns: 0, sequence: 0 })
  const read = await checkpoints.read(new Uint8Array(from), { tenant: domain, principal })
  const { turns, machine } = read.state
  if (turns === undefined) {
    throw new CaissonError(
      'checkpoint_refused',
      'The checkpoint is of a guest in the middle of a program, and of no session: go on with it by restore.',
    )
  }
  checkFits(read.memoryBytes, limits)
  checkCapabilities(machine, parts.gateFor(options, guestId).capabilities)
  const { run, label, sequence } = read.header
  const { memoryBytes, pages } = read
  return new KeptGuest(
    parts,
    options,
    { owner: { ...owner, run, label }, turns, sequence },
    { memoryBytes, pages, state: fork === undefined ? machine : forkedState(machine, fork) },
  )
}

interface Origin {
  readonly owner: CheckpointOwner
  readonly turns: number
  readonly sequence: number
}

class KeptGuest implements GuestSession {
  readonly #parts: GuestSessionParts
  readonly #options: OpenSessionOptions & WithModules
  readonly #owner: CheckpointOwner
  #kept: Kept | undefined
  #turns: number
  #sequence: number
  #busy = false
  #closed = false

  constructor(
    parts: GuestSessionParts,
    options: OpenSessionOptions & WithModules,
    { owner, turns, sequence }: Origin,
    kept?: Kept,
  ) {
    this.#parts = parts
    this.#options = options
    this.#owner = owner
    this.#turns = turns
    this.#sequence = sequence
    this.#kept = kept
  }

  get turns(): number {
    return this.#turns
  }

  async evaluate(source: string, options: TurnOptions = {}): Promise<Outcome> {
    checkTurnOptions(options)
    return this.#alone(async () => {
      const start = await this.#start(source, options)
      const { line, machines, newGuestId, gateFor, sessionOf, complete } = this.#parts
      const { domain = DEFAULT_DOMAIN } = this.#options
      const { signal } = options
      const gate = gateFor({ ...this.#options, label: this.#owner.label }, newGuestId())
      await line.enter(domain, signal)
      const place = new LinePlace(line, domain, true)
      let machine: Machine | undefined
      try {
        const kind = { ...this.#options, ...(signal && { signal }) }
        machine = await machines.open(kind, start.limits, gate.sync)
        const session = sessionOf(machine, { ...start, capabilities: gate.capabilities }, gate, signal)
        const asleep = holdsThread(this.#options) ? undefined : place.asleep
        const outcome = complete(await driveMachine({ ...session, asleep }), session.start)
        if (outcome.status === 'completed') await this.#keep(machine)
        const stateDigest = await finalDigest(machine, options)
        return stateDigest === undefined ? outcome : { ...outcome, stateDigest }
      } finally {
        machine?.dispose()
        place.leave()
      }
    })
  }

  checkpoint(): Promise<Uint8Array> {
    return this.#alone(async () => {
      const { checkpoints, hostClock, bounds, newGuestId } = this.#parts
      checkpoints.checkLabel(this.#owner.label)
      const kept = this.#kept ?? (await this.#begin())
      const { bytes } = await checkpoints.write(
        {
          memoryBytes: kept.memoryBytes,
          pages: kept.pages,
          state: {
            guestId: newGuestId(),
            limits: limitsOf(this.#options.limits, bounds),
            session: NOTHING_USED,
            machine: kept.state,
            turns: this.#turns,
          },
        },
        this.#owner,
        this.#sequence + 1,
        hostClock.now(),
      )
      this.#sequence += 1
      return bytes
    })
  }

  close(): void {
    this.#closed = true
    this.#kept = undefined
  }

  /** A guest of which nothing was asked yet has its first turn, of nothing. */
  async #begin(): Promise<Kept> {
    this.#busy = false
    const outcome = await this.evaluate('')
    this.#busy = true
    if (this.#kept !== undefined) return this.#kept
    throw new CaissonError('isolate_destroyed', `The guest could not begin: ${outcome.status}.`)
  }

  async #start(source: string, turn: TurnOptions): Promise<MachineStart> {
    const { platform, bounds, typescript, checkpoints } = this.#parts
    const { domain, limits, seed } = this.#options
    const number = this.#turns + 1
    const { language = this.#options.language, signal, fileName } = turn
    const draft = machineStart(
      source,
      {
        input: turn.input,
        limits: { ...limits, ...turn.limits },
        ...(seed !== undefined && { seed }),
        fileName: fileName ?? `turn-${number}.${language === 'ts' ? 'ts' : 'js'}`,
      },
      [],
      bounds,
      platform,
    )
    const start = await typescript.turn(draft, {
      ...(language !== undefined && { language }),
      ...(fileName !== undefined && { fileName }),
      ...(domain !== undefined && { domain }),
      ...(signal !== undefined && { signal }),
    })
    const kept = this.#kept
    if (kept === undefined) return { ...start, keep: true }
    const changes = [...kept.pages.changesSince(checkpoints.basePages)]
    return { ...start, keep: true, after: { memoryBytes: kept.memoryBytes, changes, state: kept.state } }
  }

  async #keep(machine: Machine): Promise<void> {
    const { memoryBytes, changes, state } = await machine.capture()
    if (this.#closed) return
    const before = this.#kept?.pages ?? this.#parts.checkpoints.basePages
    this.#kept = { memoryBytes, pages: before.with(changes), state }
    this.#turns += 1
  }

  async #alone<T>(work: () => Promise<T>): Promise<T> {
    if (this.#closed) throw new CaissonError('disposed', 'The session was closed; open another one.')
    if (this.#busy) {
      throw new CaissonError('busy', 'The session is in the middle of a turn: await it before the next one.')
    }
    this.#busy = true
    try {
      return await work()
    } finally {
      this.#busy = false
    }
  }
}

/** The books of a guest of which each turn has its own. */
const NOTHING_USED = {
  nowMs: 0,
  usage: { fuel: 0, memoryBytes: 0, calls: 0, bytesIn: 0, bytesOut: 0, logsDropped: 0 },
  asked: 0,
  lastId: 0,
  bytesIn: 0,
  bytesOut: 0,
  wallMs: 0,
  idleMs: 0,
  logs: [],
  logsDropped: 0,
  unhandledRejections: [],
} as const
