/**
 * Runs in the tables of a store: who holds them, their heads and logs.
 *
 * 1. Everything is checked before anything is written: what is refused has changed nothing.
 * 2. Whoever changes a run is looked up by token in the same transaction.
 *
 * Everything here runs inside a transaction of the caller, or is one statement.
 */
import type { Digest } from '../../../src/base/digest.ts'
import type { RunHead } from '../../../src/ports/run-store.ts'
import { foundHead, foundTtl, MAX_CHAIN } from '../check-arguments.ts'
import type { LeaseRecord } from '../node/run-state.node.ts'
import { headMoved, leaseLost, logMoved, missingCheckpoint, positionBeyondLog } from '../store-refusals.ts'
import { bytesIn, type CheckpointTable, numberIn, textIn } from './checkpoint-table.ts'
import type { SqliteRow, SqliteStatements } from './sqlite-connection.ts'

/** Who holds a run, and how often that was renewed. */
export interface HolderRecord {
  readonly lease: LeaseRecord
  readonly beats: number
}

export class RunTable {
  readonly #sql: SqliteStatements
  readonly #checkpoints: CheckpointTable

  constructor(sql: SqliteStatements, checkpoints: CheckpointTable) {
    this.#sql = sql
    this.#checkpoints = checkpoints
  }

