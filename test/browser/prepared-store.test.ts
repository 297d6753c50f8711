/** The store of prepared modules in IndexedDB, in real Chromium: the contract, tabs, hostile data, and a full disk. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describePreparedStore } from '../../host-bindings/prepared/prepared-store.contract.ts'
import { readSample } from '../../scripts/samples/read-sample.ts'
import { CaissonError, type ErrorCode, type ErrorDetails } from '../../src/base/errors.ts'
import type { PreparedStore } from '../../src/ports/prepared-store.ts'
import { bundlePage, launchChromium } from './open-page.ts'
import { type PageServer, servePage } from './page-server.ts'
import { fromWire, toWire } from './store-page/wire.ts'

const NAME = 'ab'.repeat(32)
const site = mkdtempSync(join(tmpdir(), 'caisson-prepared-page-'))

let browser: Browser
let server: PageServer
/** Two tabs of one site. */
let tabs: readonly [Page, Page]
let databases = 0

const newName = (): string => {
  databases += 1
  return `prepared ${databases}`
}

async function openTab(): Promise<Page> {
  const page = await browser.contexts()[0]?.newPage()
  if (page === undefined) throw new Error('There is no browser.')
  await page.goto(server.url)
  await page.waitForFunction(() => 'openWithCache' in window)
  return page
}

/** A store in the page, as one of this process. */
async function openRemote(page: Page, name: string, maxBytes = 1_000): Promise<PreparedStore> {
  const store = await page.evaluate(([n, most]) => window.openPrepared(n, most), [name, maxBytes] as const)
  const call = async (method: keyof PreparedStore, ...args: unknown[]): Promise<unknown> => {
    const reply = await page.evaluate(([s, m, a]) => window.callPrepared(s, m, a), [
      store,
      method,
      args.map(toWire),
    ] as const)
    if ('code' in reply) {
      const { code, message, details } = reply
      throw new CaissonError(code as ErrorCode, message, { details: details as ErrorDetails })
    }
    return fromWire(reply.given)
  }
  return {
    get: async (...args) => (await call('get', ...args)) as Uint8Array | undefined,
    put: async (...args) => void (await call('put', ...args)),
  }
}

beforeAll(async () => {
  await bundlePage('prepared-page', site)
  mkdirSync(join(site, 'bytes'))
  writeFileSync(join(site, 'bytes/types-c.wasm'), await readSample('types-c'))
  server = await servePage(site)
  browser = await launchChromium()
  await browser.newContext()
  tabs = [await openTab(), await openTab()]
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  rmSync(site, { recursive: true, force: true })
})

describePreparedStore('IndexedDB', (maxBytes) => openRemote(tabs[0], newName(), maxBytes))

