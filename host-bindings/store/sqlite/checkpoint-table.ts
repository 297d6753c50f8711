/**
 * Checkpoints in the tables of a store: put, found, collected.
 *
 * Everything here runs inside a transaction of the caller, or is one statement.
 */
import type { Digest } from '../../../src/base/digest.ts'
import { CaissonError } from '../../../src/base/errors.ts'
import type { SqliteRow, SqliteStatements } from './sqlite-connection.ts'

/** Bounds for what one transaction of a collection removes: others wait for it. */
const MOST_REMOVED = 100
const MOST_REMOVED_BYTES = 64 * 1024 * 1024
/** Pages that one transaction gives back to the disk. */
const MOST_PAGES = 4_096

const UNNEEDED =
  'FROM checkpoints AS c WHERE (? = 0 OR put_at <= ?) AND NOT EXISTS (SELECT 1 FROM links WHERE checkpoint = c.number)'

/** What one step of a collection came to. */
export interface CollectedStep {
  readonly removed: number
  readonly bytes: number
  /** Whether there may be more to do. */
  readonly more: boolean
}

export class CheckpointTable {
  readonly #sql: SqliteStatements

  constructor(sql: SqliteStatements) {
    this.#sql = sql
  }

  /** Makes a known one young instead. */
  put(id: Digest, bytes: Uint8Array, nowMs: number): void {
    if (this.#sql.run('UPDATE checkpoints SET put_at = ? WHERE digest = ?', nowMs, id) > 0) return
    const row = this.#sql.get(
      'INSERT INTO checkpoints (digest, put_at, size) VALUES (?, ?, ?) RETURNING number',
      id,
      nowMs,
      bytes.byteLength,
    )
    this.#sql.run('INSERT INTO contents VALUES (?, ?)', numberIn(row, 'number'), bytes)
  }

  /** A copy of the bytes; undefined when they are not there. */
  get(id: Digest): Uint8Array | undefined {
    const row = this.#sql.get(
      'SELECT bytes FROM contents WHERE checkpoint = (SELECT number FROM checkpoints WHERE digest = ?)',
      id,
    )
    return row && bytesIn(row, 'bytes')
  }

  /** By which number links name it; undefined when it is not there. */
  numberOf(id: Digest): number | undefined {
    const row = this.#sql.get('SELECT number FROM checkpoints WHERE digest = ?', id)
    return row && numberIn(row, 'number')
  }

  /** What a collection would remove. */
  unneeded(graceMs: number, nowMs: number): CollectedStep {
    const row = this.#sql.get(
      `SELECT count(*) AS removed, coalesce(sum(size), 0) AS bytes ${UNNEEDED}`,
      graceMs,
      nowMs - graceMs,
    )
    return { removed: numberIn(row, 'removed'), bytes: numberIn(row, 'bytes'), more: false }
  }

  /** Removes some of what no head names. */
  collectSome(graceMs: number, nowMs: number): CollectedStep {
    const found = this.#sql.all(
      `SELECT number, size ${UNNEEDED} LIMIT ${MOST_REMOVED}`,
      graceMs,
      nowMs - graceMs,
    )
    let removed = 0
    let bytes = 0
    for (const row of found) {
      if (removed > 0 && bytes + numberIn(row, 'size') > MOST_REMOVED_BYTES) break
      removed += 1
      bytes += numberIn(row, 'size')
      this.#sql.run('DELETE FROM checkpoints WHERE number = ?', numberIn(row, 'number'))
    }
    return { removed, bytes, more: found.length === MOST_REMOVED || removed < found.length }
  }

  /** Gives some of the room that is free inside the file back to the disk. @returns whether there is more of it */
  shrinkSome(): boolean {
    const free = (): number => numberIn(this.#sql.get('PRAGMA freelist_count'), 'freelist_count')
    const before = free()
    if (before === 0) return false
    this.#sql.exec(`PRAGMA incremental_vacuum(${MOST_PAGES})`)
    const after = free()
    return after > 0 && after < before
  }
}

function damaged(what: string): CaissonError {
  return new CaissonError('corrupted', `The store is damaged: ${what}`)
}

/** A whole number in a column. */
export function numberIn(row: SqliteRow | undefined, column: string): number {
  const value = row?.[column]
  if (typeof value !== 'number') throw damaged(`the column ${column} holds no number.`)
  return value
}

/** A text in a column. */
export function textIn(row: SqliteRow, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw damaged(`the column ${column} holds no text.`)
  return value
}

/** Bytes in a column, as a copy of the caller's own: not a Buffer, and not a part of a larger one. */
export function bytesIn(row: SqliteRow, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw damaged(`the column ${column} holds no bytes.`)
  // What the driver made for this row alone need not be copied.
  const whole = value.byteLength === value.buffer.byteLength
  return whole ? new Uint8Array(value.buffer, 0, value.byteLength) : Uint8Array.from(value)
}
