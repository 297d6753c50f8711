/** The programs of the plan, each alone, with stand-ins for what it is granted: what they do about trouble, and what comes out. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { declareCapabilities } from '../../src/capability/declare-capabilities.ts'
import { capability, openRuntime, type PlanNode, type Runtime } from '../../src/entry/node.ts'
import { openJob } from './job.ts'
import { readPlan } from './plan-source.ts'
import type { Batch } from './program/products.ts'
import { PROGRAM_GRANTS } from './terms.ts'

const { plan } = await readPlan()

/** Statuses that come before the service answers. */
let refusals: number[] = []
let urls: string[] = []
let sleeps: number[] = []
let runtime: Runtime
beforeAll(async () => {
  const standIns = [
    capability({
      name: 'net.fetch',
      description: 'Prices',
      effect: 'read',
      invoke: (args) => {
        const { url } = args as { url: string }
        urls.push(url)
        const status = refusals.shift() ?? 200
        if (status !== 200) return { status, headers: { 'retry-after': '2' }, body: '{}' }
        const skus = decodeURIComponent(url).split('sku=')[1]?.split(',') ?? []
        const prices = skus.filter((sku) => sku !== 'SKU-7').map((sku) => ({ sku, price: 110 }))
        return { status, headers: {}, body: JSON.stringify({ asOf: '2026-01-16T06:00:00Z', prices }) }
      },
    }),
    capability({
      name: 'clock.sleep',
      description: 'Takes no time',
      effect: 'read',
      invoke: (args) => {
        sleeps.push((args as { ms: number }).ms)
        return null
      },
    }),
  ]
  runtime = await openRuntime({ capabilities: standIns })
})
afterAll(() => runtime.close())

