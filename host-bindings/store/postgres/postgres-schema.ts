/**
 * The tables of a store in Postgres, in a schema of their own.
 *
 * 1. A schema that holds something else is refused, and nothing in it is touched.
 * 2. A checkpoint that a head names cannot be deleted: the database itself refuses.
 * 3. No statement meets anything but tables in their place, and nothing that is set off by a change to one.
 * 4. The name of a schema is part of every statement, so it is checked to be a plain one.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { numberOf, type PostgresSessions, type Query, textOf } from './postgres-sessions.ts'

/** Of the tables below. */
const FORMAT = 1
/** Letters of one case, so that it is the same with quotes and without. */
const NAME = /^[a-z_][a-z0-9_]{0,62}$/

/** @throws CaissonError `invalid_argument` */
export function checkSchemaName(schema: string): void {
  if (NAME.test(schema) && !schema.startsWith('pg_')) return
  throw new CaissonError(
    'invalid_argument',
    'The name of a schema is 1 to 63 of the characters a-z 0-9 _, begins with no digit and not with pg_.',
    { details: { option: 'schema' } },
  )
}

/**
 * Makes schema and tables where they are missing.
 * @param schema whose name was checked
 * @throws CaissonError `invalid_argument` when the schema holds something else, `unsupported` for another version,
 * `corrupted` where something else stands in the place of its tables
 */
export async function makeSchema(sessions: PostgresSessions, schema: string): Promise<void> {
  if (await isStore((text, values) => sessions.look(text, values), schema)) return
  await sessions.transact(async (query) => {
    // Of several processes that make it, one does.
    await query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`caisson store ${schema}`])
    if (await isStore(query, schema)) return
    const found = await query('SELECT count(*)::text AS schemas FROM pg_namespace WHERE nspname = $1', [
      schema,
    ])
    if (numberOf(found, 'schemas') === 0) await query(`CREATE SCHEMA "${schema}"`)
    await query(tables(schema))
  })
}

/** @throws CaissonError `not_found`, and as `makeSchema` */
export async function findSchema(sessions: PostgresSessions, schema: string): Promise<void> {
  if (await isStore((text, values) => sessions.look(text, values), schema)) return
  throw new CaissonError('not_found', `There is no store of runs in the schema ${schema}.`)
}

/** False where there is nothing yet. */
async function isStore(query: Query, schema: string): Promise<boolean> {
  const found = await query(
    `SELECT count(*)::text AS tables, count(*) FILTER (WHERE relname = 'caisson_store')::text AS own
     FROM pg_class WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
    [schema],
  )
  if (numberOf(found, 'own') > 0) {
    await checkTables(query, schema)
    const format = numberOf(await query(`SELECT format::text FROM "${schema}".caisson_store`), 'format')
    if (format === FORMAT) return true
    throw new CaissonError('unsupported', `The store has version ${format}; this knows ${FORMAT}.`, {
      details: { version: format },
    })
  }
  if (textOf(found, 'tables') === '0') return false
  throw new CaissonError(
    'invalid_argument',
    `The schema ${schema} holds something else than a store of runs.`,
  )
}

/** Invariant 3. @throws CaissonError `corrupted` */
async function checkTables(query: Query, schema: string): Promise<void> {
  const found = await query(
    `SELECT count(*)::text AS sound FROM pg_class AS c
     WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relname = ANY ($2::text[])
       AND relkind = 'r' AND NOT relrowsecurity
       AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = c.oid AND NOT tgisinternal)
       AND NOT EXISTS (SELECT FROM pg_rewrite WHERE ev_class = c.oid)
       AND NOT EXISTS (SELECT FROM pg_inherits WHERE c.oid IN (inhparent, inhrelid))`,
    [schema, TABLE_NAMES],
  )
  if (numberOf(found, 'sound') === TABLE_NAMES.length) return
  throw new CaissonError(
    'corrupted',
    `The schema ${schema} is no store of this version: something else stands in the place of its tables.`,
  )
}

const TABLE_NAMES = ['caisson_store', 'runs', 'entries', 'checkpoints', 'contents', 'links']

function tables(schema: string): string {
  const s = `"${schema}"`
  return `
    CREATE TABLE ${s}.caisson_store (single boolean PRIMARY KEY DEFAULT true CHECK (single), format integer NOT NULL);
    INSERT INTO ${s}.caisson_store (format) VALUES (${FORMAT});

    -- Of all runs, so that one that begins anew has newer ones.
    CREATE SEQUENCE ${s}.tokens;

    CREATE TABLE ${s}.runs (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      name text COLLATE "C" NOT NULL UNIQUE,
      -- Of the newest lease, which is null while nobody holds the run.
      token bigint NOT NULL DEFAULT 0,
      lease text,
      held_until timestamptz,
      -- Of the head; version 0 while there is none.
      version bigint NOT NULL DEFAULT 0,
      position bigint NOT NULL DEFAULT 0,
      summary bytea NOT NULL DEFAULT ''
    );

    CREATE TABLE ${s}.entries (
      run bigint NOT NULL REFERENCES ${s}.runs ON DELETE CASCADE,
      number bigint NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (run, number)
    );

    CREATE TABLE ${s}.checkpoints (
      number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      digest text COLLATE "C" NOT NULL UNIQUE,
      put_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      size bigint NOT NULL
    );

    -- In parts: no value that is sent as text may be larger than half a gigabyte.
    CREATE TABLE ${s}.contents (
      checkpoint bigint NOT NULL REFERENCES ${s}.checkpoints ON DELETE CASCADE,
      part integer NOT NULL,
      bytes bytea NOT NULL,
      PRIMARY KEY (checkpoint, part)
    );
    -- Postgres 15 cannot say it above.
    ALTER TABLE ${s}.contents ALTER COLUMN bytes SET STORAGE EXTERNAL;

    -- The chains of the heads, newest first.
    CREATE TABLE ${s}.links (
      run bigint NOT NULL REFERENCES ${s}.runs ON DELETE CASCADE,
      place integer NOT NULL,
      checkpoint bigint NOT NULL REFERENCES ${s}.checkpoints,
      PRIMARY KEY (run, place)
    );
    CREATE INDEX ON ${s}.links (checkpoint);`
}
