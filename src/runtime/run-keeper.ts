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
 * 3. A guest that does something else than its record ends as `diverged`, before anything follows from it.
 */
import type { Digest } from '../base/digest.ts'
import { CaissonError } from '../base/errors.ts'
import { type Answer, Refusal } from '../capability/call.ts'
import { type Delivery, refusedDelivery } from '../capability/delivery.ts'
import type { Gate, GateOptions } from '../capability/gate.ts'
import { type DriveOptions, driveSession, type KnownCalls } from '../machine/driver.ts'
import type { Limits } from '../machine/limits.ts'
import type { Outcome as DrivenOutcome } from '../machine/outcome.ts'
import { failed, Session, type SessionOptions, type Step } from '../machine/session.ts'
import type { Machine, MachineStart, PendingCall, SyncCalls } from '../machine/turn.ts'
import type { RunHead, RunLease, RunStore } from '../ports/run-store.ts'
import { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import { type EndEntry, type RunEntry, type StartEntry, startOf } from '../snapshot/run-log/run-entry.ts'
import { foldRun, type RunRecord } from '../snapshot/run-log/run-record.ts'
import { SyncReplay } from '../snapshot/run-log/sync-replay.ts'
import { measureValue } from '../values/copy-value.ts'
import type { CheckpointOwner, Checkpoints, ReadCheckpoint } from './checkpoints.ts'
import { DurableRun, LEASE_MS } from './durable-run.ts'
import { goingOn } from './going-on.ts'
import type { GuestLine } from './guest-line.ts'
import type { MachineMaker } from './machine-maker.ts'
import { type LimitBounds, limitsOf } from './machine-start.ts'
import type { HandAnswer, ResumeOptions, RunOptions, RuntimeOptions } from './options.ts'
import type { Platform } from './platform.ts'

const ENTRIES_AT_ONCE = 1_000

/** What the runtime lends. */
export interface RunKeeperParts {
  readonly store: RunStore
  readonly platform: Platform
  readonly options: RuntimeOptions
  readonly checkpoints: Checkpoints
  readonly machines: MachineMaker
  readonly line: GuestLine
  gateFor(options: Pick<RunOptions, 'grants'>, guestId: string, own: Partial<GateOptions>): Gate
  startOf(source: string, options: RunOptions, gate: Gate): MachineStart
  readonly bounds: LimitBounds
}

/** How a kept run came to rest, and where it stands. */
export interface KeptOutcome {
  readonly outcome: DrivenOutcome
  readonly start: MachineStart
  readonly checkpoint: Digest | undefined
  readonly stateDigest: string | undefined
}

export class RunKeeper {
  readonly #parts: RunKeeperParts
  readonly #codecOptions: ConstructorParameters<typeof EntryCodec>[0]

  constructor(parts: RunKeeperParts) {
    this.#parts = parts
    this.#codecOptions = parts.checkpoints.sealing
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
    const lease = await store.lease(owner.run, LEASE_MS)
    let durable: DurableRun | undefined
    try {
      if ((await store.entries(owner.run, 0, 1)).length > 0 || (await store.head(owner.run)) !== undefined) {
        throw new CaissonError(
          'already_exists',
          `There is a run "${owner.run}" already: resume it, or choose another name.`,
        )
      }
      const draft = startFor(source, options, this.#parts.gateFor(options, guestId, {}))
      durable = this.#durable(
        lease,
        owner,
        { guestId, limits: draft.limits },
        new EntryCodec(this.#codecOptions),
      )
      const gate = this.#gate(options, guestId, durable, lease)
      const start = { ...draft, capabilities: gate.capabilities }
      durable.recorder.add(startEntry(start, owner, guestId, machines.engine.id))
      await durable.announce()
      return await this.#atWork(options, start.limits, gate.sync, (machine) =>
        this.#drive(durable as DurableRun, machine, start, gate, options, {
          first: (session) => session.begin(),
          known: undefined,
        }),
      )
    } finally {
      if (durable === undefined) await lease.release()
      else await durable.close()
    }
  }

  /** @throws CaissonError `not_found`, `store_conflict`, and what `Runtime.resume` says */
  async resume(owner: Omit<CheckpointOwner, 'label'>, options: ResumeOptions): Promise<KeptOutcome> {
    const { store, checkpoints } = this.#parts
    const lease = await store.lease(owner.run, LEASE_MS)
    let durable: DurableRun | undefined
    try {
      const head = await store.head(owner.run)
      const read = head?.chain[0] === undefined ? undefined : await this.#readHead(head, owner)
      if (options.checkpoint !== undefined) await this.#checkFresh(options.checkpoint, owner, head)
      const codec = new EntryCodec(this.#codecOptions)
      const { entries, at } = await this.#entries(
        owner,
        read === undefined ? 0 : (head?.position ?? 0),
        codec,
      )
      const record = foldRun(entries)
      const { from } = record
      if (record.end !== undefined && !mayGoOn(record.end, options)) return endedOutcome(record, read)
      if (read === undefined && from.type !== 'start') throw noStart(owner.run)
      if (from.type === 'start') this.#checkStart(from, owner)
      const captured = read?.state ?? (from as StartEntry)
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
      const kept = durable
      kept.recorder.add({ type: 'open', atMs: this.#parts.platform.clock.now(), limits })
      const gate = this.#gate(options, guest.guestId, kept, lease)
      const capabilities = from.type === 'start' ? from.capabilities : gate.capabilities
      const replay = new SyncReplay(record.syncCalls, capabilities, gate)
      return await this.#atWork(options, limits, replay, async (machine) => {
        const start = from.type === 'start' ? { ...startOf(from), limits } : goingOn(gate, limits)
        checkSameNames(from, gate)
        if (read !== undefined) {
          await machine.restore({
            memoryBytes: read.memoryBytes,
            changes: read.pages.changesSince(checkpoints.basePages),
            state: read.state.machine,
            capabilities: gate.capabilities,
            limits,
          })
        }
        return this.#drive(kept, machine, start, gate, options, {
          restored: read?.state.session,
          first: (session) => repeatTurns(session, machine, read === undefined, record, replay),
          known: (session) => this.#knownCalls(record, machine, gate, session, options),
        })
      })
    } finally {
      if (durable === undefined) await lease.release()
      else await durable.close()
    }
  }

  #limits(before: Limits, { limits, addFuel = 0 }: ResumeOptions): Limits {
    const wanted = { ...before, ...limits }
    return limitsOf({ ...wanted, fuel: wanted.fuel + addFuel }, this.#parts.bounds)
  }

  #durable(
    lease: RunLease,
    owner: CheckpointOwner,
    guest: { readonly guestId: string; readonly limits: Limits },
    codec: EntryCodec,
    from?: ConstructorParameters<typeof DurableRun>[0]['from'],
  ): DurableRun {
    const { store, checkpoints, platform, options } = this.#parts
    return new DurableRun({
      store,
      lease,
      owner,
      checkpoints,
      codec,
      clock: platform.clock,
      policy: options.checkpoints?.every ?? {},
      guest,
      callLog: options.callLog,
      ...(from && { from }),
    })
  }

  #gate(options: Pick<RunOptions, 'grants'>, guestId: string, durable: DurableRun, lease: RunLease): Gate {
    const { recorder, ledger } = durable
    return this.#parts.gateFor(options, guestId, { callLog: recorder, ledger, lease })
  }

  /** Holds a place in the line and a machine while `work` goes on. */
  async #atWork<T>(
    options: Pick<RunOptions, 'domain' | 'signal' | 'thread'>,
    limits: Limits,
    syncCalls: SyncCalls,
    work: (machine: Machine) => Promise<T>,
  ): Promise<T> {
    const { line, machines } = this.#parts
    const { domain = 'default', signal } = options
    await line.enter(domain, signal)
    let machine: Machine | undefined
    try {
      machine = await machines.open(options, limits, syncCalls)
      return await work(machine)
    } finally {
      machine?.dispose()
      line.leave(domain)
    }
  }

  async #drive(
    durable: DurableRun,
    machine: Machine,
    start: MachineStart,
    gate: Gate,
    options: Pick<RunOptions, 'signal' | 'stopAtCall' | 'stateDigest'>,
    how: {
      readonly restored?: SessionOptions['restored']
      readonly first: (session: Session) => Promise<Step>
      readonly known: ((session: Session) => Promise<KnownCalls>) | undefined
    },
  ): Promise<KeptOutcome> {
    const { clock } = this.#parts.platform
    const { signal, stopAtCall } = options
    const sessionOptions: SessionOptions = {
      machine,
      start,
      gate,
      clock,
      signal,
      callLog: durable.recorder,
      onDelivery: durable.onDelivery,
      restored: how.restored,
    }
    const session = new Session(sessionOptions)
    const first = await how.first(session)
    const known = first.status === 'waiting' ? await how.known?.(session) : undefined
    const drive: DriveOptions = {
      ...sessionOptions,
      stopAtCall,
      known,
      atRest: (stopping) => durable.atRest(machine, session, stopping),
    }
    const end = await driveSession(session, first, drive)
    const outcome = session.outcome(end)
    await durable.end(end, outcome)
    return {
      outcome,
      start,
      checkpoint: durable.checkpoint,
      stateDigest: options.stateDigest === true ? await machine.stateDigest() : undefined,
    }
  }

  async #readHead(head: RunHead, owner: Omit<CheckpointOwner, 'label'>): Promise<ReadCheckpoint> {
    const { store, checkpoints } = this.#parts
    const id = head.chain[0] as Digest
    const bytes = await store.getBlob(id)
    if (bytes === undefined)
      throw new CaissonError('corrupted', `The checkpoint ${id} of run "${owner.run}" is missing.`)
    return checkpoints.read(bytes, { ...owner, id }, (parent) => store.getBlob(parent))
  }

  /** What is given as the checkpoint to go on from must be the newest one: an older one would spend things again. */
  async #checkFresh(
    bytes: Uint8Array,
    owner: Omit<CheckpointOwner, 'label'>,
    head: RunHead | undefined,
  ): Promise<void> {
    const given = await this.#parts.checkpoints.inspect(bytes)
    if (given.id === head?.chain[0]) return
    throw new CaissonError(
      'checkpoint_refused',
      given.run === owner.run
        ? `The checkpoint is not the newest of run "${owner.run}": the run has gone on since.`
        : `The checkpoint is of run "${given.run.slice(0, 128)}", and not of "${owner.run}".`,
      { details: { given: given.id, newest: head?.chain[0] } },
    )
  }

  async #entries(
    { tenant, run }: Omit<CheckpointOwner, 'label'>,
    from: number,
    codec: EntryCodec,
  ): Promise<{ readonly entries: readonly RunEntry[]; readonly at: number }> {
    const entries: RunEntry[] = []
    for (;;) {
      const at = from + entries.length
      const sealed = await this.#parts.store.entries(run, at, ENTRIES_AT_ONCE)
      for (const [i, bytes] of sealed.entries()) {
        entries.push(await codec.open(bytes, { tenant, run, at: at + i }))
      }
      if (sealed.length < ENTRIES_AT_ONCE) break
    }
    if (entries.length === 0) throw new CaissonError('not_found', `There is no run "${run}" in the store.`)
    return { entries, at: from + entries.length }
  }

  #checkStart({ tenant, principal, engine }: StartEntry, owner: Omit<CheckpointOwner, 'label'>): void {
    const { id } = this.#parts.machines.engine
    if (engine !== id) {
      throw new CaissonError(
        'engine_mismatch',
        `The run was started on engine ${engine}, and here is ${id}.`,
        {
          details: { differs: 'engine', needed: engine, found: id },
        },
      )
    }
    for (const [what, was, is] of [
      ['tenant', tenant, owner.tenant],
      ['principal', principal, owner.principal],
    ] as const) {
      if (was !== is) {
        throw new CaissonError('checkpoint_refused', `The run belongs to another ${what}.`, {
          details: { differs: what },
        })
      }
    }
  }

  /** What is known of the calls that the guest waits for, and what somebody decided about them. */
  async #knownCalls(
    record: RunRecord,
    machine: Machine,
    gate: Gate,
    session: Session,
    { answers = [], confirm = [] }: ResumeOptions,
  ): Promise<KnownCalls> {
    const pending = new Map(machine.pending.map((call) => [call.id, call]))
    const recorded = new Set(record.open.map(({ id }) => id))
    const decided = new Set([...answers.map(({ id }) => id), ...confirm])
    for (const id of decided) {
      if (pending.has(id)) continue
      throw new CaissonError('unknown_call', `No call with id ${id} is pending.`, { details: { id } })
    }
    const deliveries = record.undelivered.map(deliveryOf)
    for (const answer of answers) {
      deliveries.push(
        await answerByHand(answer, pending.get(answer.id) as PendingCall, recorded, gate, session),
      )
    }
    const inDoubt = record.open
      .filter(({ id, capability }) => !decided.has(id) && !gate.isRepeatable(capability))
      .map(({ id }) => id)
    return { answers: deliveries, recorded, inDoubt: new Set(inDoubt) }
  }
}

