/**
 * Runs that are kept in a store: begun, and gone on with after whatever happened to the process.
 *
 * Going on: the guest is restored from the head's checkpoint (or started anew where there is none), takes the turns
 * again that the log has, with the answers it got then, and is then where it was. What the log does not know an
 * answer of is made again only if it may be.
 *
 * Invariants
 * 1. Who does not hold the run's lease changes nothing of it.
 * 2. A call whose answer was recorded is not made again.
 * 3. Grants reach no further than they did when the run began, unless whoever goes on says that they may.
 * 4. A guest that does something else than its record ends as `diverged`, before anything follows from it.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import type { Gate } from '../capability/gate.ts'
import type { PersonDecision } from '../capability/person-request.ts'
import { type DriveOptions, driveSession, type KnownCalls } from '../machine/driver.ts'
import type { Limits } from '../machine/limits.ts'
import { failed, Session, type SessionOptions, type Step } from '../machine/session.ts'
import type { TimeSpent } from '../machine/time-keeper.ts'
import type { Machine, MachineStart } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunLease } from '../ports/run-store.ts'
import type { TelemetrySpan } from '../ports/telemetry.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { StartEntry } from '../snapshot/run-log/run-entry.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import { SyncReplay } from '../snapshot/run-log/sync-replay.ts'
import { CallDecisions } from './call-decisions.ts'
import type { CheckpointOwner } from './checkpoints.ts'
import { DurableRun } from './durable-run.ts'
import { finalDigest } from './final-digest.ts'
import type { GateOwn, GateWanted } from './gate-maker.ts'
import { ASK_NOBODY, approvalsOf } from './kept-approvals.ts'
import { atWork, type KeptMachineParts, limitsOfKept, takeUp } from './kept-machine.ts'
import { endedOutcome, type KeptOutcome } from './kept-outcome.ts'
import { capabilitiesOf, checkEngine, checkScope, readKeptRun, startOfKept } from './kept-run.ts'
import { knownCalls } from './known-calls.ts'
import type { LinePlace } from './line-place.ts'
import { checkNewest, checkNothingDecided, checkUnspent, mayGoOn } from './may-go-on.ts'
import type { ResumeOptions, RunOptions, RuntimeOptions } from './options.ts'
import type { Platform } from './platform.ts'
import { repeatTurns } from './repeat-turns.ts'
import type { RunOwner } from './run-owner.ts'
import { beginRunSpan, endRunSpan, failRunSpan, type Under } from './run-span.ts'
import { traceOf } from './run-summary.ts'
import { sleepReport } from './sleep-report.ts'
import { giveBack, type WatchedStore } from './watched-store.ts'

/** What the runtime lends. */
export interface RunKeeperParts extends KeptMachineParts {
  /** Watched. */
  readonly store: WatchedStore
  readonly platform: Platform
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Pick<Clock, 'now'>
  readonly options: RuntimeOptions
  /** Of the call that the keeper is for: once it is raised, the store is not waited for as long. */
  readonly signal: AbortSignal | undefined
  /** What the run is told to be a part of. */
  readonly under?: Under
  gateFor(options: GateWanted, guestId: string, own: GateOwn): Gate
  startOf(source: string, options: RunOptions, gate: Gate): Promise<MachineStart>
}

/** How long a process that died in silence keeps the others from its runs, milliseconds. */
export const DEFAULT_LEASE_MS = 15_000

export class RunKeeper {
  readonly #parts: RunKeeperParts
  /** What tells of the run; one keeper is for one of them. */
  #span: TelemetrySpan | undefined

  constructor(parts: RunKeeperParts) {
    this.#parts = parts
  }

