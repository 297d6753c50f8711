/** The program with stand-ins for what it is granted: what it does about trouble, and what its report looks like. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declareCapabilities } from '../../src/capability/declare-capabilities.ts'
import { CaissonError, capability, openRuntime, type Runtime } from '../../src/entry/node.ts'
import { openJob } from './job.ts'
import { readProgram } from './program-source.ts'
import { GRANTS, LIMITS } from './terms.ts'

interface Row {
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly unit: string
  readonly base_price: number
  readonly currency: string
  readonly supplier: string
  readonly stock: number
}

function row(at: number, changes: Partial<Row> = {}): Row {
  return {
    sku: `SKU-${at}`,
    name: `Thing ${at}`,
    category: at % 2 ? 'Odd' : 'Even',
    unit: 'piece',
    base_price: 100,
    currency: 'EUR',
    supplier: 'Somebody',
    stock: 10,
    ...changes,
  }
}

interface World {
  readonly rows: readonly Row[]
  readonly priceOf: (sku: string) => number | undefined
  readonly lacksLeadTimes?: boolean
  /** Statuses that come before the service answers. */
  readonly refusals?: number[]
}

interface Written {
  readonly name: string
  readonly mediaType: string
  readonly data: string
}

/** What the program did to its world. */
interface Deeds {
  readonly urls: string[]
  readonly sleeps: number[]
  readonly queries: string[]
  readonly written: Written[]
}

const RATES = { EUR: 1, USD: 2, GBP: 0.5 }
let world: World
let deeds: Deeds
let refusals: number[]
let runtime: Runtime
const program = await readProgram()

const standIns = [
  capability({
    name: 'sql.query',
    description: 'Rows of the world',
    effect: 'read',
    invoke: (args) => {
      const { text } = args as { text: string }
      deeds.queries.push(text)
      if (text.includes('lead_time_days') && world.lacksLeadTimes !== false) {
        throw new CaissonError('query_failed', 'column does not exist')
      }
      const suppliers = [...new Set(world.rows.map(({ supplier }) => supplier))]
      const rows = text.includes('base_price')
        ? world.rows
        : suppliers.map((supplier) => ({ supplier, products: 1 }))
      return { rows }
    },
  }),
  capability({
    name: 'net.fetch',
    description: 'Prices of the world',
    effect: 'read',
    invoke: (args) => {
      const { url } = args as { url: string }
      deeds.urls.push(url)
      const status = refusals.shift() ?? 200
      if (status !== 200) return { status, headers: { 'retry-after': '2' }, body: '{}' }
      const skus = decodeURIComponent(url).split('sku=')[1]?.split(',') ?? []
      const prices = skus.flatMap((sku) => {
        const price = world.priceOf(sku)
        return price === undefined ? [] : [{ sku, price, currency: 'EUR' }]
      })
      const body = url.endsWith('/rates') ? { rates: RATES } : { asOf: '2026-01-16T06:00:00Z', prices }
      return { status, headers: {}, body: JSON.stringify(body) }
    },
  }),
  capability({
    name: 'clock.sleep',
    description: 'Takes no time',
    effect: 'read',
    invoke: (args) => {
      deeds.sleeps.push((args as { ms: number }).ms)
      return null
    },
  }),
  capability({
    name: 'artifacts.write',
    description: 'Keeps it for the test',
    effect: 'write',
    invoke: (args) => {
      const artifact = args as Written
      deeds.written.push(artifact)
      const { name, mediaType, data } = artifact
      return { name, digest: 'sha256:0', mediaType, bytes: data.length }
    },
  }),
]

beforeAll(async () => {
  runtime = await openRuntime({ capabilities: standIns })
})
afterAll(() => runtime.close())

async function runProgram(given: World) {
  world = given
  refusals = [...(given.refusals ?? [])]
  deeds = { urls: [], sleeps: [], queries: [], written: [] }
  const { source, fileName, modules } = program
  const outcome = await runtime.run(source, {
    input: { priceService: 'http://prices.test' },
    grants: GRANTS,
    limits: LIMITS,
    fileName,
    modules,
  })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  const result = outcome.value as Record<string, unknown>
  return { ...deeds, result, html: deeds.written[0]?.data ?? '' }
}

