import { PGlite } from '@electric-sql/pglite'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CaissonError } from '../../src/base/errors.ts'
import type { Capability } from '../../src/capability/capability.ts'
import { invokeBinding } from '../invoke-binding.testkit.ts'
import { createSqlCapabilities } from './sql-capabilities.ts'
import type { SqlDatabase } from './sql-database.ts'
import { sqlError } from './sql-error.ts'
import { RowCollector } from './sql-rows.ts'

interface Answer {
  readonly columns: readonly string[]
  readonly rows: readonly Record<string, unknown>[]
  readonly affected?: number
}

const FILL = "insert into product select i, 'p' || i, i * 1.5 from generate_series(1, 450) i;"

describe('sql over PGlite', () => {
  let pglite: PGlite
  let database: SqlDatabase
  let capabilities: readonly Capability[]

  beforeAll(async () => {
    pglite = await PGlite.create()
    database = pglite
    capabilities = createSqlCapabilities({ database, write: 'rows', maxRows: 500, maxBytes: 200_000 })
    await pglite.exec(`
      create table product (id int primary key, name text not null, price numeric);
      ${FILL}`)
  }, 120_000)
  afterAll(() => pglite.close())

  const query = async (text: string, params?: readonly unknown[]): Promise<Answer> =>
    (await invokeBinding(capabilities, 'sql.query', { text, params })) as Answer
  const execute = async (text: string, params?: readonly unknown[]): Promise<Answer> =>
    (await invokeBinding(capabilities, 'sql.execute', { text, params })) as Answer
  const count = async (): Promise<unknown> => (await query('select count(*) as n from product')).rows[0]?.n

  it('reads rows as objects, over several batches, with parameters', async () => {
    const all = await query('select * from product order by id')
    expect(all.columns).toEqual(['id', 'name', 'price'])
    expect(all.rows).toHaveLength(450)
    expect(all.rows[449]).toEqual({ id: 450, name: 'p450', price: '675.0' })
    expect((await query('select name from product where id = $1', [7])).rows).toEqual([{ name: 'p7' }])
    expect((await query('select name from product where name = $1;', ["x' or '1'='1"])).rows).toEqual([])
    expect((await query('values (1), (2)')).rows).toHaveLength(2)
    expect((await query('with a as (select 1 as x) select x from a')).rows).toEqual([{ x: 1 }])
    expect((await query('table product limit 1')).rows).toHaveLength(1)
    expect(await query('select id from product where false')).toEqual({ columns: ['id'], rows: [] })
  })

  it('carries the types of PostgreSQL as the values that programs know', async () => {
    const { rows } = await query(
      `select 9007199254740993::int8 as big, '\\x00ff'::bytea as bytes, timestamptz '2026-01-01T00:00Z' as at,
        '{"a":[1]}'::jsonb as json, '{1,2}'::int[] as list, null as nothing, true as yes, 'NaN'::float8 as nan`,
    )
    expect(rows[0]).toEqual({
      big: 9007199254740993n,
      bytes: Uint8Array.of(0, 255),
      at: new Date('2026-01-01T00:00Z'),
      json: { a: [1] },
      list: [1, 2],
      nothing: null,
      yes: true,
      nan: Number.NaN,
    })
  })

  it('tells columns of equal names apart, and takes any name as data', async () => {
    const { columns, rows } = await query('select 1 as id, 2 as id, 3 as id_2, 4 as "__proto__"')
    expect(columns).toEqual(['id', 'id_3', 'id_2', '__proto__'])
    expect(Object.entries(rows[0] ?? {})).toEqual([
      ['id', 1],
      ['id_3', 2],
      ['id_2', 3],
      ['__proto__', 4],
    ])
  })

  it.each([
    ['selec 1', '42601', 1],
    ['select nope from product', '42703', 8],
    ['select * from nowhere', '42P01', 15],
    ['select 1/0', '22012', undefined],
    ["select 'x'::int", '22P02', 8],
    ['select 1; select 2', '42601', undefined],
    ['select $1::int', '08P01', undefined],
  ])('says what is wrong with %j, and where', async (text, sqlstate, position) => {
    const details = { sqlstate, ...(position !== undefined && { position }) }
    await expect(query(text)).rejects.toMatchObject({ code: 'query_failed', details })
  })

  it.each([
    'insert into product values (1000, $$x$$)',
    'update product set name = $$x$$',
    'delete from product',
    'drop table product',
    'truncate product',
    'create table t (x int)',
    'select 1; delete from product',
    'with gone as (delete from product returning *) select * from gone',
    'select * into t from product',
    'select * from product for update',
    'commit',
    'rollback',
    'begin',
    'set search_path to nowhere',
    'set transaction read write',
    'do $$ begin delete from product; end $$',
    "copy (select 1) to '/tmp/x'",
    "copy product from '/tmp/x'",
    'call f()',
    'explain analyze delete from product',
    'listen x',
    'vacuum',
    'select 1) ; delete from product; --',
    '/* /* */ select 1 */ delete from product',
    "select set_config('transaction_read_only', 'off', true)",
    "select set_config('transaction_read_only', 'off', false)",
    'select lo_create(77)',
    'select 1\0; delete from product',
  ])('sql.query refuses %j, and nothing has changed', async (text) => {
    await expect(query(text)).rejects.toMatchObject({ name: 'CaissonError' })
    expect(await count()).toBe(450)
  })

  it('lets no setting outlive the query that changed it', async () => {
    await query(
      "select set_config('search_path', 'nowhere', false), set_config('statement_timeout', '1', false)",
    )
    expect(await count()).toBe(450)
    const { rows } = await query("select current_setting('search_path') as path")
    expect(rows[0]?.path).toContain('public')
  })

  it('refuses more rows and more bytes than it may return', async () => {
    const tooLarge = { code: 'result_too_large' }
    await expect(query('select * from generate_series(1, 501)')).rejects.toMatchObject(tooLarge)
    await expect(query("select repeat('x', 300000)")).rejects.toMatchObject(tooLarge)
    await expect(query("select repeat('x', 2000) from generate_series(1, 100)")).rejects.toMatchObject(
      tooLarge,
    )
    expect((await query('select * from generate_series(1, 500)')).rows).toHaveLength(500)
  })

  it.each([
    'commit',
    'drop table product',
    'truncate product',
    'set search_path to nowhere',
    'do $$ begin delete from product; end $$',
    'select 1',
    "copy product to '/tmp/x'",
    '/* insert */ drop table product',
    '-- insert\ndrop table product',
    'insertx',
    'insert into product values (1000, $$x$$); drop table product',
    'delete from product\0',
    '',
  ])('sql.execute refuses %j, and nothing has changed', async (text) => {
    await expect((async () => execute(text))()).rejects.toMatchObject({ name: 'CaissonError' })
    expect(await count()).toBe(450)
  })

  it('changes the schema only where that was granted', async () => {
    const granted = createSqlCapabilities({ database, write: 'schema' })
    await invokeBinding(granted, 'sql.execute', { text: 'create table extra (x int)' })
    await invokeBinding(granted, 'sql.execute', { text: 'drop table extra' })
    await expect(execute('create table extra (x int)')).rejects.toMatchObject({ code: 'denied' })
  })

  it('names the constraint that was violated, and not the row', async () => {
    const error = await execute("insert into product values (1, 'SECRET')").catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ code: 'query_failed', details: { sqlstate: '23505' } })
    expect((error as Error).message).toContain('product_pkey')
    expect(JSON.stringify(error)).not.toContain('SECRET')
  })

  it('starts nothing for a call that was aborted', async () => {
    const signal = AbortSignal.abort()
    const aborted = invokeBinding(capabilities, 'sql.execute', { text: 'delete from product' }, { signal })
    await expect(aborted).rejects.toMatchObject({ code: 'aborted' })
    expect(await count()).toBe(450)
  })

  describe('writing', () => {
    beforeEach(async () => {
      await pglite.exec(`delete from product; ${FILL}`)
    })
    afterAll(async () => {
      await pglite.exec(`delete from product; ${FILL}`)
    })

    it('changes rows with sql.execute, and gives back what was asked for', async () => {
      expect((await execute('update product set name = $2 where id <= $1', [3, 'new'])).affected).toBe(3)
      const returned = await execute('delete from product where id = 1 returning id, name')
      expect(returned).toMatchObject({ affected: 1, rows: [{ id: 1, name: 'new' }] })
      expect(await count()).toBe(449)
    })

    it('rolls back a change whose answer would be too large', async () => {
      await execute("insert into product select i, repeat('x', 2000) from generate_series(1001, 1400) i")
      await expect(execute('delete from product returning *')).rejects.toMatchObject({
        code: 'result_too_large',
      })
      expect(await count()).toBe(850)
    })
  })

  it('offers no writing unless asked, and refuses impossible limits', () => {
    expect(createSqlCapabilities({ database }).map(({ name, effect }) => `${name} ${effect}`)).toEqual([
      'sql.query read',
    ])
    for (const wrong of [{ timeoutMs: 0 }, { maxRows: Number.POSITIVE_INFINITY }, { maxBytes: -1 }]) {
      expect(() => createSqlCapabilities({ database, ...wrong })).toThrow(
        expect.objectContaining({ code: 'invalid_argument' }),
      )
    }
  })
})

