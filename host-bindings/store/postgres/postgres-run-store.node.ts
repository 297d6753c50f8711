/**
 * Runs in a schema of Postgres, for any number of processes of any number of machines at once.
 *
 * 1. What resolves was committed, and is as durable as the server is.
 * 2. What two processes must not both do is decided under the lock of the run's row, or of a checkpoint's.
 * 3. The time of leases and grace is that of the server; no clock of another machine counts.
 * 4. What was sent to be committed and not confirmed may have happened: that is `store_failed`, and the next look says
 *    what is true. A lease that was taken so is given to this store again when it asks for it.
 */
import { toHex } from '../../../src/base/bytes.ts'
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
  checkEntries,
  checkHead,
  checkRange,
  checkRunName,
  checkTtl,
  graceOf,
} from '../check-arguments.ts'
import { leaseLost, storeClosed } from '../store-refusals.ts'
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
interface Held {
  readonly run: string
  /** Of this lease. */
  readonly id: string
  readonly token: number
  /** By the monotonic clock of this process. */
  untilMs: number
}

class PostgresRunStore implements RunStore {
  readonly #sessions: PostgresSessions
  readonly #checkpoints: PostgresCheckpoints
  readonly #runs: PostgresRuns
  readonly #own: OwnPool | undefined
  readonly #held = new Map<string, Held>()
  /** Leases that the server may have though nobody here has them: what took or gave them back failed. By run. */
  readonly #loose = new Map<string, string>()
  /** What has begun and not ended: the connections stay open for it. */
  readonly #pending = new Set<Promise<unknown>>()
  #closing: Promise<void> | undefined

  constructor(sessions: PostgresSessions, schema: string, own: OwnPool | undefined) {
    this.#sessions = sessions
    this.#checkpoints = new PostgresCheckpoints(schema)
    this.#runs = new PostgresRuns(schema)
    this.#own = own
  }

  async putBlob(id: Digest, bytes: Uint8Array): Promise<void> {
    checkBlob(id, bytes)
    await this.#do('putting a checkpoint', () =>
      this.#sessions.transact((query) => this.#checkpoints.put(query, id, bytes)),
    )
  }

  async getBlob(id: Digest): Promise<Uint8Array | undefined> {
    checkDigest(id)
    return this.#do('getting a checkpoint', () => this.#checkpoints.get(this.#sessions, id))
  }

  async head(run: string): Promise<RunHead | undefined> {
    checkRunName(run)
    return this.#do('reading a head', () => this.#runs.head(this.#sessions, run))
  }

  async setHead(run: string, head: RunHead, lease: RunLease): Promise<void> {
    checkRunName(run)
    checkHead(head)
    const { version, position } = head
    const copy: RunHead = { version, chain: [...head.chain], position, summary: head.summary.slice() }
    const { fencingToken } = lease
    await this.#do('setting a head', () =>
      this.#sessions.transact((query) => this.#runs.setHead(query, run, copy, fencingToken)),
    )
  }

  async append(run: string, at: number, entries: readonly Uint8Array[], lease: RunLease): Promise<void> {
    checkRunName(run)
    checkEntries(at, entries)
    const copies = entries.map((entry) => entry.slice())
    const { fencingToken } = lease
    await this.#do('appending to a log', () =>
      this.#sessions.transact((query) => this.#runs.append(query, run, at, copies, fencingToken)),
    )
  }

  async entries(run: string, from: number, most: number): Promise<readonly Uint8Array[]> {
    checkRunName(run)
    checkRange(from, most)
    return this.#do('reading a log', () => this.#runs.entries(this.#sessions, run, from, most))
  }

  async lease(run: string, ttlMs: number): Promise<RunLease> {
    checkRunName(run)
    checkTtl(ttlMs)
    return this.#do('taking a lease', async () => {
      // From before anybody else can see the lease: this holder stops before others begin.
      const untilMs = performance.now() + ttlMs
      const id = toHex(crypto.getRandomValues(new Uint8Array(16)))
      const before = this.#loose.get(run)
      try {
        const token = await this.#sessions.transact((query) =>
          this.#runs.take(query, run, { id, before, ttlMs }),
        )
        this.#loose.delete(run)
        const held: Held = { run, id, token, untilMs }
        this.#held.set(run, held)
        return this.#leaseOf(held)
      } catch (error) {
        if (!CaissonError.is(error)) this.#loose.set(run, id) // invariant 4
        throw error
      }
    })
  }

  async runs(): Promise<readonly string[]> {
    return this.#do('listing runs', () => this.#runs.names(this.#sessions))
  }

  async remove(run: string, lease: RunLease): Promise<void> {
    checkRunName(run)
    const { fencingToken } = lease
    await this.#do('removing a run', () =>
      this.#sessions.transact((query) => this.#runs.remove(query, run, fencingToken)),
    )
    this.#held.delete(run)
  }

  async collect(options?: CollectOptions): Promise<Collected> {
    const graceMs = graceOf(options)
    return this.#do('collecting', async () => {
      if (options?.dryRun === true) return this.#checkpoints.unneeded(this.#sessions, graceMs)
      const collected = await this.#checkpoints.collect(this.#sessions, graceMs)
      await this.#sessions.transact((query) => this.#runs.forgetEmpty(query))
      return collected
    })
  }

  close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    // Also leases that are just being taken.
    await Promise.all(this.#pending)
    await Promise.all([...this.#held.values()].map((held) => this.#release(held)))
    await Promise.all(this.#pending)
    await this.#own?.end().catch(() => {})
  }

  #leaseOf(held: Held): RunLease {
    const { run, token } = held
    const mayAct = (): boolean =>
      this.#closing === undefined && this.#held.get(run) === held && performance.now() < held.untilMs
    return {
      fencingToken: token,
      held: async () => {
        if (!mayAct()) return false
        const isHeld = await this.#do('looking after a lease', () =>
          this.#runs.isHeld(this.#sessions, run, token),
        )
        return isHeld && mayAct()
      },
      renew: async (ttlMs) => {
        checkTtl(ttlMs)
        const nowMs = performance.now()
        await this.#do('renewing a lease', async () => {
          if (this.#held.get(run) !== held) throw leaseLost(run)
          await this.#sessions.transact((query) => this.#runs.renew(query, run, token, ttlMs))
        })
        held.untilMs = nowMs + ttlMs
      },
      release: async () => {
        if (this.#closing === undefined) await this.#release(held)
      },
    }
  }

  /** Never rejects: a run that cannot be given back is free when its time is over. */
  async #release(held: Held): Promise<void> {
    const { run, id, token } = held
    if (this.#held.get(run) !== held) return
    this.#held.delete(run)
    try {
      await this.#untilEnded(this.#sessions.transact((query) => this.#runs.giveBack(query, run, token)))
    } catch {
      this.#loose.set(run, id)
    }
  }

  async #do<T>(doing: string, act: () => Promise<T>): Promise<T> {
    if (this.#closing !== undefined) throw storeClosed()
    try {
      return await this.#untilEnded(act())
    } catch (error) {
      throw postgresError(doing, error)
    }
  }

  /** Closing waits for it. */
  async #untilEnded<T>(result: Promise<T>): Promise<T> {
    const ended = result.then(
      () => {},
      () => {},
    )
    this.#pending.add(ended)
    try {
      return await result
    } finally {
      this.#pending.delete(ended)
    }
  }
}
