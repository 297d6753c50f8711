/**
 * What a store needs of a connection to SQLite: the part of better-sqlite3 that is used here, and nothing of it is
 * imported, so that neither types nor code of it burden who does not use it.
 */

/** A value as SQLite takes and gives it. */
export type SqliteValue = string | number | Uint8Array | null

/** A row by the names of its columns. */
export type SqliteRow = Readonly<Record<string, SqliteValue>>

/** A statement that was prepared. */
export interface SqliteStatement {
  run(...values: SqliteValue[]): { readonly changes: number }
  get(...values: SqliteValue[]): SqliteRow | undefined
  all(...values: SqliteValue[]): readonly SqliteRow[]
}

/** One connection. All of it is synchronous. */
export interface SqliteConnection {
  /** Whether a transaction is open. */
  readonly inTransaction: boolean
  prepare(sql: string): SqliteStatement
  /** Runs statements that answer nothing. */
  exec(sql: string): void
  close(): void
}

/** The statements of one connection, each prepared once. */
export class SqliteStatements {
  readonly #connection: SqliteConnection
  readonly #prepared = new Map<string, SqliteStatement>()

  constructor(connection: SqliteConnection) {
    this.#connection = connection
  }

  /** Runs a statement to its end that answers nothing, whatever steps it takes. */
  exec(sql: string): void {
    this.#connection.exec(sql)
  }

  /** Runs a statement that changes something. @returns how many rows */
  run(sql: string, ...values: SqliteValue[]): number {
    return this.#statement(sql).run(...values).changes
  }

  /** The first row that a statement finds. */
  get(sql: string, ...values: SqliteValue[]): SqliteRow | undefined {
    return this.#statement(sql).get(...values)
  }

  /** All rows that a statement finds. */
  all(sql: string, ...values: SqliteValue[]): readonly SqliteRow[] {
    return this.#statement(sql).all(...values)
  }

  #statement(sql: string): SqliteStatement {
    const known = this.#prepared.get(sql)
    if (known !== undefined) return known
    const statement = this.#connection.prepare(sql)
    this.#prepared.set(sql, statement)
    return statement
  }
}
