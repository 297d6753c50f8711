/**
 * Runs in the tables of a store: who holds them, their heads and logs.
 *
 * 1. Whoever changes a run locks its row first, by its token: of two who try, the second finds what the first has done.
 * 2. Tokens are drawn under that lock, so they grow in the order in which runs are taken.
 */
import type { Digest } from '../../../src/base/digest.ts'
import type { RunHead } from '../../../src/ports/run-store.ts'
import { foundHead, foundTtl, MAX_CHAIN, MAX_TTL_MS } from '../check-arguments.ts'
import {
  headMoved,
  heldByOther,
  leaseLost,
  logMoved,
  missingCheckpoint,
  positionBeyondLog,
} from '../store-refusals.ts'
import { bufferOf, bytesOf } from './postgres-checkpoints.node.ts'
import type { PostgresRow } from './postgres-pool.ts'
import { numberOf, type PostgresSessions, type Query } from './postgres-sessions.ts'

/** Bounds for one statement that adds entries. */
const MOST_ENTRIES = 500
const MOST_ENTRY_BYTES = 16 * 1024 * 1024

/** A lease that is about to be taken. */
interface LeaseRequest {
  /** Drawn anew for every lease. */
  readonly id: string
  /** Of an attempt of the same store, of which it is not known how it ended. */
  readonly before: string | undefined
  readonly ttlMs: number
}

export class PostgresRuns {
  readonly #schema: string

  /** @param schema whose name was checked */
  constructor(schema: string) {
    this.#schema = `"${schema}"`
  }

  /** Gives the run to somebody. @returns the token. @throws CaissonError `store_conflict` while somebody holds it */
  async take(query: Query, run: string, { id, before, ttlMs }: LeaseRequest): Promise<number> {
    let row: PostgresRow | undefined
    while (row === undefined) {
      await query(`INSERT INTO ${this.#schema}.runs (name) VALUES ($1) ON CONFLICT (name) DO NOTHING`, [run])
      const found = await query(
        `SELECT number::text, (CASE WHEN lease IS NULL OR lease = $2 THEN 0
           WHEN isfinite(held_until) THEN extract(epoch FROM held_until - clock_timestamp()) * 1000
           ELSE 'NaN' END)::float8::text AS left_ms
         FROM ${this.#schema}.runs WHERE name = $1 FOR NO KEY UPDATE`,
        [run, before ?? ''],
      )
      row = found.rows[0] // none: it was removed in between
    }
    const leftMs = Number(row.left_ms)
    // Twice the longest: the clock of the server may have been set back since.
    if (!(leftMs <= 0)) throw heldByOther(run, Math.min(2 * foundTtl(run, leftMs / 2), MAX_TTL_MS))
    const taken = await query(
      `UPDATE ${this.#schema}.runs SET token = nextval('${this.#schema}.tokens'), lease = $2,
         held_until = clock_timestamp() + $3::float8 * interval '1 millisecond'
       WHERE number = $1 RETURNING token::text`,
      [row.number, id, ttlMs],
    )
    return numberOf(taken, 'token')
  }

  /** Whether somebody holds it. */
  async isLeased(sessions: PostgresSessions, run: string): Promise<boolean> {
    const found = await sessions.look(
      `SELECT FROM ${this.#schema}.runs WHERE name = $1 AND lease IS NOT NULL AND held_until > clock_timestamp()`,
      [run],
    )
    return found.rows.length > 0
  }

  /** @throws CaissonError `lease_lost` */
  async renew(query: Query, run: string, token: number, ttlMs: number): Promise<void> {
    const renewed = await query(
      `UPDATE ${this.#schema}.runs SET held_until = clock_timestamp() + $3::float8 * interval '1 millisecond'
       WHERE name = $1 AND token = $2 AND lease IS NOT NULL`,
      [run, token, ttlMs],
    )
    if (renewed.rowCount === 0) throw leaseLost(run)
  }

  async giveBack(query: Query, run: string, token: number): Promise<void> {
    await query(`UPDATE ${this.#schema}.runs SET lease = NULL WHERE name = $1 AND token = $2`, [run, token])
  }

  /** Whether this token is the newest one, and was not given back. */
  async isHeld(sessions: PostgresSessions, run: string, token: number): Promise<boolean> {
    const found = await sessions.look(
      `SELECT FROM ${this.#schema}.runs WHERE name = $1 AND token = $2 AND lease IS NOT NULL`,
      [run, token],
    )
    return found.rows.length > 0
  }

  async head(sessions: PostgresSessions, run: string): Promise<RunHead | undefined> {
    const found = await sessions.look(
      `SELECT version::text, position::text, encode(summary, 'hex') AS summary, (
         SELECT string_agg(digest, ' ' ORDER BY place) FROM (
           SELECT digest, place
           FROM ${this.#schema}.links JOIN ${this.#schema}.checkpoints AS c ON c.number = links.checkpoint
           WHERE links.run = runs.number ORDER BY place LIMIT ${MAX_CHAIN + 1}
         ) AS named
       ) AS chain
       FROM ${this.#schema}.runs WHERE name = $1 AND version > 0`,
      [run],
    )
    const [row] = found.rows
    if (row === undefined) return undefined
    return foundHead(run, {
      version: numberOf(found, 'version'),
      chain: typeof row.chain === 'string' ? (row.chain.split(' ') as Digest[]) : [],
      position: numberOf(found, 'position'),
      summary: bytesOf(row.summary),
    })
  }

