/**
 * Guests that the embedder steps: begun here, or taken up from a checkpoint that stands alone.
 *
 * Invariants
 * 1. A stepped guest holds a place in the line during its steps only.
 * 2. However one fails to come about, its machine is disposed and its place is given back.
 * 3. What a run of the store used up stands in its log: a checkpoint of one is not taken up beside it.
 */
import { CaissonError } from '../base/errors.ts'
import type { Gate } from '../capability/gate.ts'
import { forkedState } from '../isolate/fork-state.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import type { SessionOptions } from '../machine/session.ts'
import { Stepper, type StepperOptions } from '../machine/stepper.ts'
import type { Machine, MachineStart } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { CheckpointOwner, Checkpoints } from './checkpoints.ts'
import { finalDigest } from './final-digest.ts'
import { goingOn } from './going-on.ts'
import { createGuest, type Guest } from './guest.ts'
import type { GuestLine } from './guest-line.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import type { MachineMaker } from './machine-maker.ts'
import { checkFits, type LimitBounds, limitsAfter } from './machine-start.ts'
import type { RestoreOptions, RunOptions } from './options.ts'
import type { Outcome } from './outcome.ts'
import { DEFAULT_DOMAIN, ownerOf } from './run-owner.ts'
import { type WatchedStore, watchedStore } from './watched-store.ts'

/** A guest between admission and release. */
export interface Admitted {
  readonly guestId: string
  readonly session: SessionOptions
  readonly machine: Machine
  readonly domain: string
}

/** What the runtime lends. */
export interface SteppedGuestsParts {
  readonly store: WatchedStore | undefined
  /** The host's own: the time in the guest may stand still, how old a checkpoint is does not. */
  readonly hostClock: Pick<Clock, 'now'>
  readonly checkpoints: Checkpoints
  readonly machines: MachineMaker
  readonly line: GuestLine
  readonly bounds: LimitBounds
  gateFor(options: Pick<RunOptions, 'grants' | 'guard' | 'label'>, guestId: string): Gate
  sessionOf(
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    signal: AbortSignal | undefined,
  ): SessionOptions
  complete(outcome: DrivenOutcome, start: MachineStart): Outcome
}

/** Where a living guest comes from, for its next checkpoint. */
interface GuestOrigin {
  readonly guestId: string
  readonly pages: PageTree
  /** Of the last checkpoint. */
  readonly sequence: number
  readonly owner: CheckpointOwner
}

export class SteppedGuests {
  readonly #parts: SteppedGuestsParts

  constructor(parts: SteppedGuestsParts) {
    this.#parts = parts
  }

  /** Runs an admitted guest to its first calls. */
  async start({ guestId, session, machine, domain }: Admitted, options: RunOptions): Promise<Guest> {
    const { checkpoints, line } = this.#parts
    const place = new LinePlace(line, domain, true)
    try {
      const stepper = await Stepper.start({ ...session, ...inLine(place, options) })
      return await this.#guest(stepper, session, options.stateDigest, {
        guestId,
        pages: checkpoints.basePages,
        sequence: 0,
        owner: ownerOf(options, `guest-${guestId}`),
      })
    } catch (error) {
      machine.dispose()
      throw error
    } finally {
      place.leave()
    }
  }

  /** @param options checked. @throws CaissonError as `Runtime.restore` */
  async restore(checkpoint: Uint8Array, options: RestoreOptions): Promise<Guest> {
    if (!(checkpoint instanceof Uint8Array)) {
      throw new CaissonError('invalid_argument', 'A checkpoint is a Uint8Array.')
    }
    const { checkpoints, machines, line, bounds, gateFor, sessionOf } = this.#parts
    const { domain = DEFAULT_DOMAIN, principal = '', signal, fork } = options
    const read = await checkpoints.read(new Uint8Array(checkpoint), { tenant: domain, principal })
    await this.#refuseKept(read.header.run, signal)
    const { guestId, session: restored, turns } = read.state
    if (turns !== undefined) {
      throw new CaissonError(
        'checkpoint_refused',
        'The checkpoint is of a session between two turns: go on with it by openSession({ from }).',
      )
    }
    // What it may have seen stays secret, whoever takes it up.
    const gate = gateFor({ ...options, label: read.header.label }, guestId)
    const limits = limitsAfter(read.state.limits, options.limits, bounds, checkpoints.authenticated)
    checkFits(read.memoryBytes, limits)
    await line.enter(domain, signal)
    const place = new LinePlace(line, domain, true)
    let machine: Machine | undefined
    try {
      machine = await machines.open(options, limits, gate.sync)
      await machine.restore({
        memoryBytes: read.memoryBytes,
        changes: read.pages.changesSince(checkpoints.basePages),
        state: fork === undefined ? read.state.machine : forkedState(read.state.machine, fork),
        capabilities: gate.capabilities,
        limits,
      })
      const session = { ...sessionOf(machine, goingOn(gate, limits), gate, signal), restored }
      const inDoubt = machine.pending
        .filter((call) => !gate.isRepeatable(call.capability))
        .map(({ id }) => id)
      const stepper = await Stepper.goOn({
        ...session,
        ...inLine(place, options),
        known: { answers: [], recorded: new Map(), inDoubt: new Set(inDoubt) },
      })
      const { tenant, run, label, sequence } = read.header
      return await this.#guest(stepper, session, options.stateDigest, {
        guestId,
        pages: read.pages,
        sequence,
        owner: { tenant, run, principal, label },
      })
    } catch (error) {
      machine?.dispose()
      throw error
    } finally {
      place.leave()
    }
  }

  async #refuseKept(run: string, signal: AbortSignal | undefined): Promise<void> {
    const { store } = this.#parts
    if (store === undefined || (await watchedStore(store, signal).head(run)) === undefined) return
    throw new CaissonError(
      'checkpoint_refused',
      `The checkpoint is of run "${run}", which the store keeps: go on with it by resume.`,
      { details: { run } },
    )
  }

  #guest(
    stepper: Stepper,
    { machine, start }: SessionOptions,
    digested: boolean | undefined,
    made: GuestOrigin,
  ): Promise<Guest> {
    const { checkpoints, hostClock, complete } = this.#parts
    let { pages, sequence } = made
    return createGuest({
      stepper,
      complete: (outcome) => complete(outcome, start),
      release: () => machine.dispose(),
      ...(digested === true && { digest: () => finalDigest(machine, { stateDigest: true }) }),
      write: async ({ machine: captured, session }) => {
        pages = pages.with(captured.changes)
        sequence += 1
        const { memoryBytes, state } = captured
        const { bytes } = await checkpoints.write(
          {
            memoryBytes,
            pages,
            state: { guestId: made.guestId, limits: start.limits, session, machine: state },
          },
          made.owner,
          sequence,
          hostClock.now(),
        )
        return bytes
      },
    })
  }
}

function inLine(
  place: LinePlace,
  options: Pick<RunOptions, 'thread'>,
): Pick<StepperOptions, 'atWork' | 'asleep'> {
  const { atWork, asleep } = place
  return holdsThread(options) ? { atWork } : { atWork, asleep }
}