  /** Undefined while nobody holds the run. */
  holder(run: string): HolderRecord | undefined {
    const row = this.#sql.get(
      'SELECT lease, machine, process, ttl_ms, uptime_ms, beats FROM runs WHERE name = ? AND lease IS NOT NULL',
      run,
    )
    if (row === undefined) return undefined
    const lease: LeaseRecord = {
      id: textIn(row, 'lease'),
      machine: textIn(row, 'machine'),
      process: textIn(row, 'process'),
      ttlMs: foundTtl(run, numberIn(row, 'ttl_ms')),
      uptimeMs: numberIn(row, 'uptime_ms'),
    }
    return { lease, beats: numberIn(row, 'beats') }
  }

  /** Gives the run to somebody, whoever had it. @returns the token */
  take(run: string, { id, machine, process, ttlMs, uptimeMs }: LeaseRecord): number {
    const token = numberIn(this.#sql.get('UPDATE store SET token = token + 1 RETURNING token'), 'token')
    this.#sql.run(
      `INSERT INTO runs (name, token, lease, machine, process, ttl_ms, uptime_ms, beats)
       VALUES (?, ?, ?, ?, ?, ?, ?, 0)
       ON CONFLICT (name) DO UPDATE SET token = excluded.token, lease = excluded.lease, machine = excluded.machine,
         process = excluded.process, ttl_ms = excluded.ttl_ms, uptime_ms = excluded.uptime_ms, beats = 0`,
      run,
      token,
      id,
      machine,
      process,
      ttlMs,
      uptimeMs,
    )
    return token
  }

  /** @throws CaissonError `lease_lost` */
  renew(run: string, token: number, ttlMs: number, uptimeMs: number): void {
    this.#sql.run(
      'UPDATE runs SET ttl_ms = ?, uptime_ms = ?, beats = beats + 1 WHERE number = ?',
      ttlMs,
      uptimeMs,
      this.#held(run, token),
    )
  }

  giveBack(run: string, token: number): void {
    this.#sql.run('UPDATE runs SET lease = NULL WHERE name = ? AND token = ?', run, token)
  }

  /** Whether this token is the newest one, and was not given back. */
  isHeld(run: string, token: number): boolean {
    return this.#heldRow(run, token) !== undefined
  }

  head(run: string): RunHead | undefined {
    const row = this.#sql.get(
      `SELECT version, position, summary, (
         SELECT group_concat(digest, ' ') FROM (
           SELECT digest FROM links JOIN checkpoints ON checkpoints.number = links.checkpoint
           WHERE links.run = runs.number ORDER BY place LIMIT ${MAX_CHAIN + 1}
         )
       ) AS chain
       FROM runs WHERE name = ? AND version > 0`,
      run,
    )
    if (row === undefined) return undefined
    return foundHead(run, {
      version: numberIn(row, 'version'),
      chain: row.chain === null ? [] : (textIn(row, 'chain').split(' ') as Digest[]),
      position: numberIn(row, 'position'),
      summary: bytesIn(row, 'summary'),
    })
  }

  /** @throws CaissonError `lease_lost`, `store_conflict`, `invalid_argument` */
  setHead(run: string, { version, chain, position, summary }: RunHead, token: number): void {
    const number = this.#held(run, token)
    const found = numberIn(this.#sql.get('SELECT version FROM runs WHERE number = ?', number), 'version')
    if (version !== found + 1) throw headMoved(run, found, version)
    const length = this.#length(number)
    if (position > length) throw positionBeyondLog(run, position, length)
    const checkpoints = chain.map((id) => {
      const checkpoint = this.#checkpoints.numberOf(id)
      if (checkpoint === undefined) throw missingCheckpoint(run, id)
      return checkpoint
    })
    this.#sql.run('DELETE FROM links WHERE run = ?', number)
    for (const [place, checkpoint] of checkpoints.entries()) {
      this.#sql.run('INSERT INTO links VALUES (?, ?, ?)', number, place, checkpoint)
    }
    this.#sql.run(
      'UPDATE runs SET version = ?, position = ?, summary = ? WHERE number = ?',
      version,
      position,
      summary,
      number,
    )
  }

  /** @throws CaissonError `lease_lost`, `store_conflict` */
  append(run: string, at: number, entries: readonly Uint8Array[], token: number): void {
    const number = this.#held(run, token)
    const length = this.#length(number)
    if (length !== at) throw logMoved(run, length, at)
    for (const [index, entry] of entries.entries()) {
      this.#sql.run('INSERT INTO entries VALUES (?, ?, ?)', number, at + index, entry)
    }
  }

  entries(run: string, from: number, most: number): readonly Uint8Array[] {
    const rows = this.#sql.all(
      `SELECT bytes FROM entries WHERE run = (SELECT number FROM runs WHERE name = ?) AND number >= ?
       ORDER BY number LIMIT ?`,
      run,
      from,
      most,
    )
    return rows.map((row) => bytesIn(row, 'bytes'))
  }

  /** Names of all that have a head or a log. */
  names(): readonly string[] {
    const rows = this.#sql.all(
      'SELECT name FROM runs WHERE version > 0 OR EXISTS (SELECT 1 FROM entries WHERE run = runs.number)',
    )
    return rows.map((row) => textIn(row, 'name')).sort()
  }

  /** @throws CaissonError `lease_lost` */
  remove(run: string, token: number): void {
    this.#sql.run('DELETE FROM runs WHERE number = ?', this.#held(run, token))
  }

  /** Those that nobody holds and that have neither head nor log. */
  forgetEmpty(): void {
    this.#sql.run(
      `DELETE FROM runs
       WHERE lease IS NULL AND version = 0 AND NOT EXISTS (SELECT 1 FROM entries WHERE run = runs.number)`,
    )
  }

  #length(number: number): number {
    const row = this.#sql.get(
      'SELECT coalesce(max(number) + 1, 0) AS length FROM entries WHERE run = ?',
      number,
    )
    return numberIn(row, 'length')
  }

  /** Invariant 2. @returns the number of the run */
  #held(run: string, token: number): number {
    const row = this.#heldRow(run, token)
    if (row === undefined) throw leaseLost(run)
    return numberIn(row, 'number')
  }

  #heldRow(run: string, token: number): SqliteRow | undefined {
    return this.#sql.get(
      'SELECT number FROM runs WHERE name = ? AND token = ? AND lease IS NOT NULL',
      run,
      token,
    )
  }
}
