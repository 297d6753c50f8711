import { afterAll, describe, expect, it } from 'vitest'
import { openCatalogue, readProducts } from './catalogue.ts'

const products = await readProducts()
const database = await openCatalogue(products)

afterAll(() => database.close())

describe('catalogue', () => {
  it('ships 500 products with distinct SKUs and sound values', () => {
    expect(products).toHaveLength(500)
    expect(new Set(products.map(({ sku }) => sku)).size).toBe(500)
    for (const { sku, basePrice, currency, stock, updated } of products) {
      expect(sku).toMatch(/^[A-Z]{3}-\d{3}$/)
      expect(basePrice).toMatch(/^\d+\.\d\d$/)
      expect(['EUR', 'USD', 'GBP']).toContain(currency)
      expect(Number.isInteger(stock)).toBe(true)
      expect(new Date(updated).toISOString().slice(0, 10)).toBe(updated)
    }
  })

  it('holds them in a real Postgres, to the cent', async () => {
    const { rows } = await database.query<{ count: number; sum: string }>(
      'SELECT count(*)::int AS count, sum(base_price) AS sum FROM products',
    )
    const cents = products.reduce((sum, { basePrice }) => sum + Math.round(Number(basePrice) * 100), 0)
    expect(rows).toEqual([{ count: 500, sum: (cents / 100).toFixed(2) }])
  })

  it('has no lead times, which is what makes one query of the program invalid', async () => {
    await expect(database.query('SELECT avg(lead_time_days) FROM products')).rejects.toThrow(
      'column "lead_time_days" does not exist',
    )
  })
})
