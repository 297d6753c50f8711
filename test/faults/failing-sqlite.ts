/** SQLite that fails once, at one of its statements: see `sqlite-errors.sqlite.test.ts`. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadSqlite } from '../../host-bindings/store/sqlite/open-database.node.ts'
import {
  openSqliteRunStore,
  openSqliteRunStoreWith,
} from '../../host-bindings/store/sqlite/sqlite-run-store.node.ts'
import { problemsInStory } from './failing-story.ts'
import { simulateMachine } from './simulated-machine.ts'
import { type SqliteOperation, type SqliteWatcher, watchSqlite } from './watched-sqlite.ts'

/** A way to fail, and the code that it must lead to. */
export interface SqliteFailure {
  readonly code: string
  meets(sql: string): boolean
  watcher(number: number): SqliteWatcher
}

const isRead = (sql: string): boolean => /^\s*(?:SELECT|PRAGMA (?!incremental))/.test(sql)
const failAt =
  (number: number, code: string) =>
  (operation: SqliteOperation): void => {
    if (operation.number === number) throw Object.assign(new Error(`${code}: ${operation.sql}`), { code })
  }

export const SQLITE_FAILURES: Readonly<Record<string, SqliteFailure>> = {
  'an error instead of a statement': {
    code: 'store_failed',
    meets: () => true,
    watcher: (number) => ({ before: failAt(number, 'SQLITE_IOERR_READ') }),
  },
  'an error after a change was made': {
    code: 'store_failed',
    meets: (sql) => !isRead(sql),
    watcher: (number) => ({ after: failAt(number, 'SQLITE_IOERR_FSYNC') }),
  },
  'a full disk': {
    code: 'quota_exceeded',
    meets: (sql) => !isRead(sql),
    watcher: (number) => ({ before: failAt(number, 'SQLITE_FULL') }),
  },
}

/** All statements of the story, after those that open the store. */
export async function listSqliteOperations(): Promise<readonly SqliteOperation[]> {
  const operations: SqliteOperation[] = []
  await tell({ before: (operation) => void operations.push(operation) }, [])
  return operations
}

/** @returns what was wrong when the statement with this number failed */
export async function problemsWithSqlite(failure: SqliteFailure, number: number): Promise<readonly string[]> {
  const problems = await tell(failure.watcher(number), [failure.code])
  return problems.map((problem) => `statement ${number}: ${problem}`)
}

async function tell(watcher: SqliteWatcher, codes: readonly string[]): Promise<readonly string[]> {
  const scratch = mkdtempSync(join(tmpdir(), 'caisson-failing-'))
  const path = join(scratch, 'runs.db')
  const look = await openSqliteRunStore(path)
  let watching = false
  const driver = watchSqlite(await loadSqlite(), {
    before: (operation) => (watching ? watcher.before?.(operation) : undefined),
    after: (operation) => (watching ? watcher.after?.(operation) : undefined),
  })
  const store = await openSqliteRunStoreWith(driver, path, {}, simulateMachine('here'))
  watching = true
  try {
    return await problemsInStory(store, look, codes)
  } finally {
    watching = false
    await store.close()
    await look.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}
