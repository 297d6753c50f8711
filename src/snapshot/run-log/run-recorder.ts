/**
 * Writes the log of one run, and is the call log of its gate.
 *
 * Invariants
 * 1. Entries stand in the log in the order in which things happened.
 * 2. An intent is on the disk before its call is invoked, a result before the guest gets it. Turns, sync calls and
 *    budgets go with the next one of these: what follows from them for the world is written after them.
 * 3. What is asked to be written while a write is under way goes into the next one, together.
 * 4. After a write failed nothing more is written: whoever asks is told.
 * 5. An entry that no log takes is refused (`value_too_large`) before anything is changed: the log goes on without it.
 * 6. What a mark repeats is known before it is made (`openBytes`): whoever marks too often writes the same again.
 */
import type { Digest } from '../../base/digest.ts'
import { asError, CaissonError } from '../../base/errors.ts'
import type { Ledger, LedgerState } from '../../capability/budget.ts'
import type { Answer } from '../../capability/call.ts'
import type { TimeSpent } from '../../machine/time-keeper.ts'
import type { CallIntent, CallLog, CallResult, SyncCallRecord } from '../../ports/call-log.ts'
import type { Clock } from '../../ports/clock.ts'
import type { RunLease, RunStore } from '../../ports/run-store.ts'
import { measureValue } from '../../values/copy-value.ts'
import { EntryCodec } from './entry-codec.ts'
import type { BudgetEntry, IntentEntry, MarkEntry, RunEntry } from './run-entry.ts'

export interface RunRecorderOptions {
  readonly store: Pick<RunStore, 'append'>
  readonly run: string
  readonly tenant: string
  readonly lease: RunLease
  /** Has opened the entries that are there. */
  readonly codec: EntryCodec
  /** How many entries the log has. */
  readonly at: number
  readonly ledger: Ledger
  readonly clock: Clock
  /** Of a guest that goes on: what was let in and is not answered, and what is answered and not delivered. */
  readonly open?: readonly IntentEntry[]
  readonly known?: readonly Answer[]
  /** Time that the run has used up by now; left out, it is not written down. */
  readonly spent?: () => TimeSpent | undefined
  /** Another log that hears of everything too, after this one. */
  readonly also?: CallLog | undefined
}

/** An entry that is to be written, and what it is sealed from. */
interface QueuedEntry {
  readonly entry: RunEntry
  readonly plain: Uint8Array
}

export class RunRecorder implements CallLog {
  readonly #options: RunRecorderOptions
  readonly #open = new Map<number, IntentEntry>()
  readonly #known = new Map<number, Answer>()
  /** Of what is open or known, by the id of its call. */
  readonly #sizes = new Map<number, number>()
  #openBytes = 0
  #queue: QueuedEntry[] = []
  /** Entries that are written, or being written. */
  #at: number
  /** Entries that the store has acknowledged. */
  #written: number
  #writing: Promise<void> | undefined
  #failure: Error | undefined
  #budgetChanged = false
  #lastBudget = ''
  #bytes = 0

  constructor(options: RunRecorderOptions) {
    this.#options = options
    this.#at = options.at
    this.#written = options.at
    for (const intent of options.open ?? []) {
      this.#open.set(intent.id, intent)
      this.#size(intent.id, measureValue(intent.args).bytes)
    }
    for (const answer of options.known ?? []) {
      this.#known.set(answer.id, answer)
      this.#size(answer.id, answer.ok ? measureValue(answer.value).bytes : 0)
    }
  }

