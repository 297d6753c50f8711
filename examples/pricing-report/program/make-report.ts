// One node of the plan: the report, from everything that the nodes before it found out. It may call nothing.

import { type Batch, type Product, type Rates, readBatches, type Supplier } from './products.ts'
import { reportPage } from './report.ts'
import { comparePrices, describePrices } from './statistics.ts'

interface Input {
  readonly products: readonly Product[]
  readonly suppliers: readonly Supplier[]
  /** Null where the suppliers came with their lead times. */
  readonly leadTimes: unknown
  /** As the price service gave them: JSON. */
  readonly rates: string
  readonly batches: readonly Batch[]
}

/** What a report says, in a few numbers: what the next one is compared with. */
export interface Summary {
  readonly products: number
  readonly priced: number
  readonly dearer: number
  readonly cheaper: number
  /** A ratio: 0.1 is ten percent more. */
  readonly averageChange: number
  /** By category. */
  readonly categories: Readonly<Record<string, number>>
  readonly notes: readonly string[]
}

export default function makeReport({ products, suppliers, leadTimes, rates, batches }: Input) {
  const { newest, asOf, waitedSeconds, fromCatalogue } = readBatches(batches)
  const { rates: perEuro } = JSON.parse(rates) as { readonly rates: Rates }
  const { priced, unpriced } = comparePrices(products, { newest, rates: perEuro })
  const notes: string[] = []
  if (leadTimes !== null) notes.push('Lead times are left out: the catalogue does not have them.')
  if (waitedSeconds > 0) notes.push('The price service asked for a pause; the program waited and went on.')
  if (fromCatalogue > 0)
    notes.push(`${fromCatalogue} prices are those of the catalogue: the price service did not give them.`)
  if (unpriced.length > 0) {
    const who = unpriced.length === 1 ? '1 product has' : `${unpriced.length} products have`
    notes.push(`${who} no current price: ${unpriced.map(({ sku }) => sku).join(', ')}.`)
  }
  const statistics = describePrices(priced)
  const summary: Summary = {
    products: products.length,
    priced: priced.length,
    dearer: statistics.dearer.length,
    cheaper: statistics.cheaper.length,
    averageChange: rounded(statistics.average),
    categories: Object.fromEntries(statistics.categories.map(({ name, change }) => [name, rounded(change)])),
    notes,
  }
  const html = reportPage({
    products,
    priced,
    suppliers,
    statistics,
    prices: { rates: perEuro, asOf },
    notes,
  })
  return { html, summary }
}

const rounded = (ratio: number): number => Math.round(ratio * 10_000) / 10_000
