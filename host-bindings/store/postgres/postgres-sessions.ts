/**
 * Transactions on a pool of connections, each of which may be lost at any moment.
 *
 * 1. What was committed is on the disk of the server, also where its settings would let it be lost.
 * 2. Nobody waits for ever: the server ends what takes too long, and where it does not even say that, the connection
 *    is given up.
 * 3. A transaction that may have been committed is not tried again. One that the server has undone for another's sake
 *    is, and so is what had not begun, or only reads, on a connection that had died meanwhile.
 * 4. Values travel apart from the statements, and come back as text, whatever a program has told `pg` to make of them.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import { isConnectionLost, wasUndone } from './postgres-error.ts'
import type { PostgresClient, PostgresPool, PostgresResult } from './postgres-pool.ts'

/** Runs one statement. */
export type Query = (text: string, values?: readonly unknown[]) => Promise<PostgresResult>

/** How often a transaction is tried that others get in the way of. */
const MOST_ATTEMPTS = 10
/** How much longer than the server this side waits, at most. */
const MOST_MARGIN_MS = 2_000

const AS_TEXT = { getTypeParser: () => (value: string) => value }
const ignore = (): void => {}

export class PostgresSessions {
  readonly #pool: PostgresPool
  /** Of this side. */
  readonly #limitMs: number
  readonly #begin: string

  /** @param timeoutMs whole; for each statement, and for a connection */
  constructor(pool: PostgresPool, timeoutMs: number) {
    this.#pool = pool
    this.#limitMs = timeoutMs + Math.min(timeoutMs, MOST_MARGIN_MS)
    this.#begin = `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;
      SET LOCAL statement_timeout = ${timeoutMs};
      SET LOCAL lock_timeout = ${timeoutMs};
      SET LOCAL idle_in_transaction_session_timeout = ${this.#limitMs};
      SELECT set_config('synchronous_commit', 'on', true) WHERE current_setting('synchronous_commit') = 'off'`
  }

  /** One statement that changes nothing. */
  async look(text: string, values: readonly unknown[] = []): Promise<PostgresResult> {
    const progress: Progress = { connected: false, begun: false }
    const attempt = (): Promise<PostgresResult> => this.#withClient(progress, (query) => query(text, values))
    try {
      return await attempt()
    } catch (error) {
      if (!isStale(progress, error)) throw error
      return attempt()
    }
  }

  /**
   * Acts in a transaction, which is committed when this resolves. When it rejects with a `CaissonError` of `act` it was
   * undone; with another error it may have been committed.
   * @param act may be called again after everything was undone
   */
  async transact<T>(act: (query: Query) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const progress: Progress = { connected: false, begun: false }
      try {
        return await this.#withClient(progress, (query) => this.#transact(query, act, progress))
      } catch (error) {
        const again = attempt === 1 && isStale(progress, error)
        if (!again && (!wasUndone(error) || attempt === MOST_ATTEMPTS)) throw error // invariant 3
      }
    }
  }

  async #transact<T>(query: Query, act: (query: Query) => Promise<T>, progress: Progress): Promise<T> {
    await query(this.#begin)
    progress.begun = true
    let result: T
    try {
      result = await act(query)
    } catch (error) {
      // Where that fails, the connection is given up, and the server undoes it then.
      if (!isConnectionLost(error)) await query('ROLLBACK').catch(ignore)
      throw error
    }
    const { command } = await query('COMMIT')
    if (command !== 'COMMIT') throw new Error(`The server answered ${command} to COMMIT.`)
    return result
  }

  async #withClient<T>(progress: Progress, act: (query: Query) => Promise<T>): Promise<T> {
    const client = await this.#connect()
    progress.connected = true
    // A connection that dies while no statement is under way says so here, and must not end the process.
    client.on('error', ignore)
    let lost = false
    try {
      return await act(async (text, values) => {
        try {
          const query = { text, ...(values && { values }), types: AS_TEXT }
          return await this.#inTime(client.query(query))
        } catch (error) {
          lost ||= isConnectionLost(error)
          throw error
        }
      })
    } finally {
      if (!lost) client.removeListener('error', ignore)
      client.release(lost)
    }
  }

  async #connect(): Promise<PostgresClient> {
    const connecting = this.#pool.connect()
    try {
      return await this.#inTime(connecting)
    } catch (error) {
      // One that comes too late goes back.
      connecting.then((client) => client.release(), ignore)
      throw error
    }
  }

  /** Invariant 2. */
  async #inTime<T>(answer: Promise<T>): Promise<T> {
    let timer: ReturnType<typeof setTimeout> | undefined
    const silence = new Promise<never>((_, reject) => {
      const limitMs = this.#limitMs
      timer = setTimeout(() => reject(new Silence(`No answer for ${limitMs} ms.`)), limitMs)
    })
    try {
      return await Promise.race([answer, silence])
    } finally {
      clearTimeout(timer)
      answer.catch(ignore)
    }
  }
}

/** How far an attempt came. */
interface Progress {
  connected: boolean
  begun: boolean
}

/** A server that does not even say that it takes too long. */
class Silence extends Error {}

/** Whether a connection had died before it was used: nothing can have happened on it. */
function isStale({ connected, begun }: Progress, error: unknown): boolean {
  return connected && !begun && isConnectionLost(error) && !(error instanceof Silence)
}

/** A column of the first row, as text. */
export function textOf({ rows }: PostgresResult, column: string): string {
  const value = rows[0]?.[column]
  if (typeof value !== 'string') {
    throw new CaissonError('corrupted', `The store is damaged: the column ${column} is empty.`)
  }
  return value
}

/** A whole number in a column of the first row. */
export function numberOf(result: PostgresResult, column: string): number {
  return Number(textOf(result, column))
}
