/**
 * Runs in a schema of Postgres, for any number of processes of any number of machines at once.
 *
 * 1. What resolves was committed, and is as durable as the server is.
 * 2. What two processes must not both do is decided under the lock of the run's row, or of a checkpoint's.
 * 3. The time of leases and grace is that of the server; no clock of another machine counts.
 * 4. What was sent to be committed and not confirmed may have happened: that is `store_failed`, and the next look says
 *    what is true. A lease that was taken so is given to this store again when it asks for it.
 */
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import {
  aText,
  checkOptions,
  type OptionChecks,
  trueOrFalse,
  wholeFrom,
  withMethods,
} from '../../../src/base/option-checks.ts'
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
import { leaseLost } from '../store-refusals.ts'
import { StoreWork } from '../store-work.ts'
import { type OwnPool, openPool } from './open-pool.node.ts'
import { PostgresCheckpoints } from './postgres-checkpoints.node.ts'
import { postgresError } from './postgres-error.ts'
import type { PostgresPool } from './postgres-pool.ts'
import { PostgresRuns } from './postgres-runs.node.ts'
import { checkSchemaName, findSchema, makeSchema } from './postgres-schema.ts'
import { PostgresSessions } from './postgres-sessions.ts'

export interface PostgresRunStoreOptions {
  /** `postgres://user:password@host:port/database`, with the parameters that `pg` knows. Either this or `pool`. */
  readonly connectionString?: string
  /** A pool of `pg` that the host has. It stays open when the store is closed. */
  readonly pool?: PostgresPool
  /** Holds this store and nothing else; made where it is missing. Letters a-z, digits and _. Default `caisson`. */
  readonly schema?: string
  /** Longest time for a connection, for a lock and for each statement, in milliseconds. Default 30 seconds. */
  readonly timeoutMs?: number
  /** Whether a store that is missing is `not_found`, rather than made. Default false. */
  readonly mustExist?: boolean
}

const OPTIONS: OptionChecks<PostgresRunStoreOptions> = {
  connectionString: aText,
  pool: withMethods('a pool of pg', 'connect'),
  schema: aText,
  timeoutMs: wholeFrom(1, 3_600_000),
  mustExist: trueOrFalse,
}
const DEFAULT_TIMEOUT_MS = 30_000

/**
 * Opens the store in a schema of a database, and makes it where it is missing or empty. With `connectionString` it
 * needs `pg` beside caisson.
 * @throws CaissonError `unsupported` without pg or for a store of another version, `invalid_argument` for a schema that
 * holds something else, `corrupted` for one with other tables, `not_found` with `mustExist`, `store_failed` and
 * `quota_exceeded` with the cause
 */
export async function openPostgresRunStore(options: PostgresRunStoreOptions): Promise<RunStore> {
  checkOptions(options, OPTIONS)
  const { connectionString, pool, schema = 'caisson', timeoutMs = DEFAULT_TIMEOUT_MS } = options
  checkSchemaName(schema)
  if ((connectionString === undefined) === (pool === undefined)) {
    throw new CaissonError(
      'invalid_argument',
      'A store in Postgres needs either a connectionString or a pool.',
    )
  }
  const own = connectionString === undefined ? undefined : await openPool(connectionString, timeoutMs)
  const sessions = new PostgresSessions((own ?? pool) as PostgresPool, timeoutMs)
  try {
    if (options.mustExist === true) await findSchema(sessions, schema)
    else await makeSchema(sessions, schema)
    return new PostgresRunStore(sessions, schema, own)
  } catch (error) {
    await own?.end().catch(() => {})
    throw postgresError('opening the store', error)
  }
}

/** A run that this store holds. */
interface Held extends HeldLease {
  /** Of this lease. */
  readonly id: string
}

