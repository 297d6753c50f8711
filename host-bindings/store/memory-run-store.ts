/**
 * Runs in the host's memory: for tests, and for hosts whose runs need not outlive the process.
 *
 * 1. Every change is made in one synchronous step after everything was checked: nothing is ever half done.
 * 2. Bytes are copied in and out: no caller can change what is stored.
 */
import type { Digest } from '../../src/base/digest.ts'
import { CaissonError } from '../../src/base/errors.ts'
import { checkOptions, type OptionChecks, wholeFrom, withMethods } from '../../src/base/option-checks.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Collected, CollectOptions, RunHead, RunLease, RunStore } from '../../src/ports/run-store.ts'
import { systemClock } from '../system/system-clock.ts'
import {
  checkBlob,
  checkDigest,
  checkEntries,
  checkHead,
  checkRange,
  checkRunName,
  checkTtl,
  copyHead,
  graceOf,
} from './check-arguments.ts'
import {
  headMoved,
  heldByOther,
  leaseLost,
  logMoved,
  missingCheckpoint,
  positionBeyondLog,
  storeClosed,
} from './store-refusals.ts'

export interface MemoryRunStoreOptions {
  /** Checkpoints, log entries and summaries together. Default 1 GiB. */
  readonly maxBytes?: number
  /** Measures leases and grace times. Default: the clock of the machine. */
  readonly clock?: Clock
}

const OPTIONS: OptionChecks<MemoryRunStoreOptions> = {
  maxBytes: wholeFrom(0),
  clock: withMethods('a clock', 'now', 'monotonic'),
}

/**
 * An empty store.
 * @throws CaissonError `invalid_argument` for an impossible option
 */
export function createMemoryRunStore(options: MemoryRunStoreOptions = {}): RunStore {
  checkOptions(options, OPTIONS)
  return new MemoryRunStore(options.maxBytes ?? 1024 * 1024 * 1024, options.clock ?? systemClock)
}

interface Blob {
  readonly bytes: Uint8Array
  putAtMs: number
}

interface Run {
  /** Of the newest lease, whether it is held or not. */
  token: number
  /** When the newest lease runs out; undefined when it was given back. */
  heldUntilMs: number | undefined
  head: RunHead | undefined
  readonly log: Uint8Array[]
}

class MemoryRunStore implements RunStore {
  readonly #maxBytes: number
  readonly #clock: Clock
  readonly #blobs = new Map<Digest, Blob>()
  readonly #runs = new Map<string, Run>()
  /** One counter for all runs, so that a run which is removed and made again has newer tokens than before. */
  #lastToken = 0
  #bytes = 0
  #closed = false

  constructor(maxBytes: number, clock: Clock) {
    this.#maxBytes = maxBytes
    this.#clock = clock
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    this.#checkOpen()
    checkBlob(id, bytes)
    const known = this.#blobs.get(id)
    if (known !== undefined) {
      known.putAtMs = this.#clock.monotonic()
      return
    }
    this.#grow(bytes.byteLength)
    this.#blobs.set(id, { bytes: new Uint8Array(bytes), putAtMs: this.#clock.monotonic() })
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    this.#checkOpen()
    checkDigest(id)
    const kept = this.#blobs.get(id)?.bytes
    return kept && new Uint8Array(kept)
  }

