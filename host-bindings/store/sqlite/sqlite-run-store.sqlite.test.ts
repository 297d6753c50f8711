import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/digest.ts'
import type { RunStore } from '../../../src/ports/run-store.ts'
import { simulateMachine } from '../../../test/faults/simulated-machine.ts'
import { watchSqlite } from '../../../test/faults/watched-sqlite.ts'
import { describeRunStore } from '../run-store.contract.ts'
import { HOUR_MS, headOf, put, text } from '../run-store.testkit.ts'
import { loadSqlite, type OpenSqlite } from './open-database.node.ts'
import type { SqliteConnection } from './sqlite-connection.ts'
import {
  openSqliteRunStore,
  openSqliteRunStoreWith,
  type SqliteRunStoreOptions,
} from './sqlite-run-store.node.ts'

const scratch = mkdtempSync(join(tmpdir(), 'caisson-sqlite-'))
const opened: RunStore[] = []
let places = 0

afterAll(async () => {
  await Promise.all(opened.map((store) => store.close()))
  rmSync(scratch, { recursive: true, force: true })
})

function newPath(): string {
  places += 1
  return join(scratch, `${places}.db`)
}

async function open(path: string, options: SqliteRunStoreOptions = {}): Promise<RunStore> {
  const store = await openSqliteRunStore(path, options)
  opened.push(store)
  return store
}

describeRunStore('SQLite', async () => {
  const path = newPath()
  return { store: await open(path), another: () => open(path) }
})

describe('the file of a store', () => {
  it('is made where it is missing, for nobody else to read, and opened again', async () => {
    const path = join(scratch, 'deep/er/runs.db')
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('secret')], lease)
    for (const name of [path, `${path}-wal`, `${path}-shm`]) {
      if (process.platform !== 'win32') expect(statSync(name).mode & 0o77, name).toBe(0)
    }
    await store.close()
    expect(await (await open(path)).entries('r', 0, 9)).toEqual([text('secret')])
  })

  it('is refused when it is something else, which stays as it is', async () => {
    const thesis = newPath()
    writeFileSync(thesis, 'mine, and longer than sixteen bytes')
    const short = newPath()
    writeFileSync(short, 'mine')
    const foreign = newPath()
    const database = new Database(foreign)
    database.exec('CREATE TABLE mine (x); INSERT INTO mine VALUES (1)')
    database.close()
    const folder = newPath()
    mkdirSync(folder)
    for (const path of [thesis, short, foreign, folder]) {
      const before = path === folder ? '' : readFileSync(path)
      await expect(openSqliteRunStore(path), path).rejects.toMatchObject({ code: 'invalid_argument' })
      if (path !== folder) expect(readFileSync(path)).toEqual(before)
    }
    for (const wrong of ['', 'a\0b', undefined]) {
      await expect(openSqliteRunStore(wrong as string)).rejects.toMatchObject({ code: 'invalid_argument' })
    }
    for (const options of [{ busyTimeoutMs: -1 }, { maxBytes: 0.5 }, { size: 1 }]) {
      await expect(openSqliteRunStore(newPath(), options as never)).rejects.toMatchObject({
        code: 'invalid_argument',
      })
    }
  })

  it('is refused when it is a store of another version', async () => {
    const path = newPath()
    await (await open(path)).close()
    const database = new Database(path)
    database.pragma('user_version = 2')
    database.close()
    await expect(openSqliteRunStore(path)).rejects.toMatchObject({ code: 'unsupported' })
  })

  it.skipIf(process.platform === 'win32').each([
    ['it is removed', (path: string) => rmSync(path)],
    ['its log is removed', (path: string) => rmSync(`${path}-wal`)],
    ['it is moved', (path: string) => renameSync(path, `${path}-moved`)],
    [
      'another one stands in its place',
      (path: string) => {
        writeFileSync(`${path}-other`, readFileSync(path))
        renameSync(`${path}-other`, path)
      },
    ],
  ])('is missed when %s: nothing is acknowledged from nowhere', async (_, remove) => {
    const path = newPath()
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    const id = await put(store, text('x'))
    await store.append('r', 0, [text('a')], lease)
    remove(path)
    const vanished = { code: 'store_failed', details: { vanished: true } }
    for (const attempt of [
      () => store.head('r'),
      () => store.getBlob(id),
      () => store.runs(),
      () => store.entries('r', 0, 9),
      () => store.append('r', 1, [text('b')], lease),
      () => store.putBlob(id, text('x')),
      () => store.setHead('r', headOf(1), lease),
      () => store.lease('q', HOUR_MS),
      () => store.collect(),
    ]) {
      await expect(attempt()).rejects.toMatchObject(vanished)
    }
    await lease.release()
    await store.close()
  })

  it('is refused when it is damaged', async () => {
    const path = newPath()
    const store = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    for (let n = 0; n < 40; n++) await store.append('r', n, [new Uint8Array(3_000).fill(n)], lease)
    await store.close()
    const file = openSync(path, 'r+')
    const { size } = statSync(path)
    for (let page = 1; page * 4_096 < size; page++)
      writeSync(file, Buffer.alloc(200, 0xff), 0, 200, page * 4_096)
    closeSync(file)
    const damaged = { code: 'corrupted' }
    await expect(open(path).then((again) => again.entries('r', 0, 99))).rejects.toMatchObject(damaged)
  })
})