describe('prepared modules in IndexedDB', () => {
  it('are there for other tabs, within one bound (invariant 3)', async () => {
    const name = newName()
    const [one, other] = [await openRemote(tabs[0], name), await openRemote(tabs[1], name)]
    await one.put(NAME, new Uint8Array([1, 2]))
    expect(await other.get(NAME, 10)).toEqual(new Uint8Array([1, 2]))
    const names = Array.from({ length: 12 }, (_, index) => index.toString(16).padStart(64, '0'))
    await Promise.all(
      names.map((own, index) => (index % 2 === 0 ? one : other).put(own, new Uint8Array(300))),
    )
    const there = await Promise.all([NAME, ...names].map((own) => one.get(own, 1_000)))
    const total = there.reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0)
    expect(total).toBeLessThanOrEqual(1_000)
    expect(total).toBeGreaterThanOrEqual(600)
  })

  it('that were used last stay (invariant 3)', async () => {
    const name = newName()
    const store = await openRemote(tabs[0], name)
    const [first, second, third] = ['1', '2', '3'].map((digit) => digit.repeat(64)) as [
      string,
      string,
      string,
    ]
    await store.put(first, new Uint8Array(400))
    await store.put(second, new Uint8Array(400))
    // As if both had been put long ago, in this order.
    for (const [index, own] of [first, second].entries())
      await written(tabs[0], name, ['use', own], { bytes: 400, usedMs: Date.now() - 8_000_000 + index })
    expect(await store.get(first, 1_000)).toHaveLength(400)
    await store.put(third, new Uint8Array(400))
    expect(await store.get(second, 1_000)).toBeUndefined()
    expect(await store.get(first, 1_000)).toHaveLength(400)
  })

  it('are those that were put: what others wrote is not there, and makes room (invariant 2)', async () => {
    const name = newName()
    const store = await openRemote(tabs[0], name)
    await store.put(NAME, new Uint8Array([1]))
    const hostile: readonly (readonly [key: 'use' | 'bytes', value: unknown])[] = [
      ['bytes', 'text'],
      ['bytes', { length: 1 }],
      ['bytes', [1]],
      ['use', 'text'],
      ['use', { bytes: -1, usedMs: 0 }],
      ['use', { bytes: 'many', usedMs: 0 }],
      ['use', { bytes: 2, usedMs: 0 }],
      ['use', null],
    ]
    for (const [key, value] of hostile) {
      await store.put(NAME, new Uint8Array([1]))
      expect(await store.get(NAME, 10)).toEqual(new Uint8Array([1]))
      await written(tabs[0], name, [key, NAME], value)
      expect(await store.get(NAME, 10), `${key} ${JSON.stringify(value)}`).toBeUndefined()
    }
    await written(tabs[0], name, ['use', 'of no entry', 'at all'], { bytes: 999_999, usedMs: 1 })
    await store.put(NAME, new Uint8Array([1]))
    expect(await store.get(NAME, 10)).toEqual(new Uint8Array([1]))
  })

  it('are made anew where the database was removed, which no tab prevents (invariant 4)', async () => {
    const name = newName()
    const stores = [await openRemote(tabs[0], name), await openRemote(tabs[1], name)]
    for (const store of stores) await store.put(NAME, new Uint8Array([1]))
    const removed = await tabs[0].evaluate(
      (database) =>
        new Promise<string>((resolve) => {
          const request = indexedDB.deleteDatabase(database)
          request.onsuccess = () => resolve('removed')
          request.onerror = () => resolve('failed')
          request.onblocked = () => resolve('blocked')
        }),
      name,
    )
    expect(removed).toBe('removed')
    for (const store of stores) expect(await store.get(NAME, 10)).toBeUndefined()
    await stores[1]?.put(NAME, new Uint8Array([2]))
    expect(await stores[0]?.get(NAME, 10)).toEqual(new Uint8Array([2]))
  })

  it('are refused by a name that leads elsewhere, and by options that are none', async () => {
    const store = await openRemote(tabs[0], newName())
    const refused = { code: 'invalid_argument' }
    await expect(store.get('../other', 10)).rejects.toMatchObject(refused)
    await expect(store.put(`${NAME}0`, new Uint8Array(1))).rejects.toMatchObject(refused)
    await expect(openRemote(tabs[0], newName(), -1)).rejects.toThrow('maxBytes')
  })

  it('say when the site may store no more, and keep what is there (invariant 1)', async () => {
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(server.url)
    await page.waitForFunction(() => 'openWithCache' in window)
    const session = await context.newCDPSession(page)
    const { origin } = new URL(server.url)
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000_000 })
    const store = await openRemote(page, newName(), 100_000_000)
    await store.put(NAME, new Uint8Array([1]))
    const large = new Uint8Array(2_000_000).map((_, index) => (index * 7919) >> 3)
    await expect(store.put(NAME, large)).rejects.toMatchObject({ code: 'quota_exceeded' })
    expect(await store.get(NAME, 10)).toEqual(new Uint8Array([1]))
    await context.close()
  })
})

it('a page that comes again opens what it prepared the first time', async () => {
  const database = newName()
  const page = await openTab()
  const opened = (): ReturnType<Window['openWithCache']> =>
    page.evaluate((name) => window.openWithCache(name, '/bytes/types-c.wasm'), database)
  expect(await opened()).toEqual({ value: 5, found: 0, put: 1 })
  await page.reload()
  await page.waitForFunction(() => 'openWithCache' in window)
  expect(await opened()).toEqual({ value: 5, found: 1, put: 0 })
  await page.close()
})

/** As any script of the site may write. */
async function written(page: Page, database: string, key: readonly string[], value: unknown): Promise<void> {
  await page.evaluate(
    ([name, at, what]) =>
      new Promise<void>((resolve, reject) => {
        const request = indexedDB.open(name as string)
        request.onerror = reject
        request.onsuccess = () => {
          const transaction = request.result.transaction('entries', 'readwrite')
          transaction.objectStore('entries').put(what, at as string[])
          transaction.onerror = reject
          transaction.oncomplete = () => {
            request.result.close()
            resolve()
          }
        }
      }),
    [database, key, value] as const,
  )
}
