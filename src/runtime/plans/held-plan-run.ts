/**
 * A run of a plan that this process holds: read, written on, driven, given back.
 *
 * Invariants
 * 1. Who holds the lease is the only one who writes. What was read before it was taken is read again.
 * 2. What is recorded is on disk when `record` resolves, and the runner goes on from it.
 * 3. It is given back when nothing is to be done by itself, and nobody is about to record something.
 * 4. Who only records something needs none of the tools of the plan.
 * 5. What happened is written soon, also while other nodes are at work for long: others see what is asked and what has
 *    ended, and whoever goes on with the run has it.
 */
import type { Digest } from '../../base/digest.ts'
import { asError, CaissonError } from '../../base/errors.ts'
import type { DefinedPlan } from '../../graph/plan/define-plan.ts'
import type { RegisteredNode } from '../../graph/plan/node-kinds.ts'
import { checkRunEvent } from '../../graph/run/parse-run-event.ts'
import type { RecordedEvent, RunEvent } from '../../graph/run/run-event.ts'
import type { RunState } from '../../graph/run/run-state.ts'
import { RunValues } from '../../graph/run/run-values.ts'
import { Runner } from '../../graph/run/runner.ts'
import { encodeRecord, Journal, type JournalEnd } from '../../journal/journal.ts'
import type { Clock } from '../../ports/clock.ts'
import type { TelemetrySpan } from '../../ports/telemetry.ts'
import type { KeptPlace } from '../guest-runs.ts'
import type { RunOwner } from '../run-owner.ts'
import { traceOf } from '../run-summary.ts'
import { earlierOutput } from './earlier-output.ts'
import { placeToReadFrom } from './place-to-read-from.ts'
import { EventCollector, foldEvents, pointOf } from './plan-record.ts'
import type { PlanRunParts } from './plan-run-parts.ts'
import { PlanSpans } from './plan-spans.ts'
import { loadWasm } from './plan-wasm.ts'
import { PlanWork } from './plan-work.ts'
import { readCut } from './run-cut.ts'
import { RunHold } from './run-hold.ts'
import { RunImages } from './run-images.ts'
import { useRunKey } from './run-key.ts'
import { summaryOf } from './run-view.ts'
import { type ImportMark, importMarkOf } from './transfer/import-mark.ts'
import { ValueShelves } from './value-shelves.ts'
import { type WasmGuest, wasmGuest } from './wasm-work.ts'
import { writtenOn } from './written-on.ts'

/** Long enough that what happens together is written together. */
const WRITTEN_WITHIN_MS = 20

/** Makes events of what the state is by then. Nothing is recorded when it throws. */
export type MakeEvents = (held: HeldPlanRun) => Promise<readonly RunEvent[]>

interface HeldParts {
  readonly parts: PlanRunParts
  readonly owner: RunOwner
  readonly hold: RunHold
  readonly plan: DefinedPlan
  readonly state: RunState
  readonly values: RunValues
  /** Of the run, where its values can be erased. */
  readonly key: Uint8Array | undefined
  readonly journal: Journal
  readonly shelves: ValueShelves
  readonly images: RunImages
  readonly imported: ImportMark | undefined
  /** `traceparent` of the span that told last of the run. */
  readonly earlier: string | undefined
}

export class HeldPlanRun {
  readonly plan: DefinedPlan
  readonly state: RunState
  readonly values: RunValues
  readonly #parts: HeldParts
  /** Where telemetry is given. */
  readonly #spans: PlanSpans | undefined
  /** From when it is driven on. */
  #runner: Runner | undefined
  /** Writes what nobody has asked to be written so far. */
  #writing: ReturnType<typeof setTimeout> | undefined
  /** Records that are being made, so that it is not given back under them. */
  #recording = 0
  #recorded = 0
  #onQuiet: (() => void) | undefined
  #closed = false

  private constructor(parts: HeldParts) {
    this.plan = parts.plan
    this.state = parts.state
    this.values = parts.values
    this.#parts = parts
    const { owner, plan, state, earlier } = parts
    const { telemetry } = parts.parts
    if (telemetry?.span !== undefined)
      this.#spans = new PlanSpans({ telemetry, run: owner.run, plan, state, earlier })
  }

