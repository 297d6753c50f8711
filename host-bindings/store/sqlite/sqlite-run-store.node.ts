/**
 * Runs in one file of SQLite, for any number of processes of one machine at once.
 *
 * 1. What resolves is on the disk: its transaction was committed, and synced.
 * 2. Changes that are asked for in the same turn of the event loop are one transaction (see `write-group.node.ts`).
 * 3. What two processes must not both do is decided in one transaction each; SQLite runs those one after the other.
 * 4. No clock that people can set decides who holds a run: a holder on this machine is gone when its process is,
 *    otherwise the uptime of the machine counts.
 * 5. Other processes are waited for without holding up this one.
 *
 * SQLite works in the host's thread: a group with its sync takes as long as the disk does, and putting or getting a
 * checkpoint as long as copying it.
 */
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import { checkOptions, type OptionChecks, trueOrFalse, wholeFrom } from '../../../src/base/option-checks.ts'
import type { Collected, CollectOptions, RunHead, RunLease, RunStore } from '../../../src/ports/run-store.ts'
import {
  checkBlob,
  checkDigest,
  checkedEntries,
  checkedHead,
  checkRange,
  checkRunName,
  checkTtl,
  graceOf,
} from '../check-arguments.ts'
import { type HeldLease, HeldLeases, newLeaseId } from '../held-leases.ts'
import { LeaseWatch } from '../node/lease-watch.ts'
import { type Machine, thisMachine } from '../node/machine.node.ts'
import { heldByOther, leaseLost } from '../store-refusals.ts'
import { StoreWork } from '../store-work.ts'
import { CheckpointTable, type CollectedStep } from './checkpoint-table.ts'
import { loadSqlite, type OpenSqlite, openDatabase } from './open-database.node.ts'
import { patiently } from './patience.ts'
import { RunTable } from './run-table.ts'
import { type SqliteConnection, SqliteStatements } from './sqlite-connection.ts'
import { sqliteError } from './sqlite-error.ts'
import { findStoreFile, makeStoreFile, SameFile } from './store-file.node.ts'
import { WriteGroup } from './write-group.node.ts'

export interface SqliteRunStoreOptions {
  /** How long to wait for other processes that write, in milliseconds; then it is `store_failed`. Default 10 seconds. */
  readonly busyTimeoutMs?: number
  /** Largest size of the file; more is `quota_exceeded`. What is in it stays, and can be collected. Default 64 TiB. */
  readonly maxBytes?: number
  /** Whether a store that is missing is `not_found`, rather than made. Default false. */
  readonly mustExist?: boolean
}

const OPTIONS: OptionChecks<SqliteRunStoreOptions> = {
  busyTimeoutMs: wholeFrom(0, 3_600_000),
  maxBytes: wholeFrom(0),
  mustExist: trueOrFalse,
}
const DEFAULT_BUSY_MS = 10_000
const DEFAULT_MAX_BYTES = 64 * 1024 ** 4

/**
 * Opens the store in the file at `path`, and makes it where it is missing or empty. Needs `better-sqlite3` beside
 * caisson.
 *
 * Any number of processes of one machine may have it open; not of several machines, whatever the file system.
 * @throws CaissonError `unsupported` without better-sqlite3 or for a store of another version, `invalid_argument` for a
 * file that holds something else, `not_found` with `mustExist`, `corrupted`, `store_failed` and `quota_exceeded` with the cause
 */
export async function openSqliteRunStore(
  path: string,
  options: SqliteRunStoreOptions = {},
): Promise<RunStore> {
  checkOptions(options, OPTIONS)
  return openSqliteRunStoreWith(await loadSqlite(), path, options, thisMachine())
}

/** As `openSqliteRunStore`, with that driver, as a process of that machine. */
export async function openSqliteRunStoreWith(
  open: OpenSqlite,
  path: string,
  options: SqliteRunStoreOptions,
  machine: Machine,
): Promise<RunStore> {
  const { busyTimeoutMs = DEFAULT_BUSY_MS, maxBytes = DEFAULT_MAX_BYTES, mustExist = false } = options
  let connection: SqliteConnection | undefined
  try {
    const file = mustExist ? await findStoreFile(path) : await makeStoreFile(path)
    connection = await openDatabase(open, file, { patienceMs: busyTimeoutMs, maxBytes, mustExist })
    return new SqliteRunStore(connection, new SameFile(file), busyTimeoutMs, machine)
  } catch (error) {
    connection?.close()
    throw sqliteError('opening the store', error)
  }
}

/** A run that this store holds. */
interface Held extends HeldLease {
  /** Of this lease. */
  readonly id: string
}