/** Takes the turns again that the record has. Its first step is the guest's first, where it starts anew. */
async function repeatTurns(
  session: Session,
  machine: Machine,
  fromStart: boolean,
  record: RunRecord,
  replay: SyncReplay,
): Promise<Step> {
  let step = fromStart ? await session.begin() : session.goOn()
  const asked = new Map(machine.pending.map((call) => [call.id, call]))
  for (const { nowMs, answers } of record.turns) {
    if (step.status === 'ended') return session.finish(diverged('it ended earlier'))
    const pending = new Set(machine.pending.map(({ id }) => id))
    const missing = answers.find(({ id }) => !pending.has(id))
    if (missing !== undefined) return session.finish(diverged(`it did not ask for call ${missing.id}`))
    step = await session.repeat(nowMs, answers.map(deliveryOf))
    for (const call of machine.pending) asked.set(call.id, call)
  }
  if (replay.diverged) return session.finish(diverged('it asked for another sync call'))
  for (const { id, capability, askedAtMs } of record.intents.values()) {
    const call = asked.get(id)
    if (call !== undefined && call.capability === capability && call.askedAtMs === askedAtMs) continue
    return session.finish(diverged(`call ${id} was of "${capability}"`))
  }
  return step.status === 'waiting' ? session.goOn() : step
}

