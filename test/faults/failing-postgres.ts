/** Connections to Postgres that are lost at one of the statements: see `postgres-errors.postgres.test.ts`. */
import pg from 'pg'
import { openPostgresRunStore } from '../../host-bindings/store/postgres/postgres-run-store.node.ts'
import { problemsInStory } from './failing-story.ts'
import { type PostgresOperation, type PostgresWatcher, watchPostgres } from './watched-postgres.ts'

const AS_TEXT = { getTypeParser: () => (value: string) => value }
let schemas = 0

/** Ends the connections of stores in mid-transaction. */
export class FailingPostgres implements AsyncDisposable {
  readonly #pool: pg.Pool
  readonly #admin: pg.Pool

  constructor(connectionString: string) {
    this.#pool = new pg.Pool({ connectionString, max: 3 })
    this.#pool.on('error', () => {})
    this.#admin = new pg.Pool({ connectionString, max: 1 })
  }

  /** All statements of the story, after those that open the store. */
  async operations(): Promise<readonly PostgresOperation[]> {
    const operations: PostgresOperation[] = []
    await this.#tell({ before: async (operation) => void operations.push(operation) })
    return operations
  }

  /**
   * The server ends the session, so that the statement with this number fails, or after it, so that its answer is lost:
   * nobody can tell then whether it was carried out.
   * @returns what was wrong
   */
  async problems(number: number, when: 'before' | 'after'): Promise<readonly string[]> {
    const watcher: PostgresWatcher = {
      [when]: async (operation: PostgresOperation) => {
        if (operation.number !== number) return
        await this.#end(operation)
        if (when === 'after') throw new Error('Connection terminated unexpectedly')
      },
    }
    return (await this.#tell(watcher)).map((problem) => `statement ${number}, ${when}: ${problem}`)
  }

  async #end({ client }: PostgresOperation): Promise<void> {
    const { rows } = await client.query({ text: 'SELECT pg_backend_pid()::text AS pid', types: AS_TEXT })
    await this.#admin.query('SELECT pg_terminate_backend($1, 5000)', [Number(rows[0]?.pid)])
  }

  async #tell(watcher: PostgresWatcher): Promise<readonly string[]> {
    schemas += 1
    const schema = `failing_${process.pid}_${schemas}`
    const look = await openPostgresRunStore({ pool: this.#admin, schema })
    let watching = false
    const pool = watchPostgres(this.#pool, {
      before: async (operation) => (watching ? watcher.before?.(operation) : undefined),
      after: async (operation) => (watching ? watcher.after?.(operation) : undefined),
    })
    const store = await openPostgresRunStore({ pool, schema, timeoutMs: 10_000 })
    watching = true
    try {
      return await problemsInStory(store, look, ['store_failed'])
    } finally {
      watching = false
      await store.close()
      await look.close()
      await this.#admin.query(`DROP SCHEMA ${schema} CASCADE`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pool.end()
    await this.#admin.end()
  }
}