class PostgresRunStore implements RunStore {
  readonly #sessions: PostgresSessions
  readonly #checkpoints: PostgresCheckpoints
  readonly #runs: PostgresRuns
  readonly #own: OwnPool | undefined
  readonly #work = new StoreWork(postgresError)
  readonly #held: HeldLeases<Held> = new HeldLeases(this.#work, {
    nowMs: () => performance.now(),
    isHeld: ({ run, token }) =>
      this.#work.do('looking after a lease', () => this.#runs.isHeld(this.#sessions, run, token)),
    renew: (held, ttlMs) => this.#work.do('renewing a lease', () => this.#renew(held, ttlMs)),
    giveBack: (held) => this.#giveBack(held),
  })
  /** Leases that the server may have though nobody here has them: what took or gave them back failed. By run. */
  readonly #loose = new Map<string, string>()

  constructor(sessions: PostgresSessions, schema: string, own: OwnPool | undefined) {
    this.#sessions = sessions
    this.#checkpoints = new PostgresCheckpoints(schema)
    this.#runs = new PostgresRuns(schema)
    this.#own = own
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    checkBlob(id, bytes)
    await this.#work.do('putting a checkpoint', () =>
      this.#sessions.transact((query) => this.#checkpoints.put(query, id, bytes)),
    )
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    checkDigest(id)
    return this.#work.do('getting a checkpoint', () => this.#checkpoints.get(this.#sessions, id))
  }

  async head(run: string): Promise<RunHead | undefined> {
    checkRunName(run)
    return this.#work.do('reading a head', () => this.#runs.head(this.#sessions, run))
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    checkRunName(run)
    const copy = checkedHead(head)
    const { fencingToken } = lease
    await this.#work.do('setting a head', () =>
      this.#sessions.transact((query) => this.#runs.setHead(query, run, copy, fencingToken)),
    )
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    checkRunName(run)
    const copies = checkedEntries(at, entries)
    const { fencingToken } = lease
    await this.#work.do('appending to a log', () =>
      this.#sessions.transact((query) => this.#runs.append(query, run, at, copies, fencingToken)),
    )
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    checkRunName(run)
    checkRange(from, most)
    return this.#work.do('reading a log', () => this.#runs.entries(this.#sessions, run, from, most))
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    checkRunName(run)
    checkTtl(ttlMs)
    return this.#work.do('taking a lease', async () => {
      // From before anybody else can see the lease: this holder stops before others begin.
      const untilMs = performance.now() + ttlMs
      const id = newLeaseId()
      const before = this.#loose.get(run)
      try {
        const token = await this.#sessions.transact((query) =>
          this.#runs.take(query, run, { id, before, ttlMs }),
        )
        this.#loose.delete(run)
        return this.#held.add({ run, id, token, untilMs })
      } catch (error) {
        if (!CaissonError.is(error)) this.#loose.set(run, id) // invariant 4
        throw error
      }
    })
  }

  async runs(): Promise<readonly string[]> {
    return this.#work.do('listing runs', () => this.#runs.names(this.#sessions))
  }

  async isLeased(run: string): Promise<boolean> {
    checkRunName(run)
    return this.#work.do('looking after a lease', () => this.#runs.isLeased(this.#sessions, run))
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    checkRunName(run)
    const { fencingToken } = lease
    await this.#work.do('removing a run', () =>
      this.#sessions.transact((query) => this.#runs.remove(query, run, fencingToken)),
    )
    const held = this.#held.of(run)
    if (held !== undefined) this.#held.drop(held)
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    const graceMs = graceOf(options)
    return this.#work.do('collecting', async () => {
      if (options?.dryRun === true) return this.#checkpoints.unneeded(this.#sessions, graceMs)
      const collected = await this.#checkpoints.collect(this.#sessions, graceMs)
      await this.#sessions.transact((query) => this.#runs.forgetEmpty(query))
      return collected
    })
  }

  close(): Promise<void> {
    return this.#work.close(async () => {
      await this.#held.giveAllBack()
      await this.#own?.end().catch(() => {})
    })
  }

  async #renew(held: Held, ttlMs: number): Promise<void> {
    if (!this.#held.has(held)) throw leaseLost(held.run)
    await this.#sessions.transact((query) => this.#runs.renew(query, held.run, held.token, ttlMs))
  }

  async #giveBack(held: Held): Promise<void> {
    const { run, id, token } = held
    if (!this.#held.drop(held)) return
    try {
      await this.#sessions.transact((query) => this.#runs.giveBack(query, run, token))
    } catch {
      this.#loose.set(run, id)
    }
  }
}
