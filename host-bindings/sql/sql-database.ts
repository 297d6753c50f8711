/**
 * What the SQL bindings need of a database: structurally, so that the embedder's own object fits (PGlite does as it
 * is), and no database is a dependency of this library.
 */

/** A transaction. Statements go through the extended protocol: one statement each, parameters apart from the text. */
export interface SqlTransaction {
  /** Gives the rows (as arrays, where asked), the names of their columns, and how many rows were changed. */
  query<Row>(
    text: string,
    params?: unknown[],
    options?: { rowMode: 'array' },
  ): Promise<{ rows: Row[]; fields: { name: string }[]; affectedRows?: number }>
  rollback(): Promise<void>
}

/** A PostgreSQL session, or a pool of them. What `work` rejects with rolls back and comes through. */
export interface SqlDatabase {
  transaction<Result>(work: (transaction: SqlTransaction) => Promise<Result>): Promise<Result>
}