  /** Where the log ends: to be asked when nothing waits to be written. */
  get end(): { readonly entries: number; readonly digest: Digest } | undefined {
    const { last } = this.#options.codec
    return last === undefined ? undefined : { entries: this.#written, digest: last }
  }

  /** Bytes written so far, but for marks. */
  get bytes(): number {
    return this.#bytes
  }

  /** About how many bytes a mark would repeat: calls without an answer, and answers that were not delivered. */
  get openBytes(): number {
    return this.#openBytes
  }

  async intent(record: CallIntent): Promise<void> {
    const entry: IntentEntry = { type: 'intent', ...record }
    this.add(entry)
    this.#open.set(record.id, entry)
    this.#budgetChanged = true
    await this.flush()
    await this.#options.also?.intent(record)
  }

  async result(result: CallResult): Promise<void> {
    const answer = answerOf(result)
    this.add({ type: 'result', answer })
    this.#open.delete(answer.id)
    this.#known.set(answer.id, answer)
    this.#budgetChanged = true
    await this.flush()
    await this.#options.also?.result(result)
  }

  syncCalls(records: readonly SyncCallRecord[]): void | Promise<void> {
    this.#budgetChanged = true
    this.#addSync(records)
    return this.#options.also?.syncCalls?.(records)
  }

  /** Answers are about to be delivered, or none, and a timer is due. */
  turn(nowMs: number, answers: readonly Answer[]): void {
    const recorded = answers.map((answer) => (this.#known.has(answer.id) ? answer.id : answer))
    for (const { id } of answers) {
      this.#known.delete(id)
      this.#size(id, 0)
      this.#open.delete(id) // one that was let in in an earlier life, and is refused by the rules of now
    }
    this.add({ type: 'turn', nowMs, answers: recorded })
  }

  /**
   * The guest is captured now.
   * @param name of the capture, which its checkpoint has too
   * @returns the number of the entry that whoever goes on from it reads from
   * @throws CaissonError `value_too_large` where more is open than one entry takes
   */
  mark(name: string): number {
    const entry: MarkEntry = {
      type: 'mark',
      name,
      budget: this.#budget(),
      open: [...this.#open.values()],
      known: [...this.#known.values()],
    }
    this.add(entry)
    return this.#at + this.#queue.length - 1
  }

  /** Writes down what was used up. @throws CaissonError what the store throws */
  async budget(): Promise<void> {
    this.add(this.#budget())
    await this.flush()
  }

  /** @throws CaissonError `value_too_large` for an entry that no log takes: nothing is changed then */
  add(entry: RunEntry): void {
    this.#queue.push({ entry, plain: EntryCodec.encode(entry) })
  }

  /** Each sync call may be as large as an entry: together they may be larger. */
  #addSync(records: readonly SyncCallRecord[]): void {
    try {
      this.add({ type: 'sync', records })
    } catch (error) {
      if (records.length === 1 || !CaissonError.is(error, 'value_too_large')) throw error
      const half = records.length >> 1
      this.#addSync(records.slice(0, half))
      this.#addSync(records.slice(half))
    }
  }

  /** Resolves when everything so far is written, whatever is added meanwhile. @throws CaissonError what the store throws */
  async flush(): Promise<void> {
    const wanted = this.#at + this.#queue.length
    while (this.#written < wanted) {
      if (this.#failure !== undefined) throw this.#failure
      this.#writing ??= this.#write()
      await this.#writing
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #write(): Promise<void> {
    const { store, run, tenant, lease, codec } = this.#options
    if (this.#budgetChanged) this.#addBudget()
    const entries = this.#queue
    this.#queue = []
    const first = this.#at
    this.#at += entries.length
    try {
      const sealed: Uint8Array[] = []
      for (const [i, { entry, plain }] of entries.entries()) {
        const bytes = await codec.sealEncoded(plain, { tenant, run, at: first + i })
        sealed.push(bytes)
        this.#count(entry, bytes.length)
      }
      await store.append(run, first, sealed, lease)
      this.#written = this.#at
    } catch (error) {
      this.#failure = asError(error)
    } finally {
      this.#writing = undefined
    }
  }

  #count(entry: RunEntry, bytes: number): void {
    if (entry.type !== 'mark') this.#bytes += bytes
    if (entry.type === 'intent' && this.#open.has(entry.id)) this.#size(entry.id, bytes)
    if (entry.type === 'result' && this.#known.has(entry.answer.id)) this.#size(entry.answer.id, bytes)
  }

  #size(id: number, bytes: number): void {
    this.#openBytes += bytes - (this.#sizes.get(id) ?? 0)
    if (bytes === 0) this.#sizes.delete(id)
    else this.#sizes.set(id, bytes)
  }

  #addBudget(): void {
    this.#budgetChanged = false
    const budget = this.#budget()
    const used = JSON.stringify(budget.ledger)
    if (used === this.#lastBudget) return
    this.#lastBudget = used
    this.add(budget)
  }

  #budget(): BudgetEntry {
    const { ledger, clock } = this.#options
    const state: LedgerState = ledger.snapshot(clock.monotonic())
    const spent = this.#options.spent?.()
    return { type: 'budget', atMs: clock.now(), ledger: state, ...(spent && { spent }) }
  }
}

function answerOf(result: CallResult): Answer {
  if (result.ok) return { id: result.id, ok: true, value: result.value }
  const { id, ok, ...error } = result
  return { id, ok, error }
}
