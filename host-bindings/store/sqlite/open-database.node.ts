/**
 * Opens a database file for a store.
 *
 * 1. What a transaction wrote is on the disk when it is committed: `synchronous = FULL`, also for disks with a cache.
 * 2. Readers and one writer at a time, of any number of processes on one machine: a write-ahead log.
 * 3. SQLite never sleeps in the host's thread.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { patiently } from './patience.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import { sqliteError } from './sqlite-error.ts'
import { isStore, makeTables, noStoreYet } from './sqlite-schema.ts'

/** A write-ahead log that grew is cut to this when its contents are in the database. */
const LOG_BYTES = 16 * 1024 * 1024

/** What opens a file: better-sqlite3, or the same watched by a test. */
export type OpenSqlite = (path: string) => SqliteConnection

/**
 * better-sqlite3, where it is installed.
 * @throws CaissonError `unsupported`
 */
export async function loadSqlite(): Promise<OpenSqlite> {
  try {
    const { default: Database } = await import('better-sqlite3')
    // It loads its native part only now, which an installation without scripts has not made.
    new Database(':memory:').close()
    // Waiting is done elsewhere (invariant 3).
    return (path) => new Database(path, { timeout: 0, fileMustExist: true }) as unknown as SqliteConnection
  } catch (cause) {
    throw new CaissonError(
      'unsupported',
      'A store in SQLite needs better-sqlite3 beside caisson: npm install better-sqlite3@12.',
      { cause },
    )
  }
}

export interface DatabaseSettings {
  /** How long to wait for other processes. */
  readonly patienceMs: number
  /** Of the database; more is `SQLITE_FULL`. */
  readonly maxBytes: number
  /** Whether one that is empty is refused. */
  readonly mustExist: boolean
}

/**
 * @param path of a file that exists
 * @throws CaissonError as `openSqliteRunStore`; nothing stays open then
 */
export async function openDatabase(
  open: OpenSqlite,
  path: string,
  { patienceMs, maxBytes, mustExist }: DatabaseSettings,
): Promise<SqliteConnection> {
  let connection: SqliteConnection | undefined
  try {
    const opened = open(path)
    connection = opened
    const isNew = !(await patiently(patienceMs, () => isStore(opened)))
    if (isNew && mustExist) throw noStoreYet()
    // Both are part of the file, and can be chosen only while it is empty.
    if (isNew) await patiently(patienceMs, () => opened.exec('PRAGMA auto_vacuum = INCREMENTAL'))
    const mode = await patiently(patienceMs, () => opened.prepare('PRAGMA journal_mode = WAL').get())
    if (mode?.journal_mode !== 'wal') {
      throw new CaissonError('unsupported', 'SQLite cannot share a file with other processes in that place.')
    }
    opened.exec(`
      PRAGMA synchronous = FULL;
      PRAGMA fullfsync = ON;
      PRAGMA checkpoint_fullfsync = ON;
      PRAGMA foreign_keys = ON;
      PRAGMA trusted_schema = OFF;
      PRAGMA cell_size_check = ON;
      PRAGMA journal_size_limit = ${LOG_BYTES};
    `)
    const page = Number(Object.values(opened.prepare('PRAGMA page_size').get() ?? {})[0])
    opened.prepare(`PRAGMA max_page_count = ${Math.max(1, Math.floor(maxBytes / page))}`).get()
    await patiently(patienceMs, () => makeTables(opened))
    return opened
  } catch (error) {
    connection?.close()
    throw sqliteError('opening the store', error)
  }
}
