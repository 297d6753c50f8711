/**
 * A run that is kept in a store: its log as it goes, its checkpoints from time to time, and the lease that keeps
 * others from acting for it.
 *
 * Invariants
 * 1. A checkpoint is acknowledged when its bytes, the log up to its mark and then the head are written, in this order.
 * 2. One checkpoint is written at a time; the guest goes on meanwhile, for it was copied.
 * 3. A checkpoint that cannot be written takes nothing away: the one before is still the head.
 * 4. A head whose writing failed may have been written all the same: it is read again before the next one.
 * 5. What is open (calls without an answer) stands in every checkpoint and its mark again: where that is much, there is
 *    none until the log has grown by as much, or it must be.
 * 6. A checkpoint that could not be written while the guest goes on is counted and told: the run stands on the one
 *    before, and on the log, without which nothing goes on.
 */
import type { Digest } from '../base/digest.ts'
import { asError, CaissonError } from '../base/errors.ts'
import { Ledger } from '../capability/budget.ts'
import type { Outcome, RunEnd } from '../machine/outcome.ts'
import type { Session } from '../machine/session.ts'
import type { TimeKeeper } from '../machine/time-keeper.ts'
import type { Machine, PendingCall } from '../machine/turn.ts'
import type { CallLog } from '../ports/call-log.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunHead, RunLease } from '../ports/run-store.ts'
import type { Telemetry, TelemetrySpan } from '../ports/telemetry.ts'
import type { PageTree } from '../snapshot/page-tree.ts'
import type { EntryCodec } from '../snapshot/run-log/entry-codec.ts'
import type { EndEntry } from '../snapshot/run-log/run-entry.ts'
import type { RunRecord } from '../snapshot/run-log/run-record.ts'
import { RunRecorder } from '../snapshot/run-log/run-recorder.ts'
import type { CheckpointOwner, CheckpointPolicy, Checkpoints, WrittenCheckpoint } from './checkpoints.ts'
import type { GuestState } from './guest-state.ts'
import type { UnwrittenCheckpoints } from './outcome.ts'
import {
  decodeRunSummary,
  encodeRunSummary,
  MOST_SUMMARIZED,
  type RunSummary,
  summarizeCall,
  traceOf,
} from './run-summary.ts'
import { spanError } from './span-facts.ts'
import { VALUE_NOT_KEPT } from './value-not-kept.ts'
import { giveBack, prolong, type WatchedStore } from './watched-store.ts'

export interface DurableRunOptions {
  readonly store: WatchedStore
  readonly lease: RunLease
  /** For how long it is taken and renewed, milliseconds. */
  readonly leaseMs: number
  /** Once it is raised, the store is not waited for as long. */
  readonly signal: AbortSignal | undefined
  readonly owner: CheckpointOwner
  readonly checkpoints: Checkpoints
  readonly codec: EntryCodec
  readonly clock: Clock
  /** The host's own: the time in the guest may stand still, how old a checkpoint is does not. */
  readonly hostClock: Pick<Clock, 'now'>
  readonly policy: CheckpointPolicy
  readonly guest: Pick<GuestState, 'guestId' | 'limits'>
  /** Another log that hears of every call. */
  readonly callLog: CallLog | undefined
  /** Told of every checkpoint that could not be written, with the code of the error. */
  readonly onUnwritten: (code: string) => void
  readonly telemetry: Telemetry | undefined
  /** What tells of the run. */
  readonly span: TelemetrySpan | undefined
  /** What a run that goes on stands on. */
  readonly from?: {
    readonly head: RunHead | undefined
    readonly written: WrittenCheckpoint | undefined
    readonly record: RunRecord
    /** Entries in the log. */
    readonly at: number
    /** Bytes of the log after its checkpoint. */
    readonly bytes: number
  }
}

/** An end that is on record. */
type KeptEnd = EndEntry['end'] & Pick<Outcome, 'usage' | 'logs' | 'unhandledRejections'>

