// The program of the pricing report, written the way a model writes code for a sandbox: TypeScript in a few modules,
// whose main one exports an async function. It calls what it was granted (sql.query, net.fetch, clock.sleep,
// artifacts.write) and returns a short summary. Nothing in it knows about the host that runs it.
import { fetchPrices } from './prices.ts'
import { readProducts, readSuppliers } from './products.ts'
import { reportPage } from './report.ts'
import { comparePrices, describePrices } from './statistics.ts'

interface Input {
  /** Origin of the suppliers' price service. */
  readonly priceService: string
}

export default async function makeReport({ priceService }: Input) {
  const notes: string[] = []
  const products = await readProducts()
  console.log(`${products.length} products in the catalogue`)
  const suppliers = await readSuppliers(notes)

  const prices = await fetchPrices(
    priceService,
    products.map(({ sku }) => sku),
  )
  if (prices.waitedSeconds > 0) {
    notes.push(
      `The price service asked for a pause; the program waited ${prices.waitedSeconds} s and went on.`,
    )
  }

  const { priced, unpriced } = comparePrices(products, prices)
  if (unpriced.length > 0) {
    const who = unpriced.length === 1 ? '1 product has' : `${unpriced.length} products have`
    notes.push(`${who} no current price: ${unpriced.map(({ sku }) => sku).join(', ')}.`)
  }

  const statistics = describePrices(priced)
  const artifact = await artifacts.write({
    name: 'pricing-report.html',
    mediaType: 'text/html',
    data: reportPage({ products, priced, suppliers, statistics, prices, notes }),
  })
  return {
    products: products.length,
    priced: priced.length,
    dearer: statistics.dearer.length,
    cheaper: statistics.cheaper.length,
    averageChange: Math.round(statistics.average * 10_000) / 10_000,
    report: artifact.digest,
    notes,
  }
}
