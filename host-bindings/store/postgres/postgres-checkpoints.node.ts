/**
 * Checkpoints in the tables of a store: put, found, collected.
 */
import { concatBytes } from '../../../src/base/bytes.ts'
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import type { Collected } from '../../../src/ports/run-store.ts'
import { numberOf, type PostgresSessions, type Query } from './postgres-sessions.ts'

/** One value of a row: as text it is twice as large, and has to fit into a string and into a message. */
const PART_BYTES = 4 * 1024 * 1024
/** Parts that one answer of the server has. */
const PARTS_AT_ONCE = 4
/** Checkpoints that one transaction of a collection removes. */
const MOST_REMOVED = 100

export class PostgresCheckpoints {
  readonly #checkpoints: string
  readonly #contents: string
  readonly #unneeded: string

  /** @param schema whose name was checked */
  constructor(schema: string) {
    this.#checkpoints = `"${schema}".checkpoints`
    this.#contents = `"${schema}".contents`
    this.#unneeded = `FROM ${this.#checkpoints} AS c
      WHERE ($1::float8 = 0 OR put_at <= clock_timestamp() - $1::float8 * interval '1 millisecond')
        AND NOT EXISTS (SELECT FROM "${schema}".links WHERE checkpoint = c.number)`
  }

  /** Makes a known one young instead. In a transaction. */
  async put(query: Query, id: Digest, bytes: Uint8Array): Promise<void> {
    let number: string | null | undefined
    while (number === undefined) {
      const known = await query(
        `UPDATE ${this.#checkpoints} SET put_at = clock_timestamp() WHERE digest = $1`,
        [id],
      )
      if (known.rowCount !== 0) return
      const made = await query(
        `INSERT INTO ${this.#checkpoints} (digest, size) VALUES ($1, $2)
         ON CONFLICT (digest) DO NOTHING RETURNING number::text`,
        [id, bytes.byteLength],
      )
      number = made.rows[0]?.number // none: somebody else has just put it
    }
    for (let part = 0; part === 0 || part * PART_BYTES < bytes.byteLength; part++) {
      const value = bytes.subarray(part * PART_BYTES, (part + 1) * PART_BYTES)
      await query(`INSERT INTO ${this.#contents} VALUES ($1, $2, $3)`, [number, part, bufferOf(value)])
    }
  }

  /** A copy of the bytes; undefined when they are not there. */
  async get(sessions: PostgresSessions, id: Digest): Promise<Uint8Array | undefined> {
    const found = await sessions.look(
      `SELECT c.number::text, c.size::text, encode(p.bytes, 'hex') AS bytes
       FROM ${this.#checkpoints} AS c LEFT JOIN ${this.#contents} AS p ON p.checkpoint = c.number AND p.part = 0
       WHERE c.digest = $1`,
      [id],
    )
    const [row] = found.rows
    if (row === undefined) return undefined
    const size = numberOf(found, 'size')
    const parts = [bytesOf(row.bytes)]
    let length = parts[0]?.byteLength ?? 0
    while (length < size) {
      const more = await sessions.look(
        `SELECT encode(bytes, 'hex') AS bytes FROM ${this.#contents}
         WHERE checkpoint = $1 AND part >= $2 ORDER BY part LIMIT ${PARTS_AT_ONCE}`,
        [row.number, parts.length],
      )
      if (more.rows.length === 0) break
      for (const { bytes } of more.rows) {
        parts.push(bytesOf(bytes))
        length += parts.at(-1)?.byteLength ?? 0
      }
    }
    if (length !== size) return this.#missingParts(sessions, id, row.number)
    return parts.length === 1 ? parts[0] : concatBytes(parts, length)
  }

  /** What a collection would remove. */
  async unneeded(sessions: PostgresSessions, graceMs: number): Promise<Collected> {
    const found = await sessions.look(
      `SELECT count(*)::text AS removed, coalesce(sum(size), 0)::text AS bytes ${this.#unneeded}`,
      [graceMs],
    )
    return { removed: numberOf(found, 'removed'), bytes: numberOf(found, 'bytes') }
  }

  /** Removes what no head names, in steps. */
  async collect(sessions: PostgresSessions, graceMs: number): Promise<Collected> {
    let removed = 0
    let bytes = 0
    for (;;) {
      const step = await sessions.transact((query) => this.#collectSome(query, graceMs))
      removed += step.removed
      bytes += step.bytes
      if (step.removed < MOST_REMOVED) return { removed, bytes }
    }
  }

  /**
   * Those that somebody is just using are left alone. One that a head has named since the statement began is not
   * removed either: then the database refuses, and all of it is tried again.
   */
  async #collectSome(query: Query, graceMs: number): Promise<Collected> {
    const gone = await query(
      `WITH old AS MATERIALIZED (
         SELECT number ${this.#unneeded} LIMIT ${MOST_REMOVED} FOR UPDATE SKIP LOCKED
       ), gone AS (
         DELETE FROM ${this.#checkpoints} AS c USING old WHERE c.number = old.number RETURNING c.size
       )
       SELECT count(*)::text AS removed, coalesce(sum(size), 0)::text AS bytes FROM gone`,
      [graceMs],
    )
    return { removed: numberOf(gone, 'removed'), bytes: numberOf(gone, 'bytes') }
  }

  /** It was collected while it was read, or some of it is lost. */
  async #missingParts(
    sessions: PostgresSessions,
    id: Digest,
    number: string | null | undefined,
  ): Promise<undefined> {
    const still = await sessions.look(`SELECT FROM ${this.#checkpoints} WHERE number = $1`, [number])
    if (still.rows.length === 0) return undefined
    throw new CaissonError('corrupted', 'The store is damaged: parts of a checkpoint are missing.', {
      details: { checkpoint: id },
    })
  }
}

/** The same bytes, as `pg` takes them. */
export function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** The bytes of a column that was encoded as hexadecimal digits: not a Buffer, and not a part of a larger one. */
export function bytesOf(hex: string | null | undefined): Uint8Array {
  const bytes = new Uint8Array((hex ?? '').length / 2)
  bufferOf(bytes).write(hex ?? '', 'hex')
  return bytes
}
