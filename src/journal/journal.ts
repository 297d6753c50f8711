/**
 * The journal of a run: an append-only, hash-chained log of small records in a store.
 *
 * Invariants
 * 1. Records stand in the order in which they were added, each names the one before by its digest, and none is ever
 *    changed.
 * 2. What is added while a write is under way goes into the next one, together: one write of the store for many.
 * 3. After a write failed nothing more is written, and whoever waits is told: what the store has is what it acknowledged.
 * 4. What is read was checked: the chain, the numbers, and with a key every MAC.
 * 5. With a signer, the last record of every write is signed, and with it all before it: what was acknowledged is.
 */
import { fromHex } from '../base/bytes.ts'
import { type Digest, digestOf } from '../base/digest.ts'
import { asError, CaissonError } from '../base/errors.ts'
import type { RunLease, RunStore } from '../ports/run-store.ts'
import { BARE_HEAD_BYTES, EntrySeal, type EntrySealOptions } from '../snapshot/run-log/entry-seal.ts'
import { decodeCanonical } from '../values/decode-canonical.ts'
import { encodeCanonical, withCanonical } from '../values/encode-canonical.ts'
import type { ValueLimits } from '../values/limits.ts'
import { WaitingRecords } from './waiting-records.ts'

/** Of one record: what is larger is kept beside it, by its digest. */
const RECORD_LIMITS: ValueLimits = { bytes: 1024 * 1024, nodes: 100_000, depth: 200 }

/** Entries asked of the store at once. */
const PAGE = 1_000

export interface JournalOptions {
  readonly store: Pick<RunStore, 'append' | 'entries'>
  readonly run: string
  readonly tenant: string
  readonly sealing: EntrySealOptions
}

/**
 * Reads a journal.
 * @param onRecord gets every record in order; what it throws ends the reading
 * @param from where to begin, as an image of what is before has it; left out, at its beginning
 * @returns where it ends
 * @throws CaissonError `corrupted`, `checkpoint_refused`, `store_failed`
 */
export async function readJournal(
  options: JournalOptions,
  onRecord: (record: unknown, at: number) => void,
  from: JournalEnd = BEGINNING,
): Promise<JournalEnd> {
  const seal = sealFrom(options, from)
  const length = await readThrough(options, seal, onRecord, from)
  return { length, digest: lastOf(seal) }
}

/** Where a journal ends: `digest`, of its last entry, stands for all of it. */
export interface JournalEnd {
  readonly length: number
  /** Undefined of a journal without entries. */
  readonly digest: Digest | undefined
}

const BEGINNING: JournalEnd = { length: 0, digest: undefined }

/** The first entry has to follow what is before it. */
function sealFrom({ sealing }: JournalOptions, { digest }: JournalEnd): EntrySeal {
  return new EntrySeal(sealing, 'journal', digest && bytesOf(digest))
}

function bytesOf(digest: Digest): Uint8Array {
  return fromHex(digest.slice('sha256:'.length))
}

function lastOf({ last }: EntrySeal): Digest | undefined {
  return last && digestOf(last)
}

/** @param seal knows the last record afterwards */
async function readThrough(
  options: JournalOptions,
  seal: EntrySeal,
  onRecord: (record: unknown, at: number) => void,
  from: JournalEnd,
): Promise<number> {
  const reader = new JournalReader(options, from.length, seal)
  for (;;) {
    const page = await reader.next()
    for (const [i, record] of page.entries()) onRecord(record, reader.at - page.length + i)
    if (page.length < PAGE) return reader.at
  }
}

/** A record with what stands for it. */
export interface JournalEntry {
  readonly at: number
  readonly record: unknown
  /** Of the entry as it is sealed: it stands for all up to it. */
  readonly digest: Digest
  /** Public key of whose signature it carries. */
  readonly signedBy: Uint8Array | undefined
}

/** Reads a journal page by page, also while somebody writes it on. */
export class JournalReader {
  readonly #options: JournalOptions
  readonly #seal: EntrySeal
  /** The number of the next record. */
  at: number

  /** @param from the first record wanted: those before it are not read, and not checked */
  constructor(
    options: JournalOptions,
    from: number,
    seal: EntrySeal = new EntrySeal(options.sealing, 'journal'),
  ) {
    this.#options = options
    this.#seal = seal
    this.at = from
  }

