/**
 * What a store needs of `pg`: connections of a pool. Nothing of it is imported, so that neither types nor code of it
 * burden who does not use it.
 */

/** A pool of `pg`. */
export interface PostgresPool {
  connect(): Promise<PostgresClient>
}

/** One connection of a pool, to be given back. */
export interface PostgresClient {
  query(config: PostgresQuery): Promise<PostgresResult>
  /** @param destroy that it cannot be used any more */
  release(destroy?: boolean): void
  on(event: 'error', listener: (error: Error) => void): unknown
  removeListener(event: 'error', listener: (error: Error) => void): unknown
}

/** A statement, with its values apart from it. */
export interface PostgresQuery {
  readonly text: string
  readonly values?: readonly unknown[]
  readonly types: { getTypeParser(): (value: string) => string }
}

/** What a statement came to; every value as the text that the server sent. */
export interface PostgresResult {
  readonly rows: readonly PostgresRow[]
  readonly rowCount: number | null
  /** The first word of the statement, as the server carried it out. */
  readonly command: string
}

export type PostgresRow = Readonly<Record<string, string | null>>
