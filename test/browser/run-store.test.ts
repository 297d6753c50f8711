/** The store of runs in IndexedDB, in real Chromium: the contract, several tabs, tabs that die, and a full disk. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser, BrowserContext, Page } from 'playwright'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeRunStore } from '../../host-bindings/store/run-store.contract.ts'
import { sha256 } from '../../src/base/digest.ts'
import type { RunStore } from '../../src/ports/run-store.ts'
import { launchChromium } from './open-page.ts'
import { type PageServer, servePage } from './page-server.ts'
import { openRemoteRunStore } from './remote-run-store.ts'

const HOUR_MS = 3_600_000
const PAGE = join(import.meta.dirname, 'store-page')
const scratch = mkdtempSync(join(tmpdir(), 'caisson-store-page-'))
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

let browser: Browser
let context: BrowserContext
let server: PageServer
/** Two tabs that stay. */
let tabs: readonly [Page, Page]
let databases = 0

const newName = (): string => {
  databases += 1
  return `store ${databases}`
}

async function openTab(inside: BrowserContext = context): Promise<Page> {
  const page = await inside.newPage()
  await page.goto(server.url)
  await page.waitForFunction(() => 'callLease' in window)
  return page
}

beforeAll(async () => {
  await build({
    entryPoints: [join(PAGE, 'main.ts')],
    outfile: join(scratch, 'main.js'),
    bundle: true,
    format: 'esm',
    target: 'es2022',
    logLevel: 'error',
  })
  cpSync(join(PAGE, 'index.html'), join(scratch, 'index.html'))
  server = await servePage(scratch)
  browser = await launchChromium()
  context = await browser.newContext()
  tabs = [await openTab(), await openTab()]
})
afterAll(async () => {
  await browser?.close()
  await server?.close()
  rmSync(scratch, { recursive: true, force: true })
})

describeRunStore('IndexedDB, from two tabs', async () => {
  const name = newName()
  return { store: await openRemoteRunStore(tabs[0], name), another: () => openRemoteRunStore(tabs[1], name) }
})

describe('without Web Locks, as in an insecure context', () => {
  let bare: BrowserContext
  let pages: readonly [Page, Page]
  beforeAll(async () => {
    bare = await browser.newContext()
    await bare.addInitScript(() => Object.defineProperty(navigator, 'locks', { value: undefined }))
    pages = [await openTab(bare), await openTab(bare)]
    expect(await pages[0].evaluate(() => navigator.locks)).toBeUndefined()
  })
  afterAll(() => bare?.close())

  describeRunStore('IndexedDB, from two tabs', async () => {
    const name = newName()
    return {
      store: await openRemoteRunStore(pages[0], name),
      another: () => openRemoteRunStore(pages[1], name),
    }
  })
})

describe('a store in IndexedDB', () => {
  it('1: asks for strict durability in every change', async () => {
    const page = await openTab()
    const store = await openRemoteRunStore(page, newName())
    const lease = await store.lease('r', HOUR_MS)
    const id = sha256(text('x'))
    await store.putBlob(id, text('x'))
    await store.append('r', 0, [text('a')], lease)
    await store.setHead('r', { version: 1, chain: [id], position: 1, summary: text('') }, lease)
    await lease.renew(HOUR_MS)
    await lease.release()
    await store.collect()
    const { readwrite } = await page.evaluate(() => window.durabilities)
    expect(readwrite?.length).toBeGreaterThanOrEqual(7)
    expect(new Set(readwrite)).toEqual(new Set(['strict']))
    await page.close()
  })

  it('2: gives a run to one of two tabs that race, and each head to one', async () => {
    const name = newName()
    const stores = await Promise.all(tabs.map((tab) => openRemoteRunStore(tab, name)))
    const tokens: number[] = []
    for (let round = 0; round < 10; round++) {
      const asked = stores.flatMap((store) => [store.lease('r', HOUR_MS), store.lease('r', HOUR_MS)])
      const settled = await Promise.allSettled(asked)
      const winners = settled.flatMap((one, index) =>
        one.status === 'fulfilled' ? [{ lease: one.value, store: stores[index >> 1] as RunStore }] : [],
      )
      expect(winners).toHaveLength(1)
      for (const { lease, store } of winners) {
        tokens.push(lease.fencingToken)
        await store.append('r', round, [text(`${lease.fencingToken}`)], lease)
        await lease.release()
      }
    }
    expect(tokens).toEqual([...new Set(tokens)].sort((left, right) => left - right))
    const log = (await stores[0]?.entries('r', 0, 99)) ?? []
    expect(log.map((entry) => Number(new TextDecoder().decode(entry)))).toEqual(tokens)
  })

  it('3: gives the run of a tab that was closed to the next at once, with all that was acknowledged', async () => {
    const name = newName()
    const doomed = await openTab()
    const store = await openRemoteRunStore(doomed, name)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('a')], lease)
    const other = await openRemoteRunStore(tabs[0], name)
    await expect(other.lease('r', HOUR_MS)).rejects.toMatchObject({ code: 'store_conflict' })
    await doomed.close()
    // The browser frees the lock when it has cleaned up after the tab, which is soon and not at once.
    const taken = await retry(() => other.lease('r', HOUR_MS))
    expect(taken.fencingToken).toBeGreaterThan(lease.fencingToken)
    expect(await other.entries('r', 0, 9)).toEqual([text('a')])
  })

  it('says when the site may store no more, and keeps what it had', async () => {
    const inside = await browser.newContext()
    const page = await openTab(inside)
    // Before anything is stored: Chromium remembers for a while how much room there was.
    const session = await inside.newCDPSession(page)
    const { origin } = new URL(server.url)
    await session.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1_000_000 })
    const store = await openRemoteRunStore(page, newName())
    const lease = await store.lease('r', HOUR_MS)
    const first = text('first')
    await store.putBlob(sha256(first), first)
    const head = { version: 1, chain: [sha256(first)], position: 0, summary: text('') }
    await store.setHead('r', head, lease)
    const large = new Uint8Array(2_000_000).map((_, index) => (index * 7919) >> 3)
    const full = { code: 'quota_exceeded' }
    await expect(store.putBlob(sha256(large), large)).rejects.toMatchObject(full)
    await expect(store.append('r', 0, [text('small'), large], lease)).rejects.toMatchObject(full)
    expect(await store.head('r')).toEqual(head)
    expect(await store.getBlob(sha256(first))).toEqual(first)
    expect(await store.entries('r', 0, 9)).toEqual([])
    await store.append('r', 0, [text('small')], lease)
    await inside.close()
  })

  it('says when its database was removed, and does not begin anew', async () => {
    const name = newName()
    const page = await openTab()
    const store = await openRemoteRunStore(page, name)
    const lease = await store.lease('r', HOUR_MS)
    await store.append('r', 0, [text('a')], lease)
    await page.evaluate(
      (database) =>
        new Promise((resolve, reject) => {
          const request = indexedDB.deleteDatabase(database)
          request.onsuccess = resolve
          request.onerror = reject
        }),
      name,
    )
    const vanished = { code: 'store_failed', details: { vanished: true } }
    await expect(store.head('r')).rejects.toMatchObject(vanished)
    await expect(store.append('r', 1, [text('b')], lease)).rejects.toMatchObject(vanished)
    await expect(store.runs()).rejects.toMatchObject(vanished)
    await page.close()
  })
})

async function retry<T>(act: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await act()
    } catch (error) {
      if (attempt === 200) throw error
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