  async head(run: string): Promise<RunHead | undefined> {
    this.#checkOpen()
    checkRunName(run)
    const head = this.#runs.get(run)?.head
    return head && copyHead(head)
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    this.#checkOpen()
    checkRunName(run)
    checkHead(head)
    const record = this.#leased(run, lease)
    const version = record.head?.version ?? 0
    if (head.version !== version + 1) throw headMoved(run, version, head.version)
    if (head.position > record.log.length) throw positionBeyondLog(run, head.position, record.log.length)
    for (const id of head.chain) if (!this.#blobs.has(id)) throw missingCheckpoint(run, id)
    this.#grow(head.summary.byteLength - (record.head?.summary.byteLength ?? 0))
    record.head = copyHead(head)
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    this.#checkOpen()
    checkRunName(run)
    checkEntries(at, entries)
    const { log } = this.#leased(run, lease)
    if (log.length !== at) throw logMoved(run, log.length, at)
    const size = sizeOf(entries)
    this.#grow(size)
    // Memory for all of them at once: each piece of its own takes longer than what is copied.
    const { buffer } = new Uint8Array(size)
    let from = 0
    for (const entry of entries) {
      const copy = new Uint8Array(buffer, from, entry.byteLength)
      copy.set(entry)
      log.push(copy)
      from += entry.byteLength
    }
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    this.#checkOpen()
    checkRunName(run)
    checkRange(from, most)
    const log = this.#runs.get(run)?.log ?? []
    return log.slice(from, from + most).map((entry) => entry.slice())
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    this.#checkOpen()
    checkRunName(run)
    checkTtl(ttlMs)
    const now = this.#clock.monotonic()
    const record: Run = this.#runs.get(run) ?? { token: 0, heldUntilMs: undefined, head: undefined, log: [] }
    if (record.heldUntilMs !== undefined && record.heldUntilMs > now) {
      throw heldByOther(run, record.heldUntilMs - now)
    }
    this.#lastToken += 1
    record.token = this.#lastToken
    record.heldUntilMs = now + ttlMs
    this.#runs.set(run, record)
    return this.#leaseOf(run, record.token)
  }

  async isLeased(run: string): Promise<boolean> {
    this.#checkOpen()
    checkRunName(run)
    const untilMs = this.#runs.get(run)?.heldUntilMs
    return untilMs !== undefined && untilMs > this.#clock.monotonic()
  }

  async runs(): Promise<readonly string[]> {
    this.#checkOpen()
    return [...this.#runs]
      .filter(([, record]) => isVisible(record))
      .map(([run]) => run)
      .sort()
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    this.#checkOpen()
    checkRunName(run)
    const record = this.#leased(run, lease)
    this.#bytes -= sizeOf(record.log) + (record.head?.summary.byteLength ?? 0)
    this.#runs.delete(run)
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    this.#checkOpen()
    const graceMs = graceOf(options)
    const needed = new Set([...this.#runs.values()].flatMap(({ head }) => head?.chain ?? []))
    const now = this.#clock.monotonic()
    let removed = 0
    let bytes = 0
    for (const [id, blob] of this.#blobs) {
      if (needed.has(id) || now - blob.putAtMs < graceMs) continue
      removed += 1
      bytes += blob.bytes.byteLength
      if (options?.dryRun !== true) this.#blobs.delete(id)
    }
    if (options?.dryRun === true) return { removed, bytes }
    this.#bytes -= bytes
    for (const [run, record] of this.#runs) {
      if (record.heldUntilMs === undefined && !isVisible(record)) this.#runs.delete(run)
    }
    return { removed, bytes }
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#blobs.clear()
    this.#runs.clear()
  }

  #leaseOf(run: string, token: number): RunLease {
    const current = (): Run | undefined => {
      const record = this.#runs.get(run)
      return record?.token === token && record.heldUntilMs !== undefined ? record : undefined
    }
    return {
      fencingToken: token,
      held: () => (current()?.heldUntilMs ?? 0) > this.#clock.monotonic(),
      renew: async (ttlMs) => {
        this.#checkOpen()
        checkTtl(ttlMs)
        const record = current()
        if (record === undefined) throw leaseLost(run)
        record.heldUntilMs = this.#clock.monotonic() + ttlMs
      },
      release: async () => {
        const record = current()
        if (record !== undefined) record.heldUntilMs = undefined
      },
    }
  }

  /** The run, if `lease` is the newest one. One that ran out and that nobody took is still the newest. */
  #leased(run: string, lease: RunLease): Run {
    const record = this.#runs.get(run)
    if (record?.token !== lease.fencingToken || record.heldUntilMs === undefined) throw leaseLost(run)
    return record
  }

  #grow(bytes: number): void {
    if (bytes > 0 && this.#bytes + bytes > this.#maxBytes) {
      throw new CaissonError('quota_exceeded', `The store holds at most ${this.#maxBytes} bytes.`, {
        details: { quota: 'bytes', limit: this.#maxBytes },
      })
    }
    this.#bytes += bytes
  }

  #checkOpen(): void {
    if (this.#closed) throw storeClosed()
  }
}

function isVisible(record: Run): boolean {
  return record.head !== undefined || record.log.length > 0
}

function sizeOf(entries: readonly Uint8Array[]): number {
  return entries.reduce((sum, entry) => sum + entry.byteLength, 0)
}
