/**
 * `sql.query` and `sql.execute` over a PostgreSQL of the embedder (PGlite, or anything with its shape).
 *
 * What is guaranteed stands in `run-statement.ts`. What is not, and what to do:
 * - A SELECT can call functions, with the rights of the session. Open the database as a role with the rights that
 *   programs should have; for a superuser the server's own files are readable.
 * - PGlite runs on the thread that opened it and has no timers: `statement_timeout` does nothing there, and a heavy
 *   query holds up that thread until it is done. For programs that nobody has read, open PGlite in a Worker and
 *   terminate it when a call times out. A PostgreSQL server cancels the query itself.
 * - A single value can be as large as the database makes it; the caps count what has arrived.
 */
import {
  anObject,
  aText,
  checkOptions,
  type OptionChecks,
  oneOf,
  wholeFrom,
  withMethods,
} from '../../src/base/option-checks.ts'
import type { Capability, RetryPolicy } from '../../src/capability/capability.ts'
import { defineBinding } from '../define-binding.ts'
import { list, object, record } from '../schema/composites.ts'
import { anything, integer, text } from '../schema/scalars.ts'
import { runReading, runWriting, type StatementLimits } from './run-statement.ts'
import type { SqlDatabase } from './sql-database.ts'

export interface SqlOptions {
  readonly database: SqlDatabase
  /** `rows` adds `sql.execute` with INSERT, UPDATE, DELETE and MERGE; `schema` also CREATE, ALTER and DROP. Default: none. */
  readonly write?: 'rows' | 'schema'
  /** Milliseconds for one statement, 1 to 600,000. Default 5,000. */
  readonly timeoutMs?: number
  /** Default 10,000. */
  readonly maxRows?: number
  /** Approximate bytes of a whole result. Default 4 MiB. */
  readonly maxBytes?: number
  /** When `sql.query` may be tried again, for example once after a `timeout`. Default: never. */
  readonly retry?: RetryPolicy
  /** What tables there are, for people and models: becomes part of the description. */
  readonly about?: string
}

const OPTIONS: OptionChecks<SqlOptions> = {
  database: withMethods('a PostgreSQL session or pool such as a PGlite', 'transaction'),
  write: oneOf('rows', 'schema'),
  timeoutMs: wholeFrom(1, 600_000),
  maxRows: wholeFrom(1, 1_000_000),
  maxBytes: wholeFrom(1, 2 ** 31),
  retry: anObject,
  about: aText,
}
const MAX_TEXT = 100_000
const MAX_PARAMS = 1_000
const MAX_COLUMNS = 1_664 // PostgreSQL's own limit on a result
/** What the database's own timeout has before the gate gives up. */
const SLACK_MS = 500
const EXPOSED = ['query_failed', 'denied', 'timeout', 'result_too_large', 'aborted'] as const
const ROW_WORDS = ['insert', 'update', 'delete', 'merge', 'with']
const SCHEMA_WORDS = ['create', 'alter', 'drop', 'truncate', 'comment']

const statement = object(
  {
    text: text({
      minLength: 1,
      maxLength: MAX_TEXT,
      description: 'One statement, with $1, $2, ... for values.',
    }),
  },
  { params: list(anything(), { maxItems: MAX_PARAMS, description: 'The values of $1, $2, ...' }) },
)

/**
 * The capability `sql.query`, and with `write` also `sql.execute`.
 * @throws CaissonError `invalid_argument` for an impossible option
 */
export function createSqlCapabilities(options: SqlOptions): readonly Capability[] {
  checkOptions(options, OPTIONS, ['database'])
  const { database, write, about = '', retry } = options
  const limits: StatementLimits = {
    timeoutMs: options.timeoutMs ?? 5_000,
    maxRows: options.maxRows ?? 10_000,
    maxBytes: options.maxBytes ?? 4 * 1024 * 1024,
  }
  const shared = {
    timeoutMs: limits.timeoutMs + SLACK_MS,
    expose: EXPOSED,
    input: statement,
  }
  const columns = list(text({ maxLength: 64 }), { maxItems: MAX_COLUMNS })
  const rows = list(record(anything(), { maxProperties: MAX_COLUMNS }), { maxItems: limits.maxRows })

  const query = defineBinding({
    ...shared,
    name: 'sql.query',
    description:
      `Reads from PostgreSQL with one SELECT, WITH, VALUES or TABLE statement: \`const { rows } = await sql.query({ text: "select name from products where id = $1", params: [7] })\`. Gives \`{ columns, rows }\`, each row an object; numeric comes as a string, timestamps as Date. At most ${limits.maxRows} rows. ${about}`.trim(),
    effect: 'read',
    ...(retry !== undefined && { retry }),
    output: object({ columns, rows }),
    invoke: (input, { signal }) =>
      runReading(database, { text: input.text, params: input.params ?? [] }, limits, signal),
  })
  if (write === undefined) return [query]

  const words = new Set(write === 'schema' ? [...ROW_WORDS, ...SCHEMA_WORDS] : ROW_WORDS)
  const execute = defineBinding({
    ...shared,
    name: 'sql.execute',
    description: `Changes the database with one statement (${[...words].join(', ').toUpperCase()}), in a transaction of its own: \`const { affected } = await sql.execute({ text: "update products set price = $2 where id = $1", params: [7, "9.50"] })\`. With RETURNING also \`rows\`.`,
    effect: 'destructive',
    output: object({ affected: integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), columns, rows }),
    invoke: (input, { signal }) =>
      runWriting(database, { text: input.text, params: input.params ?? [] }, words, limits, signal),
  })
  return [query, execute]
}