  /** Takes the lease, and reads the run. @throws CaissonError `store_conflict`, and as reading does */
  static async open(parts: PlanRunParts, owner: RunOwner): Promise<HeldPlanRun> {
    const { store } = parts
    const hold = await RunHold.take(parts, owner.run)
    const { lease } = hold
    try {
      const head = await store.head(owner.run)
      const collector = new EventCollector()
      const from = await placeToReadFrom(parts, owner, head)
      const imported = await importMarkOf(parts, owner)
      // Made once the journal was read; until then nothing is written.
      let shelves: ValueShelves | undefined
      let images: RunImages | undefined
      let bytes = from?.image.bytes ?? 0
      const values = new RunValues(store, head?.chain)
      const journalStore = writtenOn(
        store,
        () => shelves?.add(values.takeAdded()),
        (length, more) => {
          images?.noteWritten(length, more)
          parts.changed(owner)
        },
        (read) => {
          bytes += read
        },
      )
      const { tenant, run } = owner
      const options = { store: journalStore, run, tenant, sealing: parts.sealing }
      const journal = await Journal.open(options, lease, collector.add, from?.end)
      if (journal.length === 0 && (await readCut(parts, owner)) !== undefined) throw endedForGood(run)
      const { plan, state } = await foldEvents(run, collector.events, parts.plans, store, from)
      const { key } = await useRunKey(parts, owner, state, values)
      shelves = new ValueShelves({ store, run, plan: plan.digest, lease, head })
      images = new RunImages({
        store,
        sealing: parts.sealing,
        owner,
        policy: parts.imageEvery ?? {},
        state,
        journal,
        shelves,
        from: { records: from?.image.records ?? 0, imageBytes: from?.image.imageBytes ?? 0, bytes },
      })
      const earlier = traceOf(head?.summary)
      return new HeldPlanRun({
        parts,
        owner,
        hold,
        plan,
        state,
        values,
        key,
        journal,
        shelves,
        images,
        imported,
        earlier,
      })
    } catch (error) {
      await hold.giveBack()
      throw error
    }
  }

  /** Whether it was given back, or is about to be: nothing can be recorded any more. */
  get isClosed(): boolean {
    return this.#closed
  }

  /** Where the journal ends: asked while nothing is under way. */
  get end(): JournalEnd {
    return this.#parts.journal.end
  }

  /** Records what `make` makes of the state, whole or not at all. @throws what `make`, the fold and the store throw */
  async record(make: MakeEvents): Promise<void> {
    this.#recording += 1
    try {
      const events = await make(this)
      // What was asked of the state while it was awaited may have changed since: then nothing is recorded.
      this.state.check(events)
      if (this.isImported) this.#checkConfirmed(events)
      for (const event of events) {
        checkRunEvent(event)
        encodeRecord(event)
      }
      await this.#write(events)
    } finally {
      this.#recording -= 1
      this.#recorded += 1
      if (this.#recording === 0) this.#onQuiet?.()
    }
  }

  /** Whether nobody let it go on since it was imported: it is read-only until then. */
  get isImported(): boolean {
    const { imported, journal } = this.#parts
    return imported?.length === journal.length && imported.digest === journal.end.digest
  }

  /** @throws CaissonError `confirmation_required` */
  #checkConfirmed(events: readonly RunEvent[]): void {
    if (events.length === 0 || events.some(({ type }) => type === 'confirmed')) return
    const { owner, journal } = this.#parts
    throw new CaissonError(
      'confirmation_required',
      'The run was imported, and is read-only until somebody resumes it with the `point` at which it stands. One that had not started is proposed again.',
      { details: { point: pointOf(owner, journal.end) } },
    )
  }

  async #write(events: readonly RunEvent[]): Promise<void> {
    if (this.#runner !== undefined) return this.#runner.record(...events)
    const { journal, parts } = this.#parts
    for (const event of events) {
      const recorded = { ...event, timeMs: timeIn(this.state, parts) }
      this.state.apply(recorded)
      journal.add(recorded)
      this.#spans?.hear(recorded)
    }
    await journal.flush()
  }

