/**
 * One statement of a program in one transaction.
 *
 * 1. Reading: the program's text stands behind `DECLARE ... CURSOR FOR`, where the grammar takes a SELECT, VALUES,
 *    TABLE or WITH and nothing else, in a read-only transaction whose mode can no longer be changed, and which is
 *    always rolled back: settings that a function changed are as before.
 * 2. Writing: the text begins with one of the allowed words, and the extended protocol takes a single statement; so
 *    it can neither end the transaction nor change the session.
 * 3. Rows are fetched in batches and counted while they come; above a cap the transaction is rolled back.
 */
import { CaissonError } from '../../src/base/errors.ts'
import type { SqlDatabase, SqlTransaction } from './sql-database.ts'
import { sqlError } from './sql-error.ts'
import { RowCollector, type RowLimits, type SqlRows } from './sql-rows.ts'

/** A statement of a program. */
export interface SqlStatement {
  readonly text: string
  readonly params: readonly unknown[]
}

export interface StatementLimits extends RowLimits {
  readonly timeoutMs: number
}

const BATCH_ROWS = 200
const CURSOR = 'DECLARE caisson_rows NO SCROLL CURSOR FOR '

/**
 * Reads.
 * @throws CaissonError `query_failed`, `denied`, `timeout`, `result_too_large`, `aborted`
 */
export async function runReading(
  database: SqlDatabase,
  { text, params }: SqlStatement,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<SqlRows> {
  return contained(CURSOR.length, signal, () =>
    database.transaction(async (transaction) => {
      await transaction.query('SET TRANSACTION READ ONLY')
      await limitTime(transaction, limits.timeoutMs)
      // The first query fixes the mode: from here on even a superuser cannot make it read-write.
      await transaction.query('SELECT 1')
      await transaction.query(`${CURSOR}${refuseNul(text)}`, [...params])
      const collector = new RowCollector(limits)
      for (;;) {
        refuseAborted(signal)
        const { rows, fields } = await fetchBatch(transaction)
        collector.add(fields, rows)
        if (rows.length < BATCH_ROWS) break
      }
      await transaction.rollback()
      return collector.result()
    }),
  )
}

/**
 * Writes, and commits.
 * @param words the statements that are allowed, by their first word in lower case
 * @throws CaissonError as `runReading`, and `denied` for other statements
 */
export async function runWriting(
  database: SqlDatabase,
  { text, params }: SqlStatement,
  words: ReadonlySet<string>,
  limits: StatementLimits,
  signal: AbortSignal,
): Promise<SqlRows & { readonly affected: number }> {
  // No comments before the word: PostgreSQL nests them, and what only looks like the word must not count.
  const word = /^\s*([a-z]+)\b/i.exec(text)?.[1]?.toLowerCase() ?? ''
  if (!words.has(word)) {
    const list = [...words].map((allowed) => allowed.toUpperCase()).join(', ')
    throw new CaissonError('denied', `The statement must begin with one of ${list} (comments after it).`)
  }
  return contained(0, signal, () =>
    database.transaction(async (transaction) => {
      await limitTime(transaction, limits.timeoutMs)
      const { rows, fields, affectedRows } = await transaction.query<readonly unknown[]>(
        refuseNul(text),
        [...params],
        { rowMode: 'array' },
      )
      // Aborted now means that nobody waits for the answer: better undone than done unknown to everybody.
      refuseAborted(signal)
      const collector = new RowCollector(limits)
      collector.add(fields, rows)
      return { ...collector.result(), affected: affectedRows ?? 0 }
    }),
  )
}

async function contained<T>(prefixLength: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  refuseAborted(signal)
  try {
    return await work()
  } catch (error) {
    throw sqlError(error, prefixLength)
  }
}

function fetchBatch(transaction: SqlTransaction) {
  return transaction.query<readonly unknown[]>(`FETCH FORWARD ${BATCH_ROWS} FROM caisson_rows`, [], {
    rowMode: 'array',
  })
}

async function limitTime(transaction: SqlTransaction, timeoutMs: number): Promise<void> {
  await transaction.query(`SET LOCAL statement_timeout = ${Math.ceil(timeoutMs)}`)
}

/** In the protocol a NUL ends the text, and what follows would be read as something else. */
function refuseNul(text: string): string {
  if (!text.includes('\0')) return text
  throw new CaissonError('query_failed', 'The text of a statement cannot contain NUL.')
}

function refuseAborted(signal: AbortSignal): void {
  if (signal.aborted) throw new CaissonError('aborted', 'The query was aborted.', { cause: signal.reason })
}