/** How a run came to rest. */
interface RunRest {
  readonly outcome: Outcome
  /** Whether it can be gone on with. */
  readonly resumable: boolean
}

/** What a guest waits for. */
interface Waiting {
  readonly pending: readonly PendingCall[]
  readonly wakeAtMs?: number | undefined
}

const UNCHECKPOINTED: Pick<RunHead, 'chain' | 'position'> = { chain: [], position: 0 }
/** What checkpoints may repeat without a thought: the calls of most programs. */
const FEW_OPEN_BYTES = 16_384
const DEFAULT_POLICY = { calls: 16, bytes: 262_144, ms: 1_000, links: 16 }

export class DurableRun {
  readonly recorder: RunRecorder
  readonly ledger: Ledger
  readonly #options: DurableRunOptions
  readonly #policy: Required<CheckpointPolicy>
  readonly #renewal: ReturnType<typeof setInterval>
  #pages: PageTree
  #written: WrittenCheckpoint | undefined
  #head: RunHead | undefined
  /** A head that the store may have, or not, and the checkpoint that it is of. */
  #unsure: { readonly head: RunHead; readonly written: WrittenCheckpoint | undefined } | undefined
  #writing: Promise<void> | undefined
  #failure: Error | undefined
  #unwritten: UnwrittenCheckpoints | undefined
  /** What lists show of the run, but for the time: undefined before anything is told. */
  #told: string | undefined
  /** By what this process delivers and writes: what earlier ones did since their last checkpoint comes on top. */
  #callsAtLast: number
  #bytesAtLast: number
  #timeAtLast: number
  #delivered = 0
  #time: Pick<TimeKeeper, 'activeMs' | 'idleMs'> | undefined
  /** Names the span of the run in its head, or that of an earlier process. */
  readonly #trace: string | undefined