  /** @throws CaissonError `lease_lost`, `store_conflict`, `invalid_argument` */
  async setHead(
    query: Query,
    run: string,
    { version, chain, position, summary }: RunHead,
    token: number,
  ): Promise<void> {
    const row = await this.#lock(query, run, token)
    const found = Number(row.version)
    if (version !== found + 1) throw headMoved(run, found, version)
    const length = await this.#length(query, row)
    if (position > length) throw positionBeyondLog(run, position, length)
    const numbers = await this.#checkpointsOf(query, run, chain)
    await query(`DELETE FROM ${this.#schema}.links WHERE run = $1`, [row.number])
    if (chain.length > 0) {
      await query(
        `INSERT INTO ${this.#schema}.links
         SELECT $1, place - 1, checkpoint FROM unnest($2::bigint[]) WITH ORDINALITY AS t (checkpoint, place)`,
        [row.number, numbers],
      )
    }
    await query(
      `UPDATE ${this.#schema}.runs SET version = $2, position = $3, summary = $4 WHERE number = $1`,
      [row.number, version, position, bufferOf(summary)],
    )
  }

  /** @throws CaissonError `lease_lost`, `store_conflict` */
  async append(
    query: Query,
    run: string,
    at: number,
    entries: readonly Uint8Array[],
    token: number,
  ): Promise<void> {
    const row = await this.#lock(query, run, token)
    const length = await this.#length(query, row)
    if (length !== at) throw logMoved(run, length, at)
    for (let index = 0; index < entries.length; ) {
      const batch = batchFrom(entries, index)
      const places = batch.map((_, n) => `($1::bigint, $2::bigint + ${n}, $${n + 3}::bytea)`)
      await query(`INSERT INTO ${this.#schema}.entries VALUES ${places.join(', ')}`, [
        row.number,
        at + index,
        ...batch.map(bufferOf),
      ])
      index += batch.length
    }
  }

  async entries(
    sessions: PostgresSessions,
    run: string,
    from: number,
    most: number,
  ): Promise<readonly Uint8Array[]> {
    const found = await sessions.look(
      `SELECT encode(bytes, 'hex') AS bytes FROM ${this.#schema}.entries
       WHERE run = (SELECT number FROM ${this.#schema}.runs WHERE name = $1) AND number >= $2
       ORDER BY number LIMIT $3`,
      [run, from, most],
    )
    return found.rows.map(({ bytes }) => bytesOf(bytes))
  }

  /** Names of all that have a head or a log. */
  async names(sessions: PostgresSessions): Promise<readonly string[]> {
    const { rows } = await sessions.look(
      `SELECT name FROM ${this.#schema}.runs
       WHERE version > 0 OR EXISTS (SELECT FROM ${this.#schema}.entries WHERE run = runs.number)`,
    )
    return rows.flatMap(({ name }) => (typeof name === 'string' ? [name] : [])).sort()
  }

  /** @throws CaissonError `lease_lost` */
  async remove(query: Query, run: string, token: number): Promise<void> {
    const row = await this.#lock(query, run, token)
    await query(`DELETE FROM ${this.#schema}.runs WHERE number = $1`, [row.number])
  }

  /** Those that nobody holds and that have neither head nor log. */
  async forgetEmpty(query: Query): Promise<void> {
    await query(
      `DELETE FROM ${this.#schema}.runs WHERE lease IS NULL AND version = 0
         AND NOT EXISTS (SELECT FROM ${this.#schema}.entries WHERE run = runs.number)`,
    )
  }

  /** Invariant 1. */
  async #lock(query: Query, run: string, token: number): Promise<PostgresRow> {
    const found = await query(
      `SELECT number::text, version::text FROM ${this.#schema}.runs
       WHERE name = $1 AND token = $2 AND lease IS NOT NULL FOR NO KEY UPDATE`,
      [run, token],
    )
    const [row] = found.rows
    if (row === undefined) throw leaseLost(run)
    return row
  }

  /** Of the log, by a statement of its own: one that waited for the lock sees what was there before. */
  async #length(query: Query, row: PostgresRow): Promise<number> {
    const found = await query(
      `SELECT coalesce(max(number) + 1, 0)::text AS length FROM ${this.#schema}.entries WHERE run = $1`,
      [row.number],
    )
    return numberOf(found, 'length')
  }

  /** The numbers of checkpoints, in the same order, which no collection takes from now on. */
  async #checkpointsOf(query: Query, run: string, chain: readonly Digest[]): Promise<readonly string[]> {
    if (chain.length === 0) return []
    const { rows } = await query(
      `SELECT digest, number::text FROM ${this.#schema}.checkpoints WHERE digest = ANY ($1::text[])
       ORDER BY number FOR KEY SHARE`,
      [[...new Set(chain)]],
    )
    const numbers = new Map(rows.map(({ digest, number }) => [digest, number]))
    return chain.map((id) => {
      const number = numbers.get(id)
      if (typeof number !== 'string') throw missingCheckpoint(run, id)
      return number
    })
  }
}

function batchFrom(entries: readonly Uint8Array[], from: number): readonly Uint8Array[] {
  let bytes = 0
  let to = from
  for (const entry of entries.slice(from, from + MOST_ENTRIES)) {
    bytes += entry.byteLength
    if (to > from && bytes > MOST_ENTRY_BYTES) break
    to += 1
  }
  return entries.slice(from, to)
}
