import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRuntime, type Runtime } from '../../src/entry/node.ts'
import { query, readSqlite } from './sqlite.ts'

describe('SQLite as a guest', () => {
  let runtime: Runtime
  let sqlite: Uint8Array

  beforeAll(async () => {
    runtime = await openRuntime()
    sqlite = await readSqlite()
  })
  afterAll(() => runtime.close())

  it('is the library itself, built from its sources', async () => {
    const header = readFileSync('node_modules/better-sqlite3/deps/sqlite3/sqlite3.h', 'utf8')
    const version = /#define SQLITE_VERSION +"([^"]+)"/.exec(header)?.[1]
    const { rows } = await query(runtime, sqlite, 'SELECT sqlite_version()')
    expect(rows).toEqual([[version]])
  })

  it('keeps a database in a file, which the next run goes on with', async () => {
    const made = await query(
      runtime,
      sqlite,
      `CREATE TABLE stock(thing TEXT PRIMARY KEY, price REAL, note TEXT);
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)
       INSERT INTO stock SELECT printf('thing %04d', i), i / 4.0, NULL FROM n;
       UPDATE stock SET note = 'dear "very"' WHERE price > 499;`,
    )
    expect(new TextDecoder().decode(made.database.subarray(0, 15))).toBe('SQLite format 3')
    const { rows } = await query(
      runtime,
      sqlite,
      `SELECT count(*), sum(price) FROM stock; SELECT * FROM stock WHERE note NOT NULL ORDER BY thing LIMIT 1;
       PRAGMA integrity_check`,
      made.database,
    )
    expect(rows).toEqual([[2000, 500250], ['thing 1997', 499.25, 'dear "very"'], ['ok']])
  })

  it('gives the same bytes and takes the same fuel for the same SQL', async () => {
    const sql = "CREATE TABLE t(a); INSERT INTO t VALUES (random()), ('x'); SELECT a FROM t"
    const run = () =>
      runtime.runModule(sqlite, {
        args: ['/d/a.db'],
        stdin: sql,
        seed: 5,
        suspendable: false,
        directories: { '/d': { files: {}, writable: true } },
      })
    const [one, two] = [await run(), await run()]
    if (one.status !== 'completed' || two.status !== 'completed') throw new Error('It has not completed.')
    expect(two.value).toEqual(one.value)
    expect(two.usage.fuel).toBe(one.usage.fuel)
  })

  it('says what is wrong with SQL, and finds no file that it is not granted', async () => {
    await expect(query(runtime, sqlite, 'SELECT * FROM nowhere')).rejects.toThrow('no such table: nowhere')
    await expect(query(runtime, sqlite, "ATTACH '/etc/other.db' AS other; SELECT 1")).rejects.toThrow(
      'unable to open database',
    )
  })

  it('is ended by its limits in the middle of a query', async () => {
    const endless = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n'
    await expect(query(runtime, sqlite, endless)).rejects.toThrow('exhausted')
    const outcome = await runtime.runModule(sqlite, {
      args: ['/d/a.db'],
      stdin: "SELECT length(zeroblob(200000000) || 'x')",
      suspendable: false,
      limits: { memoryBytes: 8 * 1024 * 1024 },
      directories: { '/d': { files: {}, writable: true } },
    })
    expect(outcome).toMatchObject({ status: 'exhausted', limit: 'memory' })
  })

  it('reads a database that it may not write', async () => {
    const { database } = await query(runtime, sqlite, 'CREATE TABLE t AS SELECT 7 AS n')
    const options = { suspendable: false, directories: { '/d': { files: { 'a.db': database } } } }
    const read = await runtime.runModule(sqlite, {
      ...options,
      args: ['-readonly', '/d/a.db'],
      stdin: 'SELECT n FROM t',
    })
    expect(read.status === 'completed' && new TextDecoder().decode(read.value.stdout)).toBe('[7]\n')
    const write = await runtime.runModule(sqlite, {
      ...options,
      args: ['-readonly', '/d/a.db'],
      stdin: 'DELETE FROM t',
    })
    expect(write.status === 'completed' && new TextDecoder().decode(write.value.stderr)).toContain('readonly')
  })
})