describe('errors of a database', () => {
  const databaseError = (code: string, more: object = {}): Error =>
    Object.assign(new Error('said'), { code, ...more })

  it('a canceled statement is a timeout, which a retry policy may act on', () => {
    expect(sqlError(databaseError('57014'), 0)).toMatchObject({ code: 'timeout' })
  })

  it('what is about the server stays with the host', () => {
    for (const code of ['XX000', '53300', '58P01', '57P01', 'ECONNREFUSED']) {
      const error = databaseError(code)
      expect(sqlError(error, 0)).toBe(error)
    }
    const plain = new Error('secret path')
    expect(sqlError(plain, 0)).toBe(plain)
  })

  it('messages are bounded, and positions count from the text of the program', () => {
    const error = sqlError(databaseError('42601', { message: 'x'.repeat(10_000), position: '45' }), 42)
    expect(error).toMatchObject({ details: { position: 3 } })
    expect((error as CaissonError).message.length).toBeLessThan(600)
  })

  it('reaches the program as a timeout where the database itself timed out', async () => {
    const database: SqlDatabase = {
      transaction: () => Promise.reject(databaseError('57014')),
    }
    const capabilities = createSqlCapabilities({ database, retry: { attempts: 2 } })
    const failed = invokeBinding(capabilities, 'sql.query', { text: 'select 1' })
    await expect(failed).rejects.toSatisfy((error) => CaissonError.is(error, 'timeout'))
    expect(capabilities[0]).toMatchObject({ retry: { attempts: 2 } })
  })
})

describe('collected rows', () => {
  it('stop at the first row too many, before the next batch is asked for', () => {
    const collector = new RowCollector({ maxRows: 1, maxBytes: 1_000 })
    collector.add([{ name: 'a' }], [[1]])
    expect(() => collector.add([{ name: 'a' }], [[2]])).toThrow('more than 1 rows')
    expect(collector.result()).toEqual({ columns: ['a'], rows: [{ a: 1 }] })
  })
})