/** Runs the program of a node. */
async function runNode(node: PlanNode | undefined, input: unknown): Promise<unknown> {
  if (node?.kind !== 'program') throw new Error('The plan has no such program.')
  const outcome = await runtime.run(node.source ?? '', {
    input,
    language: 'ts',
    ...(node.modules && { modules: node.modules }),
    ...(node.grants && { grants: PROGRAM_GRANTS }),
  })
  if (outcome.status !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome.value
}

const prices = plan.nodes.prices?.kind === 'each' ? plan.nodes.prices.do.nodes : {}

const row = (at: number, changes: object = {}) => ({
  sku: `SKU-${at}`,
  name: `Thing ${at}`,
  category: at % 2 ? 'Odd' : 'Even',
  unit: 'piece',
  base_price: 100,
  currency: 'EUR',
  supplier: 'Somebody',
  stock: 10,
  ...changes,
})
const ROWS = Array.from({ length: 10 }, (_, at) => row(at))

const ask = async (given: number[]): Promise<Batch> => {
  refusals = given
  urls = []
  sleeps = []
  return (await runNode(prices.ask, { service: 'http://prices.test', products: ROWS })) as Batch
}

describe('the program that asks for prices', () => {
  it('asks once for all of them', async () => {
    expect(await ask([])).toMatchObject({ from: 'service', waitedSeconds: 0, asOf: '2026-01-16T06:00:00Z' })
    expect(urls).toHaveLength(1)
  })

  it('sleeps for as long as the service asks, then repeats that request and goes on', async () => {
    expect((await ask([429, 429])).waitedSeconds).toBe(4)
    expect(sleeps).toEqual([2000, 2000])
    expect(new Set(urls).size).toBe(1)
  })

  it('fails where the service does: what happens then is said by the plan', async () => {
    await expect(ask([503])).rejects.toThrow(/the price service answered 503/)
    const known = (await runNode(prices['last-known'], { products: ROWS })) as Batch
    expect(known).toMatchObject({
      from: 'catalogue',
      prices: [{ sku: 'SKU-0', price: 100 }, {}, {}, {}, {}, {}, {}, {}, {}, {}],
    })
  })
})

interface Made {
  readonly html: string
  readonly summary: {
    readonly priced: number
    readonly averageChange: number
    readonly notes: readonly string[]
  }
}

const make = async (
  products: readonly object[],
  batches: readonly object[],
  leadTimes: unknown = null,
): Promise<Made> =>
  (await runNode(plan.nodes.report, {
    products,
    suppliers: [{ supplier: 'Somebody', products: products.length }],
    leadTimes,
    rates: JSON.stringify({ rates: { EUR: 1, USD: 2, GBP: 0.5 } }),
    batches,
  })) as Made

describe('the program that makes the report', () => {
  it('computes the changes, and says what is missing and why', async () => {
    const cached = { from: 'catalogue', asOf: '', waitedSeconds: 0, prices: [{ sku: 'SKU-9', price: 100 }] }
    const { summary, html } = await make(ROWS, [await ask([429]), cached], { rows: [] })
    expect(summary).toMatchObject({ priced: 9, averageChange: 0.0889 })
    expect(summary.notes).toEqual([
      'Lead times are left out: the catalogue does not have them.',
      'The price service asked for a pause; the program waited and went on.',
      '1 prices are those of the catalogue: the price service did not give them.',
      '1 product has no current price: SKU-7.',
    ])
    expect(html).toContain('Lead times are left out')
  })

  it('converts to euros', async () => {
    const rows = [row(1, { currency: 'USD' }), row(2, { currency: 'GBP' })]
    const batch = {
      from: 'service',
      asOf: '2026-01-16T06:00:00Z',
      waitedSeconds: 0,
      prices: [
        { sku: 'SKU-1', price: 100 },
        { sku: 'SKU-2', price: 100 },
      ],
    }
    const { html } = await make(rows, [batch])
    expect(html).toContain('<td class="n">50.00</td>')
    expect(html).toContain('<td class="n">200.00</td>')
  })

  it('shows hostile names as text, and needs nothing from outside', async () => {
    const evil = '"><script>alert(1)</script>&\''
    const rows = [row(1, { name: evil, category: evil, supplier: evil, unit: evil }), row(2)]
    const { html } = await make(rows, [await ask([])])
    expect(html).not.toContain('<script')
    expect(html).toContain('&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;&amp;&#39;')
    expect(html).not.toMatch(/(?:src|href)=|url\(|@import|https?:/)
    expect(html).not.toMatch(/NaN|undefined|Infinity|\[object/)
  })
})

describe('the program that compares', () => {
  const summary = { priced: 1, averageChange: 0, categories: {}, notes: [] }
  it('tells what a reader would see change, and nothing else', async () => {
    const compare = (before: unknown, after: unknown) => runNode(plan.nodes.compare, { before, after })
    expect(await compare(summary, summary)).toEqual([])
    expect(await compare(null, summary)).toEqual(['Nothing is published yet: all of it is new.'])
    expect(await compare(summary, { ...summary, averageChange: 0.1, notes: ['so'] })).toEqual([
      'Average change: +10.0\u202f% (was 0.0\u202f%)',
      'New note: so',
    ])
  })
})

describe('what the programs take for granted', () => {
  it('is declared as the host would print it', async () => {
    const reportsDirectory = mkdtempSync(join(tmpdir(), 'caisson-declared-'))
    const job = await openJob({
      origin: 'http://127.0.0.1:1',
      reportsDirectory,
      database: 'when asked',
      say: () => {},
    })
    try {
      const granted = job.capabilities.filter(({ name }) => PROGRAM_GRANTS.includes(name))
      const printed = declareCapabilities(granted).replace(/(127\.0\.0\.1):\d+/, '$1')
      const kept = readFileSync(new URL('./program/guest.d.ts', import.meta.url), 'utf8')
      expect(kept.slice(kept.indexOf('declare '))).toBe(printed)
    } finally {
      await job[Symbol.asyncDispose]()
      rmSync(reportsDirectory, { recursive: true })
    }
  })
})