class SqliteRunStore implements RunStore {
  readonly #connection: SqliteConnection
  readonly #file: SameFile
  readonly #patienceMs: number
  readonly #machine: Machine
  readonly #watch: LeaseWatch
  readonly #checkpoints: CheckpointTable
  readonly #runs: RunTable
  readonly #group: WriteGroup
  readonly #work = new StoreWork((doing, cause) => sqliteError(doing, this.#missing() ?? cause))
  readonly #held: HeldLeases<Held> = new HeldLeases(this.#work, {
    nowMs: () => this.#machine.monotonicMs(),
    isHeld: ({ run, token }) => this.#look('looking after a lease', () => this.#runs.isHeld(run, token)),
    renew: (held, ttlMs) => this.#renew(held, ttlMs),
    giveBack: (held) => this.#giveBack(held),
  })
  /** Leases that may be in the file though nobody here has them: what took or gave them back failed. By run. */
  readonly #loose = new Map<string, string>()

  constructor(connection: SqliteConnection, file: SameFile, patienceMs: number, machine: Machine) {
    this.#connection = connection
    this.#file = file
    this.#patienceMs = patienceMs
    this.#machine = machine
    this.#watch = new LeaseWatch(machine)
    const sql = new SqliteStatements(connection)
    this.#checkpoints = new CheckpointTable(sql)
    this.#runs = new RunTable(sql, this.#checkpoints)
    this.#group = new WriteGroup(connection, patienceMs, () => file.check())
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    checkBlob(id, bytes)
    await this.#change(
      'putting a checkpoint',
      () => this.#checkpoints.put(id, bytes, Date.now()),
      bytes.byteLength,
    )
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    checkDigest(id)
    return this.#look('getting a checkpoint', () => this.#checkpoints.get(id))
  }

  async head(run: string): Promise<RunHead | undefined> {
    checkRunName(run)
    return this.#look('reading a head', () => this.#runs.head(run))
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    checkRunName(run)
    const copy = checkedHead(head)
    const { fencingToken } = lease
    await this.#change('setting a head', () => this.#runs.setHead(run, copy, fencingToken))
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    checkRunName(run)
    const copies = checkedEntries(at, entries)
    const bytes = copies.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const { fencingToken } = lease
    await this.#change('appending to a log', () => this.#runs.append(run, at, copies, fencingToken), bytes)
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    checkRunName(run)
    checkRange(from, most)
    return this.#look('reading a log', () => this.#runs.entries(run, from, most))
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    checkRunName(run)
    checkTtl(ttlMs)
    // From before anybody else can see the lease: this holder stops before others begin.
    const untilMs = this.#machine.monotonicMs() + ttlMs
    return this.#work.do('taking a lease', async () => {
      const id = newLeaseId()
      try {
        const token = await this.#group.add(() => this.#take(run, id, ttlMs))
        this.#watch.forget(run)
        this.#loose.delete(run)
        return this.#held.add({ run, id, token, untilMs })
      } catch (error) {
        if (!CaissonError.is(error)) this.#loose.set(run, id)
        throw error
      }
    })
  }

  async isLeased(run: string): Promise<boolean> {
    checkRunName(run)
    return this.#look('looking after a lease', () => {
      const holder = this.#runs.holder(run)
      return holder !== undefined && this.#watch.remainingMs(run, holder.lease, `${holder.beats}`) > 0
    })
  }

  async runs(): Promise<readonly string[]> {
    return this.#look('listing runs', () => this.#runs.names())
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    checkRunName(run)
    const { fencingToken } = lease
    await this.#change('removing a run', () => this.#runs.remove(run, fencingToken))
    const held = this.#held.of(run)
    if (held !== undefined) this.#held.drop(held)
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    const graceMs = graceOf(options)
    if (options?.dryRun === true) {
      const { removed, bytes } = await this.#look('collecting', () =>
        this.#checkpoints.unneeded(graceMs, Date.now()),
      )
      return { removed, bytes }
    }
    let removed = 0
    let bytes = 0
    // In steps, between which others write.
    for (let more = true; more; ) {
      const step: CollectedStep = await this.#change('collecting', () =>
        this.#checkpoints.collectSome(graceMs, Date.now()),
      )
      removed += step.removed
      bytes += step.bytes
      more = step.more
    }
    await this.#change('collecting', () => this.#runs.forgetEmpty())
    while (await this.#change('giving back room', () => this.#checkpoints.shrinkSome()));
    return { removed, bytes }
  }

  close(): Promise<void> {
    return this.#work.close(async () => {
      await this.#held.giveAllBack()
      await this.#group.idle()
      try {
        this.#connection.close()
      } catch {
        // What was acknowledged is in the log of the database, and found by whoever opens it next.
      }
    })
  }

  /** @returns the token. @throws CaissonError `store_conflict` while somebody holds the run */
  #take(run: string, id: string, ttlMs: number): number {
    const holder = this.#runs.holder(run)
    if (holder !== undefined && holder.lease.id !== this.#loose.get(run)) {
      const leftMs = this.#watch.remainingMs(run, holder.lease, `${holder.beats}`)
      if (leftMs > 0) throw heldByOther(run, leftMs)
    }
    return this.#runs.take(run, {
      id,
      machine: this.#machine.id,
      process: this.#machine.process,
      ttlMs,
      uptimeMs: this.#machine.uptimeMs(),
    })
  }

  async #renew(held: Held, ttlMs: number): Promise<void> {
    await this.#change('renewing a lease', () => {
      if (!this.#held.has(held)) throw leaseLost(held.run)
      this.#runs.renew(held.run, held.token, ttlMs, this.#machine.uptimeMs())
    })
  }

  async #giveBack(held: Held): Promise<void> {
    if (!this.#held.drop(held)) return
    try {
      await this.#group.add(() => this.#runs.giveBack(held.run, held.token))
    } catch {
      this.#loose.set(held.run, held.id)
    }
  }

  async #look<T>(doing: string, act: () => T): Promise<T> {
    return this.#work.do(doing, async () => {
      const found = await patiently(this.#patienceMs, act)
      this.#file.check()
      return found
    })
  }

  async #change<T>(doing: string, act: () => T, bytes?: number): Promise<T> {
    return this.#work.do(doing, () => this.#group.add(act, bytes))
  }

  /** That the file has vanished says more than what SQLite made of it. */
  #missing(): unknown {
    try {
      this.#file.check()
      return undefined
    } catch (error) {
      return error
    }
  }
}