const ROWS = Array.from({ length: 120 }, (_, at) => row(at))

describe('the program', () => {
  it('asks for prices in batches, computes the changes and hands over one HTML file', async () => {
    const { result, urls, written } = await runProgram({ rows: ROWS, priceOf: () => 110 })
    expect(urls.map((url) => url.split('?')[0])).toEqual([
      'http://prices.test/rates',
      ...Array(3).fill('http://prices.test/prices'),
    ])
    expect(result).toMatchObject({ products: 120, priced: 120, dearer: 120, cheaper: 0, averageChange: 0.1 })
    expect(written.map(({ name, mediaType }) => [name, mediaType])).toEqual([
      ['pricing-report.html', 'text/html'],
    ])
  })

  it('takes its fallback when a query is invalid, and says so', async () => {
    const { queries, result, html } = await runProgram({ rows: ROWS, priceOf: () => 100 })
    expect(queries.map((sql) => sql.includes('lead_time_days'))).toEqual([false, true, false])
    expect(result.notes).toContain('Lead times are left out: the catalogue does not have them.')
    expect(html).toContain('Lead times are left out')
    const without = await runProgram({ rows: ROWS, priceOf: () => 100, lacksLeadTimes: false })
    expect(without.queries).toHaveLength(2)
  })

  it('sleeps for as long as the service asks, then repeats that request and goes on', async () => {
    const { sleeps, urls, result } = await runProgram({
      rows: ROWS,
      priceOf: () => 100,
      refusals: [200, 429, 429],
    })
    expect(sleeps).toEqual([2000, 2000])
    expect(urls).toHaveLength(6)
    expect(urls[1]).toBe(urls[3])
    expect(result).toMatchObject({ priced: 120 })
  })

  it('leaves out what has no price, and names it', async () => {
    const { result } = await runProgram({ rows: ROWS, priceOf: (sku) => (sku === 'SKU-7' ? undefined : 90) })
    expect(result).toMatchObject({ products: 120, priced: 119, cheaper: 119, averageChange: -0.1 })
    expect(result.notes).toContain('1 product has no current price: SKU-7.')
  })

  it('converts to euros', async () => {
    const rows = [row(1, { currency: 'USD' }), row(2, { currency: 'GBP' })]
    const { html } = await runProgram({ rows, priceOf: () => 100 })
    expect(html).toContain('<td class="n">50.00</td>')
    expect(html).toContain('<td class="n">200.00</td>')
  })

  it('shows hostile names as text', async () => {
    const evil = '"><script>alert(1)</script>&\''
    const rows = [row(1, { name: evil, category: evil, supplier: evil, unit: evil }), row(2)]
    const { html } = await runProgram({ rows, priceOf: () => 101 })
    expect(html).not.toContain('<script')
    expect(html).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;')
  })

  it('needs nothing from outside', async () => {
    const { html } = await runProgram({ rows: ROWS, priceOf: () => 99 })
    expect(html).not.toMatch(/(?:src|href)=|url\(|@import|https?:/)
    expect(html.match(/<svg /g)).toHaveLength(2)
    expect(html).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })
})

describe('what the program takes for granted', () => {
  it('is declared as the host would print it', async () => {
    const outDirectory = mkdtempSync(join(tmpdir(), 'caisson-declared-'))
    const job = await openJob({
      origin: 'http://127.0.0.1:1',
      outDirectory,
      database: 'when asked',
      say: () => {},
    })
    try {
      const granted = job.capabilities.filter(({ name }) => GRANTS.some((grant) => grant.capability === name))
      const printed = declareCapabilities(granted).replace(/(127\.0\.0\.1):\d+/, '$1')
      const kept = readFileSync(new URL('./program/guest.d.ts', import.meta.url), 'utf8')
      expect(kept.slice(kept.indexOf('declare '))).toBe(printed)
    } finally {
      await job[Symbol.asyncDispose]()
      rmSync(outDirectory, { recursive: true })
    }
  })
})
