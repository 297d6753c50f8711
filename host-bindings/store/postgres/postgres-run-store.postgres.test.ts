import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, describe, expect, inject, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/digest.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { watchPostgres } from '../../../test/faults/watched-postgres.ts'
import { describeRunStore } from '../run-store.contract.ts'
import { HOUR_MS, headOf, put, text } from '../run-store.testkit.ts'
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

describe('the schema of a store', () => {
  it('is made by one of those who open it at once, and opened again', async () => {
    const schema = newSchema()
    const [first, second] = await Promise.all([1, 2, 3, 4].map(() => open({ connectionString, schema })))
    const lease = await first?.lease('r', HOUR_MS)
    if (lease === undefined) throw new Error('no lease')
    await first?.append('r', 0, [text('a')], lease)
    expect(await second?.entries('r', 0, 9)).toEqual([text('a')])
    expect(await (await open({ pool, schema })).runs()).toEqual(['r'])
  })

  it.each([
    [
      'a view in the place of a table',
      (s: string) =>
        `DROP TABLE ${s}.entries; CREATE VIEW ${s}.entries AS SELECT 1 AS run, 1 AS number, ''::bytea AS bytes`,
    ],
    [
      'a trigger',
      (s: string) =>
        `CREATE TRIGGER t BEFORE UPDATE ON ${s}.runs FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()`,
    ],
    ['a table less', (s: string) => `DROP TABLE ${s}.links`],
  ])('3: is refused with %s', async (_, sql) => {
    const schema = newSchema()
    await open({ pool, schema })
    await pool.query(sql(schema))
    await expect(openPostgresRunStore({ pool, schema })).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('is told as damaged where rows are such as no store writes', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema })
    const id = await put(store, text('x'))
    const lease = await store.lease('r', HOUR_MS)
    await store.setHead('r', headOf(1, id), lease)
    await pool.query(`INSERT INTO ${schema}.links SELECT 1, i, 1 FROM generate_series(1, 5000) AS i`)
    await expect(store.head('r')).rejects.toMatchObject({ code: 'corrupted' })
    await pool.query(`DELETE FROM ${schema}.links WHERE place > 0`)
    expect(await store.head('r')).toMatchObject({ chain: [id] })
    await pool.query(`UPDATE ${schema}.runs SET position = -1`)
    await expect(store.head('r')).rejects.toMatchObject({ code: 'corrupted' })
    for (const until of ['infinity', '2999-01-01']) {
      await pool.query(`UPDATE ${schema}.runs SET held_until = '${until}'`)
      await expect(store.lease('r', 1)).rejects.toMatchObject({ code: 'corrupted' })
    }
  })

  it('has nothing of another store, though runs and checkpoints have the same names', async () => {
    const one = await open({ pool, schema: newSchema() })
    const other = await open({ pool, schema: newSchema() })
    const id = await put(one, text('x'))
    const lease = await one.lease('r', HOUR_MS)
    await one.setHead('r', headOf(1, id), lease)
    expect(await other.getBlob(id)).toBeUndefined()
    expect(await other.head('r')).toBeUndefined()
    expect(await other.runs()).toEqual([])
    const theirs = await other.lease('r', HOUR_MS)
    await expect(other.setHead('r', headOf(1, id), theirs)).rejects.toMatchObject({
      code: 'invalid_argument',
    })
    await put(other, text('x'))
    expect(await other.collect({ graceMs: 0 })).toMatchObject({ removed: 1 })
    expect(await one.getBlob(id)).toEqual(text('x'))
  })

  it('3: has a plain name', async () => {
    for (const schema of ['', 'Runs', 'pg_runs', '1', 'a-b', 'a b', 'a"; DROP', 'ä', 'a'.repeat(64), 'a\0']) {
      await expect(openPostgresRunStore({ pool, schema })).rejects.toMatchObject({
        code: 'invalid_argument',
        details: { option: 'schema' },
      })
    }
  })

  it('is refused when it holds something else, which stays as it is, and in another version', async () => {
    const schema = newSchema()
    await pool.query(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.runs (mine text)`)
    await expect(openPostgresRunStore({ pool, schema })).rejects.toMatchObject({ code: 'invalid_argument' })
    const { rows } = await pool.query('SELECT relname FROM pg_class WHERE relnamespace = $1::regnamespace', [
      schema,
    ])
    expect(rows).toMatchObject([{ relname: 'runs' }, {}, {}].slice(0, rows.length))
    const newer = newSchema()
    await open({ pool, schema: newer })
    await pool.query(`UPDATE ${newer}.caisson_store SET format = 2`)
    await expect(openPostgresRunStore({ pool, schema: newer })).rejects.toMatchObject({ code: 'unsupported' })
  })

  it('is missed when it is dropped, and not made anew', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema })
    const lease = await store.lease('r', HOUR_MS)
    await pool.query(`DROP SCHEMA ${schema} CASCADE`)
    const vanished = { code: 'store_failed', details: { vanished: true } }
    for (const attempt of [
      () => store.head('r'),
      () => store.runs(),
      () => store.getBlob(sha256(text('x'))),
      () => store.append('r', 0, [text('a')], lease),
      () => put(store, text('x')),
      () => store.lease('q', HOUR_MS),
    ]) {
      await expect(attempt()).rejects.toMatchObject(vanished)
    }
  })
})

describe('a store in Postgres', () => {
  it('refuses impossible options', async () => {
    const wrong: unknown[] = [
      {},
      { connectionString, pool },
      { connectionString: 'mysql://x' },
      { pool: {} },
      { pool, timeoutMs: 0 },
      { pool, size: 1 },
    ]
    for (const options of wrong) {
      await expect(openPostgresRunStore(options as never)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
  })

  it('says how to get pg where it is missing', async () => {
    vi.doMock('pg', () => {
      throw new Error('it is not there')
    })
    try {
      await expect(openPostgresRunStore({ connectionString })).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('npm install pg'),
      })
    } finally {
      vi.doUnmock('pg')
    }
  })

  it('never shows the password, whatever is wrong', async () => {
    const { port } = new URL(connectionString)
    const secret = 's3cr3t'
    for (const wrong of [
      `postgres://caisson:${secret}@127.0.0.1:${port}/postgres`,
      `postgres://caisson:${secret}@127.0.0.1:1/postgres`,
      `postgres://caisson:${secret}@[/postgres`,
      `postgres//caisson:${secret}@127.0.0.1/postgres`,
    ]) {
      const error: unknown = await openPostgresRunStore({ connectionString: wrong }).catch((e: unknown) => e)
      expect(error).toHaveProperty('code', expect.stringMatching(/^(store_failed|invalid_argument)$/))
      expect(inspect(error, { depth: 9, showHidden: true })).not.toContain(secret)
    }
  })

  it('keeps checkpoints in parts, and misses one that is gone', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema })
    const large = new Uint8Array(4_200_000).fill(7)
    large.set([1, 2, 3], 4_194_303)
    const id = await put(store, large)
    expect(sha256((await store.getBlob(id)) ?? text(''))).toBe(id)
    await pool.query(`DELETE FROM ${schema}.contents WHERE part = 1`)
    await expect(store.getBlob(id)).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('4: has its checkpoints protected by the database itself', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema })
    const lease = await store.lease('r', HOUR_MS)
    await store.setHead('r', headOf(1, await put(store, text('x'))), lease)
    await expect(pool.query(`DELETE FROM ${schema}.checkpoints`)).rejects.toMatchObject({ code: '23503' })
  })

  it('1: is durable where the server would not be by itself, and ends what takes too long', async () => {
    const careless = new pg.Pool({
      connectionString,
      options:
        '-c synchronous_commit=off -c bytea_output=escape -c default_transaction_isolation=serializable',
    })
    const settings = new Set<string>()
    const watched = watchPostgres(careless, {
      before: async ({ sql, client }) => {
        if (sql !== 'COMMIT') return
        const types = { getTypeParser: () => (value: string) => value }
        const shown = await client.query({
          text: `SELECT current_setting('synchronous_commit') || ' ' || current_setting('transaction_isolation')
            || ' ' || current_setting('statement_timeout') AS all`,
          types,
        })
        settings.add(String(shown.rows[0]?.all))
      },
    })
    const store = await open({ pool: watched, schema: newSchema(), timeoutMs: 5_000 })
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('\\x00')], lease)
    expect(await store.entries('r', 0, 9)).toEqual([text('\\x00')])
    expect([...settings]).toEqual(['on read committed 5s'])
    await store.close()
    await careless.query('SELECT 1') // the host's own pool stays open
    await careless.end()
  })

  it('3: takes another connection where one had died before it was used', async () => {
    let stale = 0
    const store = await open({
      pool: watchPostgres(pool, {
        before: async ({ sql }) => {
          if (stale === 0 || sql === 'ROLLBACK') return
          stale -= 1
          throw Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
        },
      }),
      schema: newSchema(),
    })
    const lease = await store.lease('r', HOUR_MS)
    stale = 1
    await store.append('r', 0, [text('a')], lease)
    stale = 1
    expect(await store.entries('r', 0, 9)).toEqual([text('a')])
    for (const attempt of [() => store.append('r', 1, [text('b')], lease), () => store.head('r')]) {
      stale = 2
      await expect(attempt()).rejects.toMatchObject({ code: 'store_failed', details: { errno: 'EPIPE' } })
    }
  })

  it('1: waits for whoever is changing the run, before it looks at it', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema })
    const lease = await store.lease('r', HOUR_MS)
    const other = await pool.connect()
    await other.query('BEGIN')
    await other.query(`SELECT FROM "${schema}".runs WHERE name = 'r' FOR NO KEY UPDATE`)
    let done = false
    const appending = store.append('r', 0, [text('a')], lease).then(() => {
      done = true
    })
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(done).toBe(false)
    await other.query('COMMIT')
    other.release()
    await appending
    expect(await store.entries('r', 0, 9)).toEqual([text('a')])
  })

  it('2: does not wait for ever for somebody who holds a lock', async () => {
    const schema = newSchema()
    const store = await open({ pool, schema, timeoutMs: 1_000 })
    const lease = await store.lease('r', HOUR_MS)
    const other = await pool.connect()
    await other.query(`BEGIN; SELECT FROM ${schema}.runs FOR UPDATE`)
    const late = { code: 'store_failed', details: { sqlstate: expect.stringMatching(/55P03|57014/) } }
    await expect(store.append('r', 0, [text('a')], lease)).rejects.toMatchObject(late)
    await other.query('ROLLBACK')
    other.release()
    await store.append('r', 0, [text('a')], lease)
  })

  it('2: does not wait for ever for a server that falls silent', async () => {
    const sockets = new Set<Socket>()
    const { port } = new URL(connectionString)
    let silent = false
    const proxy = createServer((inner) => {
      const outer = connect(Number(port), '127.0.0.1')
      for (const [from, to] of [
        [inner, outer],
        [outer, inner],
      ] as const) {
        sockets.add(from)
        from.on('data', (bytes) => {
          if (!silent) to.write(bytes)
        })
        from.on('error', () => {})
        from.on('close', () => to.destroy())
      }
    })
    proxy.listen(0, '127.0.0.1')
    await once(proxy, 'listening')
    const through = new URL(connectionString)
    through.port = String((proxy.address() as { port: number }).port)
    const store = await open({ connectionString: through.href, schema: newSchema(), timeoutMs: 1_500 })
    const lease = await store.lease('r', HOUR_MS)
    silent = true
    const attempts = [store.append('r', 0, [text('a')], lease), store.head('r'), store.runs()]
    for (const { status, ...rest } of await Promise.allSettled(attempts)) {
      expect({ status, ...rest }).toMatchObject({ status: 'rejected', reason: { code: 'store_failed' } })
    }
    silent = false
    await store.append('r', 0, [text('a')], lease)
    await store.close()
    for (const socket of sockets) socket.destroy()
    proxy.close()
  })
})
