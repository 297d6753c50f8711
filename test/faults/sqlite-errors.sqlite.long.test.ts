/** As `sqlite-errors.sqlite.test.ts`, with every statement of the story. */
import { expect, it } from 'vitest'
import { listSqliteOperations, problemsWithSqlite, SQLITE_FAILURES } from './failing-sqlite.ts'

it.each(Object.entries(SQLITE_FAILURES))(
  '1: %s loses nothing, at whichever statement',
  { timeout: 900_000 },
  async (_name, failure) => {
    const problems: string[] = []
    for (const { number, sql } of await listSqliteOperations()) {
      if (failure.meets(sql)) problems.push(...(await problemsWithSqlite(failure, number)))
    }
    expect(problems.slice(0, 5)).toEqual([])
  },
)
