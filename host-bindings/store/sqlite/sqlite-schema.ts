/**
 * The tables of a store in SQLite, and how a file is known to have them.
 *
 * 1. A file of something else is refused before anything in it is changed.
 * 2. A checkpoint that a head names cannot be deleted: the database itself refuses.
 * 3. No statement meets another table than those below: a view in the place of one may take for ever.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import type { SqliteConnection } from './sqlite-connection.ts'

/** In the header of the file: "CSNR". */
const APPLICATION_ID = 0x43_53_4e_52
/** Of the tables below. */
const SCHEMA_VERSION = 1

const TABLES = `
CREATE TABLE store (
  single INTEGER PRIMARY KEY CHECK (single = 1),
  -- The last token that was given: one counter for all runs, so that one that begins anew has newer ones.
  token INTEGER NOT NULL
) STRICT;
INSERT INTO store VALUES (1, 0);

CREATE TABLE runs (
  number INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  -- Of the newest lease.
  token INTEGER NOT NULL,
  -- Null while nobody holds the run.
  lease TEXT,
  machine TEXT NOT NULL,
  process TEXT NOT NULL,
  ttl_ms REAL NOT NULL,
  uptime_ms REAL NOT NULL,
  beats INTEGER NOT NULL,
  -- Of the head; version 0 while there is none.
  version INTEGER NOT NULL DEFAULT 0,
  position INTEGER NOT NULL DEFAULT 0,
  summary BLOB NOT NULL DEFAULT x''
) STRICT;

CREATE TABLE entries (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  number INTEGER NOT NULL,
  bytes BLOB NOT NULL,
  PRIMARY KEY (run, number)
) STRICT;

CREATE TABLE checkpoints (
  number INTEGER PRIMARY KEY,
  digest TEXT NOT NULL UNIQUE,
  -- Milliseconds since 1970.
  put_at INTEGER NOT NULL,
  size INTEGER NOT NULL
) STRICT;

-- Apart from what changes, so that putting a checkpoint again does not write it again.
CREATE TABLE contents (
  checkpoint INTEGER PRIMARY KEY REFERENCES checkpoints ON DELETE CASCADE,
  bytes BLOB NOT NULL
) STRICT;

-- The chains of the heads, newest first.
CREATE TABLE links (
  run INTEGER NOT NULL REFERENCES runs ON DELETE CASCADE,
  place INTEGER NOT NULL,
  checkpoint INTEGER NOT NULL REFERENCES checkpoints,
  PRIMARY KEY (run, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX links_of_checkpoint ON links (checkpoint);

PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`

/**
 * Whether the database is a store already; false when it is empty.
 * @throws CaissonError `invalid_argument` when it holds something else, `unsupported` for a store of another version,
 * `corrupted` for one with other tables
 */
export function isStore(connection: SqliteConnection): boolean {
  const application = firstValue(connection, 'PRAGMA application_id')
  const version = firstValue(connection, 'PRAGMA user_version')
  if (
    application === 0 &&
    version === 0 &&
    firstValue(connection, 'SELECT count(*) FROM sqlite_schema') === 0
  ) {
    return false
  }
  if (application !== APPLICATION_ID) throw notAStore()
  if (version !== SCHEMA_VERSION) {
    throw new CaissonError('unsupported', `The store has version ${String(version)}; this knows 1.`, {
      details: { version },
    })
  }
  checkTables(connection)
  return true
}

/** Invariant 3. @throws CaissonError `corrupted` */
function checkTables(connection: SqliteConnection): void {
  // What ANALYZE writes is for the planner alone; what has no text are indexes that come with a table.
  const found = connection
    .prepare(
      `SELECT sql FROM sqlite_schema
       WHERE sql IS NOT NULL AND NOT (type = 'table' AND name GLOB 'sqlite_stat[1-4]') LIMIT ?`,
    )
    .all(STATEMENTS.size + 1)
  const known = found.every(({ sql }) => STATEMENTS.has(statementOf(String(sql))))
  if (known && found.length === STATEMENTS.size) return
  throw new CaissonError('corrupted', 'The file is no store of this version: it has other tables.')
}

/** As SQLite keeps them, but for comments and blanks. */
const STATEMENTS: ReadonlySet<string> = new Set(
  TABLES.replaceAll(/--.*$/gm, '')
    .split(';')
    .map(statementOf)
    .filter((statement) => statement.startsWith('CREATE ')),
)

function statementOf(sql: string): string {
  return sql.replaceAll(/--.*$/gm, '').replaceAll(/\s+/g, ' ').trim()
}

/** Makes the tables where they are missing, in one transaction. */
export function makeTables(connection: SqliteConnection): void {
  try {
    connection.exec('BEGIN IMMEDIATE')
    if (!isStore(connection)) connection.exec(TABLES)
    connection.exec('COMMIT')
  } catch (error) {
    if (connection.inTransaction) connection.exec('ROLLBACK')
    throw error
  }
}

/** The refusal for a file that is not there, or empty. */
export function noStoreYet(): CaissonError {
  return new CaissonError('not_found', 'There is no store of runs in that place.')
}

/** The refusal for a file that is something else. */
export function notAStore(): CaissonError {
  return new CaissonError('invalid_argument', 'The file holds something else than a store of runs.')
}

function firstValue(connection: SqliteConnection, sql: string): unknown {
  return Object.values(connection.prepare(sql).get() ?? {})[0]
}