  get #leaseMs(): number {
    return this.#parts.options.leaseMs ?? DEFAULT_LEASE_MS
  }

  /** @throws CaissonError `already_exists` when there is a run of this name, `store_conflict`, `encryption_required` */
  begin(source: string, options: RunOptions, owner: CheckpointOwner, guestId: string): Promise<KeptOutcome> {
    return this.#told(() => this.#begin(source, options, owner, guestId))
  }

  /** @throws CaissonError `not_found`, `store_conflict`, and what `Runtime.resume` says */
  resume(owner: RunOwner, options: ResumeOptions): Promise<KeptOutcome> {
    return this.#told(() => this.#resume(owner, options))
  }

  async #told(work: () => Promise<KeptOutcome>): Promise<KeptOutcome> {
    try {
      return await work()
    } catch (error) {
      failRunSpan(this.#span, error)
      throw error
    }
  }

  async #begin(
    source: string,
    options: RunOptions,
    owner: CheckpointOwner,
    guestId: string,
  ): Promise<KeptOutcome> {
    const { store, machines, startOf: startFor } = this.#parts
    this.#parts.checkpoints.checkLabel(owner.label)
    const lease = await store.lease(owner.run, this.#leaseMs)
    let durable: DurableRun | undefined
    try {
      if ((await store.entries(owner.run, 0, 1)).length > 0 || (await store.head(owner.run)) !== undefined) {
        throw new CaissonError(
          'already_exists',
          `There is a run "${owner.run}" already: resume it, or choose another name.`,
        )
      }
      this.#span = this.#beginSpan(owner.run)
      const draft = await startFor(source, options, this.#parts.gateFor(options, guestId, ASK_NOBODY))
      durable = this.#durable(
        lease,
        owner,
        { guestId, limits: draft.limits },
        new EntryCodec(this.#parts.checkpoints.sealing),
      )
      const gate = this.#gate({ ...options, label: owner.label }, guestId, durable, lease, owner, [])
      const start = { ...draft, capabilities: gate.capabilities }
      const atMs = this.#parts.hostClock.now()
      durable.recorder.add(startEntry(start, owner, guestId, machines.engine.id, atMs, options.scope))
      await durable.announce()
      return await atWork(this.#parts, options, start.limits, gate.sync, (machine, asleep) =>
        this.#drive(durable as DurableRun, machine, start, gate, options, {
          first: (session) => session.begin(),
          spent: undefined,
          known: undefined,
          asleep,
        }),
      )
    } finally {
      if (durable === undefined) await giveBack(lease, this.#parts.signal)
      else await durable.close()
    }
  }

  async #resume(owner: RunOwner, options: ResumeOptions): Promise<KeptOutcome> {
    const { store, checkpoints } = this.#parts
    const lease = await store.lease(owner.run, this.#leaseMs)
    let durable: DurableRun | undefined
    try {
      const kept = await readKeptRun(this.#parts, owner, options.reexecute)
      const { head, read, record, codec, at, bytes, captured } = kept
      if (options.checkpoint !== undefined) await checkNewest(checkpoints, options.checkpoint, owner, head)
      if (record.end !== undefined && !mayGoOn(record.end, options)) {
        if (options.checkpoint !== undefined) checkUnspent(record.end, owner.run)
        checkNothingDecided(record.end, owner.run, options)
        return endedOutcome(kept)
      }
      if (options.reexecute !== true) checkEngine(record, this.#parts.machines.engine.id)
      if (options.changeScope !== true) await checkScope(this.#parts, owner, record, options.scope)
      this.#span = this.#beginSpan(owner.run, traceOf(head?.summary), true)
      const { from } = record
      const label = read?.header.label ?? (from as StartEntry).label
      const limits = limitsOfKept(this.#parts, record.limits ?? captured.limits, options)
      const guest = { guestId: captured.guestId, limits }
      const written = read && {
        id: read.chain[0] as Digest,
        links: read.header.links,
        weight: read.weight,
        pages: read.pages,
        state: read.stateBytes,
      }
      durable = this.#durable(lease, { ...owner, label }, guest, codec, { head, written, record, at, bytes })
      checkpoints.checkLabel(label)
      const goneOn = durable
      goneOn.recorder.add({ type: 'open', atMs: this.#parts.hostClock.now(), limits })
      const { decisions = [] } = options
      const gate = this.#gate({ ...options, label }, guest.guestId, goneOn, lease, owner, decisions)
      const replay = new SyncReplay(record.syncCalls, capabilitiesOf(record, gate), gate)
      return await atWork(this.#parts, options, limits, replay, async (machine, asleep) => {
        await takeUp(this.#parts, machine, kept, gate, limits)
        this.#tellResumed(record)
        return this.#drive(goneOn, machine, startOfKept(record, gate, limits), gate, options, {
          restored: read?.state.session,
          first: (session) => repeatTurns(session, machine, record, replay),
          spent: record.spent,
          known: (session) => knownCalls(record, machine.pending, gate, session.stop, options),
          asleep,
        })
      })
    } finally {
      if (durable === undefined) await giveBack(lease, this.#parts.signal)
      else await durable.close()
    }
  }

  #tellResumed({ turns, open, undelivered }: RunRecord): void {
    const repeated = turns.reduce((sum, { answers }) => sum + answers.length, 0)
    this.#parts.options.telemetry?.event('run.resumed', {
      answersRepeated: repeated + undelivered.length,
      callsUnanswered: open.length,
    })
  }

  #beginSpan(run: string, earlier?: string, resumed: boolean = false): TelemetrySpan | undefined {
    const { options, machines, under } = this.#parts
    const told = { run, engine: machines.engine.id, earlier, ...(resumed && { resumed }) }
    return beginRunSpan(options.telemetry, under, told)
  }

  #durable(
    lease: RunLease,
    owner: CheckpointOwner,
    guest: { readonly guestId: string; readonly limits: Limits },
    codec: EntryCodec,
    from?: ConstructorParameters<typeof DurableRun>[0]['from'],
  ): DurableRun {
    const { store, checkpoints, platform, hostClock, options } = this.#parts
    return new DurableRun({
      store,
      lease,
      leaseMs: this.#leaseMs,
      signal: this.#parts.signal,
      owner,
      checkpoints,
      codec,
      clock: platform.clock,
      hostClock,
      policy: options.checkpoints?.every ?? {},
      guest,
      callLog: options.callLog,
      onUnwritten: (code) => options.telemetry?.event('checkpoint.unwritten', { code }),
      telemetry: options.telemetry,
      span: this.#span,
      ...(from && { from }),
    })
  }

  #gate(
    options: GateWanted,
    guestId: string,
    durable: DurableRun,
    lease: RunLease,
    owner: RunOwner,
    given: readonly PersonDecision[],
  ): Gate {
    const { recorder, ledger } = durable
    const approvals = approvalsOf(owner.run, guestId, given)
    const { store, checkpoints } = this.#parts
    const decisions = new CallDecisions(store, owner, checkpoints.sealing).list
    const span = this.#span
    const own = {
      callLog: recorder,
      ledger,
      lease,
      approvals,
      decisions,
      ...(span && { spanOf: () => span }),
    }
    return this.#parts.gateFor(options, guestId, own)
  }

  async #drive(
    durable: DurableRun,
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    options: Pick<RunOptions, 'signal' | 'stopAtCall' | 'stateDigest' | 'atEnd'>,
    how: {
      readonly restored?: SessionOptions['restored']
      readonly first: (session: Session) => Promise<Step>
      /** By the record of the run. */
      readonly spent: TimeSpent | undefined
      readonly known: ((session: Session) => Promise<KnownCalls>) | undefined
      readonly asleep: LinePlace['asleep'] | undefined
    },
  ): Promise<KeptOutcome> {
    const { clock } = this.#parts.platform
    const { signal, stopAtCall, atEnd } = options
    const sessionOptions: SessionOptions = {
      machine,
      start,
      gate,
      clock,
      signal,
      callLog: durable.recorder,
      onDelivery: durable.onDelivery,
      onSleep: sleepReport(this.#parts.options),
      restored: how.restored,
    }
    const session = new Session(sessionOptions)
    durable.timedBy(session.time)
    const end = await session.attend(async () => {
      const first = await how.first(session)
      session.time.atLeast(how.spent)
      const known = first.status === 'waiting' ? await how.known?.(session) : undefined
      const drive: DriveOptions = {
        ...sessionOptions,
        stopAtCall,
        suspendAtEnd: atEnd === 'suspend',
        known,
        // A process that dies while the guest sleeps has taken no turn that the log does not have.
        asleep: async (sleep, stop) => {
          await durable.recorder.flush()
          await (how.asleep === undefined ? sleep() : how.asleep(sleep, stop))
        },
        atRest: (stopping) => endIfLost(session, () => durable.atRest(machine, session, stopping)),
      }
      return driveSession(session, first, drive)
    })
    const { outcome, resumable } = await durable.end(end, session.outcome(end), session.endedItself)
    const stateDigest = await finalDigest(machine, options)
    const { checkpoint } = durable
    const named = { ...(stateDigest && { stateDigest }), ...(checkpoint && { checkpoint }) }
    endRunSpan(this.#span, outcome, named, how.restored?.usage)
    return {
      outcome,
      start,
      checkpoint,
      stateDigest,
      resumable,
      unwritten: durable.unwritten,
      log: durable.recorder.end,
    }
  }
}

/** A thread that dies while its guest is captured is lost as in a turn. */
async function endIfLost(session: Session, capture: () => Promise<void>): Promise<void> {
  try {
    await capture()
  } catch (error) {
    if (!CaissonError.is(error)) throw error
    if (error.code === 'machine_lost') session.finish(failed(error.code, error.message))
    else if (error.code !== 'aborted' || session.end === undefined) throw error
  }
}

function startEntry(
  start: MachineStart,
  { tenant, principal, label }: CheckpointOwner,
  guestId: string,
  engine: string,
  atMs: number,
  scope: readonly string[] = [],
): StartEntry {
  return { type: 'start', version: 1, engine, guestId, tenant, principal, label, atMs, scope, ...start }
}
