/** Files that somebody made or changed by other means than a store. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/digest.ts'
import { listRuns } from '../../../src/runtime/describe-run.ts'
import { nodeCheckpointPorts } from '../../system/checkpoint-ports.node.ts'
import { openSqliteRunStore } from './sqlite-run-store.node.ts'

const HOUR_MS = 3_600_000
const scratch = mkdtempSync(join(tmpdir(), 'caisson-foreign-'))
let path: string
let files = 0

/** A store with one run, `r`, that has a head, a checkpoint and an entry. */
beforeEach(async () => {
  files += 1
  path = join(scratch, `${files}.db`)
  const store = await openSqliteRunStore(path)
  const bytes = new Uint8Array([1])
  const id = sha256(bytes)
  await store.putBlob(id, bytes)
  const lease = await store.lease('r', HOUR_MS)
  await store.append('r', 0, [bytes], lease)
  await store.setHead('r', { version: 1, chain: [id], position: 1, summary: bytes }, lease)
  await store.close()
})

afterAll(() => rmSync(scratch, { recursive: true, force: true }))

function edit(sql: string): void {
  const database = new Database(path)
  database.pragma('foreign_keys = OFF')
  database.exec(sql)
  database.close()
}

describe('a file with the marks of a store', () => {
  it.each([
    [
      'a view without an end in the place of a table',
      `DROP TABLE entries;
       CREATE VIEW entries AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
         SELECT 1 AS run, i AS number, x'00' AS bytes FROM n WHERE i < 0`,
    ],
    ['a trigger', 'CREATE TRIGGER t AFTER UPDATE ON runs BEGIN DELETE FROM entries; END'],
    ['another table', 'CREATE TABLE mine (x)'],
    ['a table less', 'DROP TABLE links'],
    ['another column', 'ALTER TABLE runs ADD COLUMN mine TEXT'],
  ])('3: is refused with %s', async (_, sql) => {
    edit(sql)
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({ code: 'corrupted' })
  })

  it('3: is taken with what ANALYZE wrote', async () => {
    edit('ANALYZE')
    const store = await openSqliteRunStore(path)
    expect(await store.runs()).toEqual(['r'])
    await store.close()
  })

  it.each([
    ['a digest', "UPDATE checkpoints SET digest = 'sha256:../x'"],
    ['a position before the first', 'UPDATE runs SET position = -1'],
    ['a position that is no number of JavaScript', 'UPDATE runs SET position = 9007199254740993'],
    [
      'a chain that is longer than any',
      `INSERT INTO links WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)
         SELECT 1, i, 1 FROM n`,
    ],
  ])('is told as damage where its head has %s, and keeps no other run from being listed', async (_, sql) => {
    edit(sql)
    const store = await openSqliteRunStore(path)
    await expect(store.head('r')).rejects.toMatchObject({ code: 'corrupted' })
    const other = await store.lease('other', HOUR_MS)
    await store.append('other', 0, [new Uint8Array([1])], other)
    const listed = await listRuns(store, { ports: nodeCheckpointPorts }, 'local')
    expect(listed.map(({ run }) => run)).toEqual(['other', 'r'])
    await store.close()
  })

  it('keeps no run from being listed by the name of another one', async () => {
    edit(`INSERT INTO runs SELECT 2, char(27) || '[31m', 0, NULL, '', '', 1, 1, 0, 1, 0, x''`)
    const store = await openSqliteRunStore(path)
    const listed = await listRuns(store, { ports: nodeCheckpointPorts }, 'local')
    expect(listed.map(({ run }) => run)).toEqual(['\x1b[31m', 'r'])
    await store.close()
  })

  it('has no lease that is longer than the longest', async () => {
    edit("UPDATE runs SET lease = 'x', machine = 'elsewhere', ttl_ms = 1e308")
    const store = await openSqliteRunStore(path)
    await expect(store.lease('r', 1)).rejects.toMatchObject({ code: 'corrupted' })
    await store.close()
  })
})

describe('the place of a store', () => {
  it.skipIf(process.platform === 'win32')('1: is not opened where it is a pipe, which waits', async () => {
    for (const [file, pipe] of [
      [`${path}.pipe`, `${path}.pipe`],
      [path, `${path}-journal`],
    ] as const) {
      execFileSync('mkfifo', [pipe])
      for (const mustExist of [true, false]) {
        await expect(openSqliteRunStore(file, { mustExist })).rejects.toMatchObject({
          code: 'invalid_argument',
        })
      }
    }
  })

  it('stays empty where better-sqlite3 has no native part', async () => {
    vi.doMock('better-sqlite3', () => ({
      default: class {
        constructor() {
          throw new Error('Could not locate the bindings file.')
        }
      },
    }))
    try {
      const place = join(scratch, 'none')
      await expect(openSqliteRunStore(join(place, 'runs.db'))).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('npm install better-sqlite3'),
      })
      expect(existsSync(place)).toBe(false)
    } finally {
      vi.doUnmock('better-sqlite3')
    }
  })
})
