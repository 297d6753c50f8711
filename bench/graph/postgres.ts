/** One Postgres server for all subjects that need one, with the settings that it comes with; gone with this process. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../../scripts/postgres-server.ts'

let started: Promise<string> | undefined
let databases = 0

/** The address of a server. */
async function serverUrl(): Promise<string> {
  started ??= startPostgres({ synced: true }).then(({ url }) => url)
  return started
}

async function ask(sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: await serverUrl() })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

/** The address of an empty database. */
export async function createDatabase(): Promise<string> {
  databases += 1
  const name = `bench_${databases}`
  await ask(`CREATE DATABASE ${name}`)
  const url = new URL(await serverUrl())
  url.pathname = `/${name}`
  return url.href
}

/** A connection tells what it did when it ends, and a moment after that. */
const TOLD_MS = 2_000

/** Syncs of the log of the server so far, by all whose connections have ended. */
export async function logSyncs(): Promise<number> {
  await setTimeout(TOLD_MS)
  const [row] = await ask("SELECT sum(fsyncs)::int AS syncs FROM pg_stat_io WHERE object = 'wal'")
  return (row as { readonly syncs: number }).syncs
}
