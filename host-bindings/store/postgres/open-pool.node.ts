/**
 * Connections of the store's own, through `pg` where it is installed.
 *
 * 1. Nothing that is thrown or shown has the connection string in it: it may hold a password.
 * 2. A connection that dies while nobody uses it is left out, and ends nothing.
 */
import { CaissonError } from '../../../src/base/errors.ts'
import type { PostgresPool } from './postgres-pool.ts'

/** A pool that the store closes. */
export interface OwnPool extends PostgresPool {
  end(): Promise<void>
}

/**
 * @param timeoutMs for a connection
 * @throws CaissonError `invalid_argument` for what is no connection string, `unsupported` without pg
 */
export async function openPool(connectionString: string, timeoutMs: number): Promise<OwnPool> {
  checkConnectionString(connectionString)
  const { Pool } = await loadPg()
  try {
    const pool = new Pool({
      connectionString,
      connectionTimeoutMillis: timeoutMs,
      keepAlive: true,
      allowExitOnIdle: true,
      application_name: 'caisson',
    })
    pool.on('error', () => {}) // invariant 2
    return pool as unknown as OwnPool
  } catch {
    throw notAConnectionString() // without the cause: it quotes what it could not read
  }
}

async function loadPg(): Promise<typeof import('pg')> {
  try {
    return await import('pg')
  } catch (cause) {
    throw new CaissonError('unsupported', 'A store in Postgres needs pg beside caisson: npm install pg.', {
      cause,
    })
  }
}

/** Before `pg` sees it: what Node throws for a wrong one quotes it. */
function checkConnectionString(text: string): void {
  if (/^postgres(?:ql)?:\/\//.test(text) && URL.canParse(text)) return
  throw notAConnectionString()
}

function notAConnectionString(): CaissonError {
  return new CaissonError(
    'invalid_argument',
    'A connection string is postgres://USER@HOST:PORT/DATABASE; special characters of a password are percent-encoded.',
    { details: { option: 'connectionString' } },
  )
}