  constructor(options: DurableRunOptions) {
    const { store, lease, leaseMs, owner, codec, clock, callLog, from, checkpoints } = options
    this.#options = options
    this.#policy = { ...DEFAULT_POLICY, ...options.policy }
    this.#pages = from?.written?.pages ?? checkpoints.basePages
    this.#written = from?.written
    this.#head = from?.head
    this.#told = from?.head && toldBy(from.head)
    this.#trace = options.span?.traceparent ?? traceOf(from?.head?.summary)
    this.#callsAtLast = from === undefined ? 0 : -deliveriesIn(from.record)
    this.#bytesAtLast = -(from?.bytes ?? 0)
    this.#timeAtLast = clock.monotonic()
    this.ledger = new Ledger()
    if (from?.record.ledger !== undefined) {
      // While nobody ran, time went by.
      const passedMs = Math.max(0, clock.now() - from.record.ledgerAtMs)
      this.ledger.restore(aged(from.record.ledger, passedMs), clock.monotonic())
    }
    this.recorder = new RunRecorder({
      store,
      run: owner.run,
      tenant: owner.tenant,
      lease,
      codec,
      at: from?.at ?? 0,
      ledger: this.ledger,
      clock,
      spent: () => this.#time && { wallMs: this.#time.activeMs, idleMs: this.#time.idleMs },
      also: callLog,
      ...(from && { open: from.record.open, known: from.record.undelivered }),
    })
    this.#renewal = setInterval(() => {
      // A lease that is lost, or cannot be prolonged in whatever way, shows where it is used.
      new Promise<void>((resolve) => resolve(lease.renew(leaseMs))).catch(() => {})
    }, leaseMs / 3)
  }

  /** The newest acknowledged checkpoint. */
  get checkpoint(): Digest | undefined {
    return this.#written?.id
  }

  /** Checkpoints that could not be written; undefined where all were. */
  get unwritten(): UnwrittenCheckpoints | undefined {
    return this.#unwritten
  }

  /** What the run uses up of time is read here. */
  timedBy(time: Pick<TimeKeeper, 'activeMs' | 'idleMs'>): void {
    this.#time = time
  }

  readonly onDelivery: RunRecorder['turn'] = (nowMs, answers) => {
    this.#delivered += deliveriesOf(answers)
    this.recorder.turn(nowMs, answers)
  }

  /** The guest waits: captures it where the policy says so, or where it must. */
  async atRest(machine: Machine, session: Session, must: boolean): Promise<void> {
    // A turn in the host's own thread keeps its timers waiting: nobody may have come while it ran out.
    const { lease, leaseMs } = this.#options
    if (!(await isHeld(lease))) await prolong(lease, leaseMs)
    if (must) {
      await this.settle()
      await this.#takeOrGoOn(machine, session)
      await this.settle()
      if (this.#failure !== undefined) throw this.#failure
    } else if (this.#writing === undefined && this.#isDue() && this.#isWorthIt(machine)) {
      await this.#takeOrGoOn(machine, session)
    }
  }

  /** Where the guest cannot be captured as it waits now, its record alone is enough to go on. */
  async #takeOrGoOn(machine: Machine, session: Session): Promise<void> {
    try {
      await this.#take(machine, session)
    } catch (error) {
      if (!CaissonError.is(error, 'unsupported') || error.details.passes !== true) throw error
      await this.recorder.flush()
    }
  }

  /** Resolves when no checkpoint is being written. */
  async settle(): Promise<void> {
    await this.#writing
  }

  /**
   * Writes down how it ended. A suspended run has not: it waits.
   * @param endedItself as its session says
   * @returns how it ended by its log, and whether the run can be gone on with
   */
  async end(end: RunEnd, outcome: Outcome, endedItself: boolean): Promise<RunRest> {
    await this.settle()
    if (end.status === 'suspended') {
      // Who decides what it asks decides over where its record has it.
      if (end.pending.some(({ approval }) => approval !== undefined)) await this.recorder.flush()
      await this.#tellWaiting(end)
      return { outcome, resumable: true }
    }
    if (!endedItself && isBrokenOff(end)) {
      await this.#tellTime()
      return { outcome, resumable: true }
    }
    const ended = this.#addEnd(end, outcome)
    await this.recorder.flush()
    await this.#knowHead()
    const { status } = ended
    const mayGoOn = status === 'exhausted'
    // A program that was taken from its start does not end at the checkpoint of another engine.
    const { chain, position } =
      (mayGoOn || this.#written !== undefined ? this.#head : undefined) ?? UNCHECKPOINTED
    await this.#setHead(chain, position, { status })
    return { outcome: ended, resumable: mayGoOn }
  }

  /** A value that no log takes is not the end of a run whose end is kept. */
  #addEnd(end: EndEntry['end'], { usage, logs, unhandledRejections }: Outcome): KeptEnd {
    const atMs = this.#options.hostClock.now()
    const books = { usage, logs, unhandledRejections }
    try {
      this.recorder.add({ type: 'end', atMs, end, ...books })
      return { ...end, ...books }
    } catch (error) {
      if (end.status !== 'completed' || !CaissonError.is(error, 'value_too_large')) throw error
      this.recorder.add({ type: 'end', atMs, end: VALUE_NOT_KEPT, ...books })
      return { ...VALUE_NOT_KEPT, ...books }
    }
  }

  /** Writes a first head, so that the run is known before its first checkpoint. */
  async announce(): Promise<void> {
    await this.recorder.flush()
    await this.#setHead([], 0, { status: 'running' })
  }

  async close(): Promise<void> {
    clearInterval(this.#renewal)
    await this.settle()
    await giveBack(this.#options.lease, this.#options.signal)
  }

  /** Else a run that is broken off again and again would never have used up its time. */
  async #tellTime(): Promise<void> {
    try {
      await this.recorder.budget()
    } catch {
      // Who lost the run, or its log, writes nothing any more.
    }
  }

  /** A run that is in doubt waits also where its newest checkpoint is of something else, or there is none yet. */
  async #tellWaiting(waiting: Waiting): Promise<void> {
    const summary = this.#waiting(waiting)
    if (told({ ...summary, trace: this.#trace }) === this.#told) return
    try {
      await this.#knowHead()
      const { chain, position } = this.#head ?? UNCHECKPOINTED
      await this.#setHead(chain, position, summary)
    } catch {
      // Lists are behind then. How the run came to rest stands in its log.
    }
  }

  #waiting({ pending, wakeAtMs }: Waiting): RunSummary {
    const { encrypts } = this.#options.checkpoints
    const few = pending.slice(0, MOST_SUMMARIZED)
    return {
      status: 'waiting',
      pending: few.map((call) => summarizeCall(call, !encrypts)),
      ...(wakeAtMs !== undefined && { wakeAtMs }),
    }
  }

  #isDue(): boolean {
    const { calls, bytes, ms } = this.#policy
    if (this.#delivered === this.#callsAtLast) return false
    return (
      this.#delivered - this.#callsAtLast >= calls ||
      this.recorder.bytes - this.#bytesAtLast >= bytes ||
      this.#options.clock.monotonic() - this.#timeAtLast >= ms
    )
  }

  /** Invariant 5. */
  #isWorthIt({ pending }: Machine): boolean {
    const asked = pending.reduce((sum, { bytes }) => sum + bytes, 0)
    const open = Math.max(asked, this.recorder.openBytes)
    return open <= FEW_OPEN_BYTES || this.recorder.bytes - this.#bytesAtLast >= open
  }

  async #take(machine: Machine, session: Session): Promise<void> {
    const { guest } = this.#options
    this.#failure = undefined
    this.#callsAtLast = this.#delivered
    this.#bytesAtLast = this.recorder.bytes
    this.#timeAtLast = this.#options.clock.monotonic()
    const captured = await machine.capture()
    this.#pages = this.#pages.with(captured.changes)
    const pages = this.#pages
    const mark = this.#options.checkpoints.nameMark()
    const state: GuestState = { ...guest, session: session.state(), machine: captured.state, mark }
    const summary = this.#waiting(machine)
    let position: number
    try {
      position = this.recorder.mark(mark)
    } catch (error) {
      this.#countUnwritten(error)
      return
    }
    this.#writing = this.#write({ memoryBytes: captured.memoryBytes, pages, state }, position, summary)
      .catch((error: unknown) => this.#countUnwritten(error))
      .finally(() => {
        this.#writing = undefined
      })
  }

  #countUnwritten(error: unknown): void {
    this.#failure = asError(error)
    const code = CaissonError.is(error) ? error.code : 'store_failed'
    const count = (this.#unwritten?.count ?? 0) + 1
    this.#unwritten = { count, code, message: this.#failure.message }
    this.#options.onUnwritten(code)
  }

  async #write(
    image: Parameters<Checkpoints['write']>[0],
    position: number,
    summary: RunSummary,
  ): Promise<void> {
    const { telemetry, span: parent } = this.#options
    const attributes = { run: this.#options.owner.run }
    const span = parent && telemetry?.span?.({ kind: 'checkpoint', name: '', parent, attributes })
    try {
      const { id, bytes } = await this.#writeImage(image, position, summary)
      span?.end({ outcome: 'completed', attributes: { checkpoint: id, bytes } })
    } catch (error) {
      const code = CaissonError.is(error) ? error.code : 'store_failed'
      span?.end({ outcome: 'failed', error: spanError(code) })
      throw error
    }
  }

  async #writeImage(
    image: Parameters<Checkpoints['write']>[0],
    position: number,
    summary: RunSummary,
  ): Promise<{ readonly id: Digest; readonly bytes: number }> {
    const { store, checkpoints, owner, hostClock } = this.#options
    await this.#knowHead()
    const parent = this.#written && mayBeParent(this.#written, this.#policy) ? this.#written : undefined
    const sequence = (this.#head?.version ?? 0) + 1
    const { id, bytes, written } = await checkpoints.write(image, owner, sequence, hostClock.now(), parent)
    await store.putBlob(id, bytes)
    await this.recorder.flush()
    const chain = parent === undefined ? [id] : [id, ...(this.#head?.chain ?? [])]
    await this.#setHead(chain, position, summary, written)
    return { id, bytes: bytes.length }
  }

  async #knowHead(): Promise<void> {
    if (this.#unsure === undefined) return
    const { head, written } = this.#unsure
    const found = await this.#options.store.head(this.#options.owner.run)
    this.#unsure = undefined
    if (found?.version !== head.version || found.chain.join() !== head.chain.join()) return
    this.#head = head
    this.#written = written
  }

  async #setHead(
    chain: readonly Digest[],
    position: number,
    summary: RunSummary,
    written: WrittenCheckpoint | undefined = this.#written,
  ): Promise<void> {
    const { store, owner, lease, hostClock } = this.#options
    const head: RunHead = {
      version: (this.#head?.version ?? 0) + 1,
      chain,
      position,
      summary: encodeRunSummary({ ...summary, atMs: hostClock.now(), trace: this.#trace }),
    }
    this.#unsure = { head, written }
    await store.setHead(owner.run, head, lease)
    this.#unsure = undefined
    this.#head = head
    this.#written = written
    this.#told = told({ ...summary, trace: this.#trace })
  }
}

function deliveriesIn({ turns }: RunRecord): number {
  return turns.reduce((sum, { answers }) => sum + deliveriesOf(answers), 0)
}

/** A turn without answers is taken for a timer. */
function deliveriesOf(answers: readonly unknown[]): number {
  return Math.max(answers.length, 1)
}

/**
 * Whoever goes on reads the whole chain: one whose links are as large as the checkpoint they stand on is not made longer,
 * or going on would cost what the guest changed since then, again and again in the same pages.
 */
function mayBeParent(
  { links, weight }: WrittenCheckpoint,
  { links: most }: Pick<Required<CheckpointPolicy>, 'links'>,
): boolean {
  return links < most && weight.links < weight.alone
}

async function isHeld(lease: RunLease): Promise<boolean> {
  try {
    return await lease.held()
  } catch {
    return false
  }
}

/** What a summary tells, but for when. */
function told({ status, pending = [], wakeAtMs, trace }: RunSummary): string {
  return JSON.stringify([status, pending.map(({ id }) => id), wakeAtMs, trace])
}

function toldBy({ summary }: RunHead): string | undefined {
  try {
    return told(decodeRunSummary(summary))
  } catch {
    return undefined // written by somebody else: it is written anew
  }
}

/**
 * What the host broke off can go on, and so can what lost its thread: to the run it is as if its process had been
 * killed. A guest whose thread dies each time is broken off each time that somebody resumes it, and never by itself.
 * Not so `isolate_destroyed`, `engine_trap` and `corrupted`: those are ends that the guest came to, by a defect of the
 * engine or of ours that it would come to again.
 *
 * Asked only of what the program did not come to itself: it may forge any code.
 */
function isBrokenOff(end: RunEnd): boolean {
  return end.status === 'failed' && BROKEN_OFF.has(end.error.code ?? '')
}

const BROKEN_OFF: ReadonlySet<string> = new Set([
  'aborted',
  'lease_lost',
  'machine_lost',
  'not_recorded',
  'diverged',
])

function aged(ledger: ReturnType<Ledger['snapshot']>, passedMs: number): ReturnType<Ledger['snapshot']> {
  const accounts = Object.entries(ledger.accounts).map(([name, account]) => [
    name,
    { ...account, rateAgesMs: account.rateAgesMs.map((age) => age + passedMs) },
  ])
  return { ...ledger, accounts: Object.fromEntries(accounts) as typeof ledger.accounts }
}
