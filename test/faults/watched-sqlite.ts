/** SQLite with somebody who looks at every statement, and may let it fail, or the process end. */
import type { OpenSqlite } from '../../host-bindings/store/sqlite/open-database.node.ts'
import type { SqliteStatement } from '../../host-bindings/store/sqlite/sqlite-connection.ts'

/** One statement, as a driver was asked for it. */
export interface SqliteOperation {
  /** Counted from 1. */
  readonly number: number
  readonly sql: string
}

export interface SqliteWatcher {
  before?(operation: SqliteOperation): void
  after?(operation: SqliteOperation): void
}

/** What opens files as `open` does. Operations of all connections are counted together. */
export function watchSqlite(open: OpenSqlite, watcher: SqliteWatcher): OpenSqlite {
  let count = 0
  const watched = <T>(sql: string, act: () => T): T => {
    count += 1
    const operation = { number: count, sql }
    watcher.before?.(operation)
    const result = act()
    watcher.after?.(operation)
    return result
  }
  return (path) => {
    const connection = open(path)
    return {
      get inTransaction() {
        return connection.inTransaction
      },
      exec: (sql) => watched(sql, () => connection.exec(sql)),
      prepare(sql): SqliteStatement {
        const statement = connection.prepare(sql)
        return {
          run: (...values) => watched(sql, () => statement.run(...values)),
          get: (...values) => watched(sql, () => statement.get(...values)),
          all: (...values) => watched(sql, () => statement.all(...values)),
        }
      },
      close: () => connection.close(),
    }
  }
}