  /**
   * The next records, up to a thousand; none where there are no more yet.
   * @param onEntry told of each of them before the next one is opened
   * @throws CaissonError as `readJournal`
   */
  async next(onEntry?: (entry: JournalEntry) => void): Promise<readonly unknown[]> {
    const { store, run, tenant } = this.#options
    const records: unknown[] = []
    for (const sealed of await store.entries(run, this.at, PAGE)) {
      const plain = await this.#seal.open(sealed, { tenant, run, at: this.at })
      const record = decodeRecord(plain, this.#options.run, this.at)
      records.push(record)
      const { last, signedBy } = this.#seal
      if (onEntry !== undefined && last !== undefined)
        onEntry({ at: this.at, record, digest: digestOf(last), signedBy })
      this.at += 1
    }
    return records
  }
}

/** A record as it is written. @throws CaissonError `value_refused`, `value_too_large`, `value_too_deep` */
export function encodeRecord(record: unknown): Uint8Array {
  return encodeCanonical(record, RECORD_LIMITS, 'record')
}

function decodeRecord(plain: Uint8Array, run: string, at: number): unknown {
  try {
    return decodeCanonical(plain, RECORD_LIMITS)
  } catch (cause) {
    if (!CaissonError.is(cause)) throw cause
    throw new CaissonError(
      'corrupted',
      `Entry ${at} of the journal of run "${run}" is damaged: ${cause.message}`,
      { details: { run, at }, cause },
    )
  }
}

/** Writes a journal on. */
export class Journal {
  readonly #options: JournalOptions
  readonly #lease: RunLease
  readonly #seal: EntrySeal
  readonly #queue = new WaitingRecords(BARE_HEAD_BYTES)
  /** Records that are written, or being written. */
  #at: number
  /** Records that the store has acknowledged. */
  #written: number
  #writing: Promise<void> | undefined
  #failure: Error | undefined

  private constructor(options: JournalOptions, lease: RunLease, seal: EntrySeal, at: number) {
    this.#options = options
    this.#lease = lease
    this.#seal = seal
    this.#at = at
    this.#written = at
  }

  /**
   * Opens a journal to write it on.
   * @param onRecord gets every record that is there, in order; what it throws ends the opening
   * @param from as of `readJournal`
   * @throws CaissonError as `readJournal`
   */
  static async open(
    options: JournalOptions,
    lease: RunLease,
    onRecord: (record: unknown, at: number) => void,
    from: JournalEnd = BEGINNING,
  ): Promise<Journal> {
    const seal = sealFrom(options, from)
    return new Journal(options, lease, seal, await readThrough(options, seal, onRecord, from))
  }

  /** Records that are written, or being written, or wait for it. */
  get length(): number {
    return this.#at + this.#queue.length
  }

  /** Where it ends by what was written: to be asked when nothing waits to be. */
  get end(): JournalEnd {
    return { length: this.#written, digest: lastOf(this.#seal) }
  }

  /** Adds a record, which is encoded at once: it may change afterwards. @throws CaissonError `value_refused`, `value_too_large` */
  add(record: unknown): void {
    withCanonical(record, RECORD_LIMITS, this.#queue.push, 'record')
  }

  /** Resolves when everything so far is written, whatever is added meanwhile. @throws CaissonError what the store throws */
  async flush(): Promise<void> {
    const wanted = this.length
    while (this.#written < wanted) {
      if (this.#failure !== undefined) throw this.#failure
      this.#writing ??= this.#write()
      await this.#writing
    }
    if (this.#failure !== undefined) throw this.#failure
  }

  async #write(): Promise<void> {
    const { store, run, tenant } = this.#options
    // What else is added in this turn of the host goes along.
    await Promise.resolve()
    const sealed = this.#queue.take()
    const first = this.#at
    this.#at += sealed.length
    try {
      for (let i = 0; i < sealed.length; i += 1) {
        const entry = sealed[i] as Uint8Array
        const isLast = i === sealed.length - 1
        if (this.#seal.sealInPlace(entry, isLast)) continue
        const place = { tenant, run, at: first + i }
        sealed[i] = await this.#seal.seal(entry.subarray(BARE_HEAD_BYTES), place, isLast)
      }
      await store.append(run, first, sealed, this.#lease)
      this.#written = this.#at
    } catch (error) {
      this.#failure = CaissonError.is(error)
        ? error
        : new CaissonError('store_failed', 'The journal could not be written.', { cause: asError(error) })
    } finally {
      this.#writing = undefined
    }
  }
}