async function answerByHand(
  answer: HandAnswer,
  call: PendingCall,
  recorded: ReadonlySet<number>,
  gate: Gate,
  session: Session,
): Promise<Delivery> {
  const { stop } = session
  if ('value' in answer) {
    const mistake = await gate.checkAnswer(call, answer.value, stop)
    if (mistake !== undefined) throw mistake
  }
  const admission = await (recorded.has(call.id) ? gate.readmit(call, stop) : gate.admit(call, stop))
  if (admission instanceof Refusal) return refusedDelivery(call.id, admission)
  const ended =
    'value' in answer
      ? ({ end: 'value', value: answer.value } as const)
      : ({ end: 'error', error: answer.error } as const)
  return gate.conclude(admission, ended, stop)
}

function deliveryOf(answer: Answer): Delivery {
  const bytes = answer.ok ? measureValue(answer.value).bytes : answer.error.message.length
  return { answer, bytes, fatal: false }
}

function startEntry(
  start: MachineStart,
  { tenant, principal, label }: CheckpointOwner,
  guestId: string,
  engine: string,
): StartEntry {
  return { type: 'start', version: 1, engine, guestId, tenant, principal, label, ...start }
}

/** @throws CaissonError `checkpoint_refused`: before any turn is taken again */
function checkSameNames(from: RunRecord['from'], gate: Gate): void {
  if (from.type !== 'start') return // the machine compares with what was captured
  const was = from.capabilities.map(({ name }) => name)
  const is = gate.capabilities.map(({ name }) => name)
  const missing = was.filter((name) => !is.includes(name))
  const added = is.filter((name) => !was.includes(name))
  if (missing.length + added.length === 0) return
  throw new CaissonError(
    'checkpoint_refused',
    `The run was started with other grants.${missing.length > 0 ? ` Missing now: ${missing.join(', ')}.` : ''}${added.length > 0 ? ` Not there then: ${added.join(', ')}.` : ''}`,
    { details: { missing, added } },
  )
}

/** A run that used something up can go on with more of it. */
function mayGoOn({ end }: EndEntry, { limits, addFuel }: ResumeOptions): boolean {
  return end.status === 'exhausted' && (limits !== undefined || addFuel !== undefined)
}

/** A run that has ended ends the same however often it is asked. */
function endedOutcome({ end }: RunRecord, read: ReadCheckpoint | undefined): KeptOutcome {
  if (end === undefined) throw new CaissonError('corrupted', 'The run has not ended.')
  const outcome = { ...end.end, usage: end.usage, logs: end.logs, unhandledRejections: [] } as DrivenOutcome
  return {
    outcome,
    start: { source: '', capabilities: [] } as unknown as MachineStart,
    checkpoint: read?.chain[0],
    stateDigest: undefined,
  }
}

function noStart(run: string): CaissonError {
  return new CaissonError('corrupted', `The log of run "${run}" does not begin with its start.`)
}

function diverged(what: string): ReturnType<typeof failed> {
  return failed('diverged', `The guest did something else than its record says: ${what}.`)
}