describe('a store in SQLite', () => {
  it('says how to get better-sqlite3 where it is missing', async () => {
    vi.doMock('better-sqlite3', () => {
      throw new Error('it is not there')
    })
    try {
      await expect(openSqliteRunStore(newPath())).rejects.toMatchObject({
        code: 'unsupported',
        message: expect.stringContaining('npm install better-sqlite3@12'),
      })
    } finally {
      vi.doUnmock('better-sqlite3')
    }
  })

  it('1: has SQLite sync at every commit, and keep what heads name', async () => {
    const driver = await loadSqlite()
    let connection: SqliteConnection | undefined
    const watched: OpenSqlite = (path) => {
      connection = driver(path)
      return connection
    }
    const store = await openSqliteRunStoreWith(watched, newPath(), {}, simulateMachine('here'))
    opened.push(store)
    const settingOf = (pragma: string): unknown =>
      Object.values(connection?.prepare(`PRAGMA ${pragma}`).get() ?? {})[0]
    expect(['journal_mode', 'synchronous', 'fullfsync', 'foreign_keys'].map(settingOf)).toEqual([
      'wal',
      2,
      1,
      1,
    ])
    const lease = await store.lease('r', HOUR_MS)
    await store.setHead('r', headOf(1, await put(store, text('x'))), lease)
    expect(() => connection?.exec('DELETE FROM checkpoints')).toThrow(/FOREIGN KEY/)
  })

  it('2: writes what many runs ask for at once in one transaction, and refuses each by itself', async () => {
    const commits: string[] = []
    const watched = watchSqlite(await loadSqlite(), {
      after: ({ sql }) => {
        if (sql === 'COMMIT') commits.push(sql)
      },
    })
    const store = await openSqliteRunStoreWith(watched, newPath(), {}, simulateMachine('here'))
    opened.push(store)
    const runs = Array.from({ length: 50 }, (_, n) => `run-${n}`)
    commits.length = 0
    const leases = await Promise.all(runs.map((run) => store.lease(run, HOUR_MS)))
    expect(commits).toHaveLength(1)
    const settled = await Promise.allSettled(
      runs.map((run, n) => {
        const lease = leases[n]
        if (lease === undefined) throw new Error('no lease')
        return store.append(run, n % 10 === 9 ? 1 : 0, [text(run)], lease)
      }),
    )
    expect(commits).toHaveLength(2)
    expect(settled.filter(({ status }) => status === 'rejected')).toHaveLength(5)
    expect(await store.runs()).toHaveLength(45)
  })

  it('says that it is full to what does not fit, loses nothing, and takes more when something goes', async () => {
    const store = await open(newPath(), { maxBytes: 400_000 })
    const lease = await store.lease('r', HOUR_MS)
    const large = new Uint8Array(300_000).fill(1)
    const id = await put(store, large)
    const another = new Uint8Array(300_000).fill(2)
    const [small, full] = await Promise.allSettled([
      store.append('r', 0, [text('fits')], lease),
      store.putBlob(sha256(another), another),
    ])
    expect(small).toMatchObject({ status: 'fulfilled' })
    expect(full).toMatchObject({ reason: { code: 'quota_exceeded', details: { sqlite: 'SQLITE_FULL' } } })
    expect(await store.entries('r', 0, 9)).toEqual([text('fits')])
    expect(await store.getBlob(sha256(another))).toBeUndefined()
    expect(sha256((await store.getBlob(id)) ?? text(''))).toBe(id)
    expect(await store.collect({ graceMs: 0 })).toEqual({ removed: 1, bytes: 300_000 })
    await put(store, another)
  })

  it('waits for other processes without holding up this one, and not for ever', async () => {
    const path = newPath()
    const store = await open(path, { busyTimeoutMs: 60 })
    const patient = await open(path)
    const lease = await store.lease('r', HOUR_MS)
    const other = new Database(path)
    other.exec('BEGIN IMMEDIATE')
    const locked = { code: 'store_failed', details: { locked: true } }
    let ticks = 0
    const timer = setInterval(() => {
      ticks += 1
    }, 5)
    await expect(store.append('r', 0, [text('a')], lease)).rejects.toMatchObject(locked)
    expect(ticks).toBeGreaterThan(0)
    clearInterval(timer)
    expect(await store.entries('r', 0, 9)).toEqual([]) // readers wait for nobody
    const waiting = patient.lease('q', HOUR_MS)
    other.exec('ROLLBACK')
    other.close()
    expect((await waiting).fencingToken).toBeGreaterThan(lease.fencingToken)
    await store.append('r', 0, [text('a')], lease)
  })

  it('4: takes a run from a dead process at once, and from a silent one after its time', async () => {
    const path = newPath()
    const alive = new Set(['1', '2'])
    const machine = { ...simulateMachine('boot', '1'), isAlive: (process: string) => alive.has(process) }
    const neighbour = { ...machine, process: '2' }
    const driver = await loadSqlite()
    const store = await openSqliteRunStoreWith(driver, path, {}, machine)
    const other = await openSqliteRunStoreWith(driver, path, {}, neighbour)
    const foreign = simulateMachine('another container', '1')
    const outside = await openSqliteRunStoreWith(driver, path, {}, foreign)
    opened.push(store, other, outside)
    const lease = await store.lease('r', 1_000)
    machine.pass(900)
    await lease.renew(1_000)
    machine.pass(900)
    await expect(other.lease('r', 1_000)).rejects.toMatchObject({ details: { retryAfterMs: 100 } })
    await expect(outside.lease('r', 1_000)).rejects.toMatchObject({ details: { retryAfterMs: 1_000 } })
    machine.pass(200)
    expect(await lease.held()).toBe(false)
    await lease.renew(1_000)
    expect(await lease.held()).toBe(true)
    foreign.pass(900)
    await expect(outside.lease('r', 1_000)).rejects.toMatchObject({ details: { retryAfterMs: 1_000 } })
    alive.delete('1')
    const next = await other.lease('r', 1_000)
    expect(next.fencingToken).toBeGreaterThan(lease.fencingToken)
    await expect(lease.renew(1_000)).rejects.toMatchObject({ code: 'lease_lost' })
  })

  it('gives the room of what was collected back to the disk', async () => {
    const path = newPath()
    const store = await open(path)
    for (let n = 0; n < 120; n++) await put(store, new Uint8Array(50_000).fill(n))
    const peer = new Database(path)
    peer.pragma('wal_checkpoint(TRUNCATE)')
    const before = statSync(path).size
    expect(before).toBeGreaterThan(5_000_000)
    expect(await store.collect({ graceMs: 0 })).toEqual({ removed: 120, bytes: 6_000_000 })
    peer.pragma('wal_checkpoint(TRUNCATE)')
    peer.close()
    expect(statSync(path).size).toBeLessThan(200_000)
  })
})
