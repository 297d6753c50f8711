import pg from 'pg'
import { afterAll, inject } from 'vitest'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { describeRunStore } from '../run-store.contract.ts'
import { openPostgresRunStore, type PostgresRunStoreOptions } from './postgres-run-store.node.ts'

const connectionString = inject('postgresUrl')
const pool = new pg.Pool({ connectionString, max: 10 })
const opened: RunStore[] = []
let schemas = 0

afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()))
  await pool.end()
})

function newSchema(): string {
  schemas += 1
  return `store_${process.pid}_${schemas}`
}

async function open(options: PostgresRunStoreOptions): Promise<RunStore> {
  const store = await openPostgresRunStore(options)
  opened.push(store)
  return store
}

describeRunStore('Postgres', async () => {
  const schema = newSchema()
  return { store: await open({ pool, schema }), another: () => open({ pool, schema }) }
})
