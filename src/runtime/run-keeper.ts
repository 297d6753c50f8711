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
import type { Approvals } from '../capability/approvals.ts'
import type { LedgerState } from '../capability/budget.ts'
import type { Gate, GateOptions } from '../capability/gate.ts'
import type { PersonDecision } from '../capability/person-request.ts'
import { type DriveOptions, driveSession, type KnownCalls } from '../machine/driver.ts'
import type { Limits } from '../machine/limits.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import { failed, Session, type SessionOptions, type Step } from '../machine/session.ts'
import type { TimeSpent } from '../machine/time-keeper.ts'
import type { Machine, MachineStart, SyncCalls } from '../machine/turn.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunHead, RunLease } from '../ports/run-store.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { EndEntry, StartEntry } from '../snapshot/run-log/run-entry.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import { SyncReplay } from '../snapshot/run-log/sync-replay.ts'
import type { CheckpointOwner, Checkpoints, ReadCheckpoint } from './checkpoints.ts'
import { DurableRun } from './durable-run.ts'
import { tell } from './failure-report.ts'
import { finalDigest } from './final-digest.ts'
import type { GuestLine } from './guest-line.ts'
import {
  capabilitiesOf,
  checkEngine,
  checkSameNames,
  checkScope,
  type KeptRun,
  readKeptRun,
  startOfKept,
} from './kept-run.ts'
import { knownCalls } from './known-calls.ts'
import { holdsThread, LinePlace } from './line-place.ts'
import type { MachineMaker } from './machine-maker.ts'
import { checkFits, type LimitBounds, limitsAfter } from './machine-start.ts'
import type { RepeatOptions, ResumeOptions, RunOptions, RuntimeOptions } from './options.ts'
import type { LogEnd, UnwrittenCheckpoints } from './outcome.ts'
import type { Platform } from './platform.ts'
import { beforeBrokenTurn, endAsRecorded, repeatTurns } from './repeat-turns.ts'
import type { RunOwner } from './run-owner.ts'
import { sleepReport } from './sleep-report.ts'
import { giveBack, type WatchedStore, watchedStore } from './watched-store.ts'

/** What the runtime lends. */
export interface RunKeeperParts {
  readonly store: WatchedStore
  readonly platform: Platform
  /** The host's own, whatever the time in guests is. */
  readonly hostClock: Pick<Clock, 'now'>
  readonly options: RuntimeOptions
  /** Of the call that the keeper is for: once it is raised, the store is not waited for as long. */
  readonly signal: AbortSignal | undefined
  readonly checkpoints: Checkpoints
  readonly machines: MachineMaker
  readonly line: GuestLine
  gateFor(options: Pick<RunOptions, 'grants' | 'guard'>, guestId: string, own: Partial<GateOptions>): Gate
  startOf(source: string, options: RunOptions, gate: Gate): Promise<MachineStart>
  readonly bounds: LimitBounds
}

/** How a kept run came to rest, and where it stands. */
export interface KeptOutcome {
  readonly outcome: DrivenOutcome
  readonly start: MachineStart
  readonly checkpoint: Digest | undefined
  readonly stateDigest: string | undefined
  /** Whether `resume` leads further. */
  readonly resumable: boolean
  readonly unwritten?: UnwrittenCheckpoints | undefined
  /** Where its log ends. */
  readonly log?: LogEnd | undefined
}

/** How long a process that died in silence keeps the others from its runs, milliseconds. */
export const DEFAULT_LEASE_MS = 15_000

export class RunKeeper {
  readonly #parts: RunKeeperParts

  constructor(parts: RunKeeperParts) {
    this.#parts = { ...parts, store: watchedStore(parts.store, parts.signal) }
  }

