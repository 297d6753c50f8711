import { afterEach, describe, expect, it } from 'vitest'
import { readProducts } from './catalogue.ts'
import { currentPrice, type PriceService, startPriceService } from './price-service.ts'

const products = await readProducts()
const open: PriceService[] = []

async function start(options?: Parameters<typeof startPriceService>[1]): Promise<PriceService> {
  const service = await startPriceService(products, options)
  open.push(service)
  return service
}

afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()))
})

describe('price service', () => {
  it('answers a batch, and names what it does not sell', async () => {
    const { origin } = await start()
    const response = await fetch(`${origin}/prices?sku=FAS-110,NOPE-1`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      asOf: '2026-01-16T06:00:00Z',
      prices: [{ sku: 'FAS-110', price: expect.any(Number), currency: 'USD' }],
      unknown: ['NOPE-1'],
    })
  })

  it('asks for a pause after its allowance, and takes requests again after it', async () => {
    const service = await start({ allowance: 2, retryAfterSeconds: 0.05 })
    const statuses: number[] = []
    for (let i = 0; i < 3; i++) statuses.push((await fetch(`${service.origin}/rates`)).status)
    expect(statuses).toEqual([200, 200, 429])
    await new Promise((resolve) => setTimeout(resolve, 80))
    expect((await fetch(`${service.origin}/rates`)).status).toBe(200)
    expect([service.requests(), service.refused()]).toEqual([4, 1])
  })

  it('says when to come back', async () => {
    const { origin } = await start({ allowance: 1 })
    await fetch(`${origin}/rates`)
    const response = await fetch(`${origin}/rates`)
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1'])
  })

  it.each([
    ['/prices', 400],
    [`/prices?sku=${Array(51).fill('A')}`, 400],
    ['/elsewhere', 404],
  ])('refuses %.20s with %i', async (path, status) => {
    const { origin } = await start()
    expect((await fetch(origin + path)).status).toBe(status)
  })

  it('refuses to be written to', async () => {
    const { origin } = await start()
    expect((await fetch(`${origin}/prices?sku=FAS-110`, { method: 'POST' })).status).toBe(405)
  })
})

describe('current prices', () => {
  it('are the same on every machine, stay near the base, and are missing for a few', () => {
    const prices = products.map(currentPrice)
    const missing = prices.filter((price) => price === undefined)
    expect(missing).toHaveLength(10)
    const sum = prices.reduce<number>((total, price) => total + (price ?? 0), 0)
    expect(sum.toFixed(2)).toBe('19253.43')
    for (const [at, price] of prices.entries()) {
      const base = Number(products[at]?.basePrice)
      if (price !== undefined) expect(Math.abs(price / base - 1)).toBeLessThan(0.45)
    }
  })
})
