/** One Postgres server for all subjects that need one, with the settings that it comes with; gone with this process. */
import { setTimeout } from 'node:timers/promises'
import pg from 'pg'
import { startPostgres } from '../../scripts/postgres-server.ts'

let started: Promise<string> | undefined
let databases = 0

/** The address of a server. */
async function serverUrl(): Promise<string> {
  started ??= startPostgres().then(({ url }) => url)
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

/** Until nobody else is connected: a connection tells what it did when it ends. */
async function untilAlone(): Promise<void> {
  const others = `SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()`
  for (let i = 0; i < 100 && (await ask(others)).length > 0; i += 1) await setTimeout(50)
}

/** Syncs of the log of the server so far, by all whose connections have ended. */
export async function logSyncs(): Promise<number> {
  await untilAlone()
  const [row] = await ask("SELECT sum(fsyncs)::int AS syncs FROM pg_stat_io WHERE object = 'wal'")
  return (row as { readonly syncs: number }).syncs
}
