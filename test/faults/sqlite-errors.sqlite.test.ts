/**
 * A statement of SQLite fails, once: instead of it, after it, or because the disk is full. Every one of them in turn in
 * the long run.
 *
 * The step that meets it fails with a typed error, nothing that was acknowledged is lost, and the same store goes on.
 */
import { beforeAll, expect, it } from 'vitest'
import { listSqliteOperations, problemsWithSqlite, SQLITE_FAILURES } from './failing-sqlite.ts'
import type { SqliteOperation } from './watched-sqlite.ts'

const EVERY = 89

let all: readonly SqliteOperation[]
beforeAll(async () => {
  all = await listSqliteOperations()
})

it.each(Object.entries(SQLITE_FAILURES))('1: %s loses nothing', async (_name, failure) => {
  const operations = all.filter(({ sql }) => failure.meets(sql))
  const problems: string[] = []
  for (const [index, { number }] of operations.entries()) {
    if (index % EVERY === 5) problems.push(...(await problemsWithSqlite(failure, number)))
  }
  expect(operations.length).toBeGreaterThan(100)
  expect(problems).toEqual([])
})
