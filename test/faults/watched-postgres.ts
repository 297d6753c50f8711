/** A pool of Postgres with somebody who looks at every statement, and may end its connection or let it fail. */
import type { PostgresClient, PostgresPool } from '../../host-bindings/store/postgres/postgres-pool.ts'

/** One statement of a store, and the connection that it is on. */
export interface PostgresOperation {
  /** Counted from 1. */
  readonly number: number
  readonly sql: string
  readonly client: PostgresClient
}

export interface PostgresWatcher {
  before?(operation: PostgresOperation): Promise<void>
  after?(operation: PostgresOperation): Promise<void>
}

/** As `pool`. Statements of all connections are counted together. */
export function watchPostgres(pool: PostgresPool, watcher: PostgresWatcher): PostgresPool {
  let count = 0
  return {
    async connect() {
      const client = await pool.connect()
      return {
        async query(config) {
          count += 1
          const operation = { number: count, sql: config.text, client }
          await watcher.before?.(operation)
          const result = await client.query(config)
          await watcher.after?.(operation)
          return result
        },
        release: (destroy) => client.release(destroy),
        on: (event, listener) => client.on(event, listener),
        removeListener: (event, listener) => client.removeListener(event, listener),
      }
    },
  }
}
