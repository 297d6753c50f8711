/** The program with stand-ins for what it is granted: what it does about trouble, and what its report looks like. */
import { readFileSync } from 'node:fs'
import vm from 'node:vm'
import { describe, expect, it } from 'vitest'

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

const SOURCE = readFileSync(new URL('./program.js', import.meta.url), 'utf8')

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

async function runProgram(world: World) {
  const urls: string[] = []
  const sleeps: number[] = []
  const written: Written[] = []
  const queries: string[] = []
  const rates = { EUR: 1, USD: 2, GBP: 0.5 }
  const refusals = [...(world.refusals ?? [])]
  const context = vm.createContext({
    console: { log: () => {}, warn: () => {} },
    sql: {
      query: async ({ text }: { text: string }) => {
        queries.push(text)
        if (text.includes('lead_time_days') && world.lacksLeadTimes !== false) {
          throw Object.assign(new Error('column does not exist'), { code: 'query_failed' })
        }
        const suppliers = [...new Set(world.rows.map(({ supplier }) => supplier))]
        return {
          rows: text.includes('base_price')
            ? world.rows
            : suppliers.map((supplier) => ({ supplier, products: 1 })),
        }
      },
    },
    net: {
      fetch: async ({ url }: { url: string }) => {
        urls.push(url)
        const status = refusals.shift() ?? 200
        if (status !== 200) return { status, headers: { 'retry-after': '2' }, body: '{}' }
        const skus = decodeURIComponent(url).split('sku=')[1]?.split(',') ?? []
        const prices = skus.flatMap((sku) => {
          const price = world.priceOf(sku)
          return price === undefined ? [] : [{ sku, price, currency: 'EUR' }]
        })
        const body = url.endsWith('/rates') ? { rates } : { asOf: '2026-01-16T06:00:00Z', prices }
        return { status, headers: {}, body: JSON.stringify(body) }
      },
    },
    clock: { sleep: async ({ ms }: { ms: number }) => void sleeps.push(ms) },
    artifacts: {
      write: async (artifact: Written) => {
        written.push(artifact)
        return {
          name: artifact.name,
          digest: 'sha256:0',
          mediaType: artifact.mediaType,
          bytes: artifact.data.length,
        }
      },
    },
  })
  const program = vm.runInContext(SOURCE, context) as (input: unknown) => Promise<Record<string, unknown>>
  const result = await program({ priceService: 'http://prices.test' })
  return { result, urls, sleeps, queries, html: written[0]?.data ?? '', written }
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