  /** Goes on until nothing is to be done by itself; then it is closed to records. @throws what kept it from going on */
  async drive(signal: AbortSignal): Promise<void> {
    const spans = this.#spans
    const onEvent = (event: RecordedEvent): void => {
      this.#writeSoon()
      spans?.hear(event)
    }
    const runner = runnerOf(this.#parts, spans, onEvent)
    this.#runner = runner
    try {
      for (;;) {
        const seen = this.#recorded
        await runner.drive(signal)
        while (this.#recording > 0) await this.#quiet()
        if (this.#recorded === seen || signal.aborted) break
      }
    } catch (error) {
      spans?.lost(error)
      throw error
    }
    this.#closed = true
  }

  /** Tells lists where it stands, and gives it back. @param failed nothing more is written then */
  async close(failed: boolean): Promise<void> {
    this.#closed = true
    clearTimeout(this.#writing)
    const { hold, images } = this.#parts
    this.#spans?.end()
    await images.settled()
    if (!failed) {
      await this.#tell(false)
      this.#keep()
    }
    await hold.giveBack()
  }

  /** Whoever looks at it next, or takes it, goes on from here. */
  #keep(): void {
    const { parts, owner, plan, state, journal, images } = this.#parts
    const { length, digest } = journal.end
    if (digest === undefined || state.events !== length) return
    parts.standings.put(owner, { plan, state, end: { length, digest }, image: images.newest })
  }

  /** Tells lists that it is at work, and telemetry. */
  async tellAtWork(): Promise<void> {
    this.#spans?.begin()
    await this.#tell(true)
  }

  async #tell(isDriven: boolean): Promise<void> {
    const { shelves, parts, earlier } = this.#parts
    const trace = this.#spans?.traceparent ?? earlier
    try {
      const summary = summaryOf(this.plan, this.state, isDriven, parts.hostClock.now())
      await shelves.tell(trace === undefined ? summary : { ...summary, trace })
    } catch {
      // Lists are behind then. Where the run stands is in its journal.
    }
  }

  #writeSoon(): void {
    if (this.#closed) return
    this.#writing ??= setTimeout(() => {
      this.#writing = undefined
      // Where it fails, nothing more is written: whoever waits for something hears of it.
      this.#parts.journal.flush().catch(() => {})
    }, WRITTEN_WITHIN_MS)
  }

  /** Until the last record that is being made now is made, or was refused. */
  #quiet(): Promise<void> {
    return new Promise((resolve) => {
      this.#onQuiet = resolve
    })
  }
}

/** The host's time, or that of the journal where the host is behind it: milliseconds since the epoch. */
export function timeIn(
  { timeMs }: Pick<RunState, 'timeMs'>,
  { hostClock }: Pick<PlanRunParts, 'hostClock'>,
): number {
  return Math.max(hostClock.now(), timeMs)
}

function runnerOf(
  { parts, owner, hold, plan, state, values, key, journal }: HeldParts,
  spans: PlanSpans | undefined,
  onEvent: (event: RecordedEvent) => void,
): Runner {
  // A host whose clock is set back lives on in the time of the journal: what has expired there stays so.
  const clock: Clock = { ...parts.hostClock, now: () => timeIn(state, parts) }
  const guestOf = async (node: RegisteredNode): Promise<WasmGuest> =>
    wasmGuest(node, await loadWasm(parts, node.wasm as Digest), parts.wasm)
  // What is a part of no node is not told.
  const placeOf = (under?: TelemetrySpan): KeptPlace => ({ store: parts.store, key, under: under ?? null })
  const work = new PlanWork({
    plan: plan.plan,
    run: owner.run,
    guestId: state.proposal?.id ?? owner.run,
    clock,
    startedAtMs: () => state.startedAtMs ?? 0,
    states: parts.states,
    hash: parts.sealing.ports.hash,
    openGate: (grants, options) => parts.openGate(grants, { ...options, lease: hold.lease }),
    runProgram: (source, options, under) => parts.runProgram(source, options, under, key),
    resumeProgram: (run, options, under) => parts.resumeProgram(run, options, under, key),
    runWasm: async (node, options, under) => (await guestOf(node)).run(options, placeOf(under)),
    resumeWasm: async (node, run, options, under) =>
      (await guestOf(node)).resume(run, options, placeOf(under)),
    spanOf: spans && ((path) => spans.of(path)),
    earlier: (path, input, mostAgeMs) =>
      earlierOutput(parts, owner, { plan: plan.plan, path, input, mostAgeMs }),
    tookBefore: (run) => parts.tookBefore({ ...owner, run }, key),
    whose: { domain: owner.tenant, principal: owner.principal },
  })
  return new Runner({
    run: owner.run,
    state,
    journal,
    values,
    work,
    expression: work.evaluate,
    clock,
    sleep,
    onEvent,
  })
}

function endedForGood(run: string): CaissonError {
  return new CaissonError('invalid_transition', `The run "${run}" has ended, and its journal was cut.`, {
    details: { run },
  })
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', wake)
      resolve()
    }
    const timer = setTimeout(wake, ms)
    signal.addEventListener('abort', wake)
    if (signal.aborted) wake()
  })
}

/** What was thrown, for those who wait for a run. */
export function thrown(error: unknown): Error {
  return CaissonError.is(error) ? error : asError(error)
}