  get #leaseMs(): number {
    return this.#parts.options.leaseMs ?? DEFAULT_LEASE_MS
  }

  /** @throws CaissonError `already_exists` when there is a run of this name, `store_conflict`, `encryption_required` */
  async begin(
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
      const draft = await startFor(source, options, this.#parts.gateFor(options, guestId, ASK_NOBODY))
      durable = this.#durable(
        lease,
        owner,
        { guestId, limits: draft.limits },
        new EntryCodec(this.#parts.checkpoints.sealing),
      )
      const gate = this.#gate(options, guestId, durable, lease, owner, [])
      const start = { ...draft, capabilities: gate.capabilities }
      const atMs = this.#parts.hostClock.now()
      durable.recorder.add(startEntry(start, owner, guestId, machines.engine.id, atMs, options.scope))
      await durable.announce()
      return await this.#atWork(options, start.limits, gate.sync, (machine, asleep) =>
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

  /** @throws CaissonError `not_found`, `store_conflict`, and what `Runtime.resume` says */
  async resume(owner: RunOwner, options: ResumeOptions): Promise<KeptOutcome> {
    const { store, checkpoints } = this.#parts
    const lease = await store.lease(owner.run, this.#leaseMs)
    let durable: DurableRun | undefined
    try {
      const kept = await readKeptRun(this.#parts, owner, options.reexecute)
      const { head, read, record, codec, at, captured } = kept
      if (options.checkpoint !== undefined) await this.#checkFresh(options.checkpoint, owner, head)
      if (record.end !== undefined && !mayGoOn(record.end, options)) {
        if (options.checkpoint !== undefined) checkUnspent(record.end, owner.run)
        checkNothingDecided(record.end, owner.run, options)
        return { ...endedOutcome(record, read), log: logEnd(at, codec) }
      }
      if (options.reexecute !== true) checkEngine(record, this.#parts.machines.engine.id)
      if (options.changeScope !== true) await checkScope(this.#parts, owner, record, options.scope)
      const { from } = record
      const label = read?.header.label ?? (from as StartEntry).label
      const limits = this.#limits(record.limits ?? captured.limits, options)
      const guest = { guestId: captured.guestId, limits }
      const written = read && {
        id: read.chain[0] as Digest,
        links: read.header.links,
        pages: read.pages,
        state: read.stateBytes,
      }
      durable = this.#durable(lease, { ...owner, label }, guest, codec, { head, written, record, at })
      checkpoints.checkLabel(label)
      const goneOn = durable
      goneOn.recorder.add({ type: 'open', atMs: this.#parts.hostClock.now(), limits })
      const { decisions = [] } = options
      const gate = this.#gate(options, guest.guestId, goneOn, lease, owner, decisions)
      const replay = new SyncReplay(record.syncCalls, capabilitiesOf(record, gate), gate)
      return await this.#atWork(options, limits, replay, async (machine, asleep) => {
        await this.#takeUp(machine, kept, gate, limits)
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

  /** What the calls of a run took of its grants, by its record; undefined where there is none. Changes nothing. */
  async tookBefore(owner: RunOwner): Promise<LedgerState['accounts'] | undefined> {
    try {
      return (await readKeptRun(this.#parts, owner)).record.ledger?.accounts
    } catch (error) {
      if (CaissonError.is(error, 'not_found')) return undefined
      throw error
    }
  }

  /** Needs no lease and changes nothing. @throws CaissonError `not_found`, and what `Runtime.repeat` says */
  async repeat(owner: RunOwner, options: RepeatOptions): Promise<KeptOutcome> {
    const kept = await readKeptRun(this.#parts, owner, options.reexecute)
    checkEngine(kept.record, this.#parts.machines.engine.id)
    const whole = await this.#repeat(kept, options)
    if (!('before' in whole)) return whole
    // The first turn of all is not taken where the record breaks off in it.
    const begins = kept.record.turns.length > 0
    const rest = await this.#repeat({ ...kept, record: whole.before }, options, begins)
    return rest as KeptOutcome
  }

  /** @returns its record before a turn that it breaks off in, which was taken for nothing then */
  async #repeat(
    kept: KeptRun,
    options: RepeatOptions,
    begins: boolean = true,
  ): Promise<KeptOutcome | { readonly before: RunRecord }> {
    const { platform } = this.#parts
    const { read, record, captured } = kept
    const had = record.limits ?? captured.limits
    const limits = this.#limits(had, options)
    const gate = this.#parts.gateFor(options, captured.guestId, ASK_NOBODY)
    const replay = new SyncReplay(record.syncCalls, capabilitiesOf(record, gate), undefined)
    return this.#atWork(options, limits, replay, async (machine) => {
      await this.#takeUp(machine, kept, gate, limits)
      const start = startOfKept(record, gate, limits)
      const session = new Session({
        machine,
        start,
        gate,
        clock: platform.clock,
        signal: options.signal,
        restored: read?.state.session,
      })
      const step = begins
        ? await session.attend(() => repeatTurns(session, machine, record, replay))
        : session.goOn()
      const before = beforeBrokenTurn(record, replay)
      if (before !== undefined) {
        session.diverge('its record breaks off in its last turn')
        return { before }
      }
      return {
        outcome: session.outcome(endAsRecorded(session, step, machine, record, !sameLimits(limits, had))),
        start,
        checkpoint: read?.chain[0],
        stateDigest: await finalDigest(machine, options),
        resumable: record.end === undefined || record.end.end.status === 'exhausted',
      }
    })
  }

  /** Puts the machine where the run's last checkpoint is; one that begins anew is left as it is. */
  async #takeUp(machine: Machine, { read, record }: KeptRun, gate: Gate, limits: Limits): Promise<void> {
    checkSameNames(record, gate)
    if (read === undefined) return
    checkFits(read.memoryBytes, limits)
    await machine.restore({
      memoryBytes: read.memoryBytes,
      changes: read.pages.changesSince(this.#parts.checkpoints.basePages),
      state: read.state.machine,
      capabilities: gate.capabilities,
      limits,
    })
  }

  #tellResumed({ turns, open, undelivered }: RunRecord): void {
    const repeated = turns.reduce((sum, { answers }) => sum + answers.length, 0)
    tell(() =>
      this.#parts.options.telemetry?.event('run.resumed', {
        answersRepeated: repeated + undelivered.length,
        callsUnanswered: open.length,
      }),
    )
  }

  /** Fuel that is added counts from what the run had. */
  #limits(before: Limits, { limits, addFuel }: Pick<ResumeOptions, 'limits' | 'addFuel'>): Limits {
    const { bounds, checkpoints } = this.#parts
    const more = addFuel !== undefined && { fuel: (limits?.fuel ?? before.fuel) + addFuel }
    return limitsAfter(before, { ...limits, ...more }, bounds, checkpoints.authenticated)
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
      onUnwritten: (code) => tell(() => options.telemetry?.event('checkpoint.unwritten', { code })),
      ...(from && { from }),
    })
  }

  #gate(
    options: Pick<RunOptions, 'grants' | 'guard'>,
    guestId: string,
    durable: DurableRun,
    lease: RunLease,
    { run }: RunOwner,
    decisions: readonly PersonDecision[],
  ): Gate {
    const { recorder, ledger } = durable
    const approvals = approvalsOf(run, guestId, decisions)
    return this.#parts.gateFor(options, guestId, { callLog: recorder, ledger, lease, approvals })
  }

  /** Holds a place in the line and a machine while `work` goes on. */
  async #atWork<T>(
    options: Pick<RunOptions, 'domain' | 'signal' | 'thread'>,
    limits: Limits,
    syncCalls: SyncCalls,
    work: (machine: Machine, asleep: LinePlace['asleep'] | undefined) => Promise<T>,
  ): Promise<T> {
    const { line, machines } = this.#parts
    const { domain = 'default', signal } = options
    await line.enter(domain, signal)
    const place = new LinePlace(line, domain, true)
    let machine: Machine | undefined
    try {
      machine = await machines.open(options, limits, syncCalls)
      return await work(machine, holdsThread(options) ? undefined : place.asleep)
    } finally {
      machine?.dispose()
      place.leave()
    }
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
    return {
      outcome,
      start,
      checkpoint: durable.checkpoint,
      stateDigest: await finalDigest(machine, options),
      resumable,
      unwritten: durable.unwritten,
      log: durable.recorder.end,
    }
  }

  /** What is given as the checkpoint to go on from must be the newest one: an older one would spend things again. */
  async #checkFresh(bytes: Uint8Array, owner: RunOwner, head: RunHead | undefined): Promise<void> {
    const given = await this.#parts.checkpoints.inspect(bytes)
    if (given.id === head?.chain[0]) return
    throw new CaissonError(
      'checkpoint_refused',
      given.run === owner.run
        ? `The checkpoint is not the newest of run "${owner.run}": the run has gone on since.`
        : `The checkpoint is of run "${given.run.slice(0, 128)}", and not of "${owner.run}".`,
      { details: { differs: 'newest', given: given.id, newest: head?.chain[0] } },
    )
  }
}

/** Of a kept run: calls that people decide over are named by the guest, which no other run has, and their numbers. */
function approvalsOf(run: string, guestId: string, decisions: readonly PersonDecision[]): Approvals {
  const byRequest = new Map(decisions.map((decision) => [decision.request, decision]))
  return {
    about: ({ id }) => ({ id: `${guestId}#${id}`, run, node: '' }),
    decided: (request) => byRequest.get(request),
  }
}

/** For a gate that no call passes. */
const ASK_NOBODY: Pick<GateOptions, 'approvals'> = { approvals: approvalsOf('', '', []) }

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

function sameLimits(a: Limits, b: Limits): boolean {
  const names = Object.keys(a) as (keyof Limits)[]
  return names.every((name) => a[name] === b[name])
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

/** A run that used something up can go on with more of it. */
function mayGoOn({ end }: EndEntry, { limits, addFuel }: ResumeOptions): boolean {
  return end.status === 'exhausted' && (limits !== undefined || addFuel !== undefined)
}

/** A checkpoint cannot be spent twice. What ran out of something waits for more of it. */
function checkUnspent({ end }: EndEntry, run: string): void {
  if (end.status === 'exhausted') return
  throw new CaissonError(
    'checkpoint_refused',
    `The checkpoint was gone on from already: run "${run}" has ended (${end.status}).`,
    { details: { differs: 'end', ended: end.status } },
  )
}

/** Nothing waits for an answer any more: who gives one is told, rather than left to think that it was taken. */
function checkNothingDecided(
  { end }: EndEntry,
  run: string,
  { answers = [], confirm = [], decisions = [] }: ResumeOptions,
): void {
  const [decision] = decisions
  if (decision !== undefined) {
    throw new CaissonError(
      'approval_mismatch',
      `Run "${run}" has ended (${end.status}): nothing in it waits for a decision.`,
      { details: { request: decision.request, ended: end.status } },
    )
  }
  if (answers.length + confirm.length === 0) return
  throw new CaissonError(
    'unknown_call',
    `Run "${run}" has ended (${end.status}): no call of it waits for an answer or a confirmation.`,
    { details: { ended: end.status } },
  )
}

function logEnd(entries: number, { last }: EntryCodec): LogEnd | undefined {
  return last === undefined ? undefined : { entries, digest: last }
}

/** A run that has ended ends the same however often it is asked. */
function endedOutcome({ end }: RunRecord, read: ReadCheckpoint | undefined): KeptOutcome {
  if (end === undefined) throw new CaissonError('corrupted', 'The run has not ended.')
  const { usage, logs, unhandledRejections = [] } = end
  const outcome: DrivenOutcome = { ...end.end, usage, logs, unhandledRejections }
  return {
    outcome,
    start: { source: '', capabilities: [] } as unknown as MachineStart,
    checkpoint: read?.chain[0],
    stateDigest: undefined,
    resumable: end.end.status === 'exhausted',
  }
}
