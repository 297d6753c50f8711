/** What the nodes of the plan hand to each other. */

export type Currency = 'EUR' | 'USD' | 'GBP'

/** A row of the catalogue. */
export interface Product {
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly unit: string
  readonly base_price: number
  readonly currency: Currency
  readonly supplier: string
  readonly stock: number
}

export interface Supplier {
  readonly supplier: string
  readonly products: number
}

/** What one euro is in each currency. */
export type Rates = Readonly<Record<Currency, number>>

/** Prices of some products. */
export interface Batch {
  /** When they were current, in ISO 8601; empty where nobody knows. */
  readonly asOf: string
  /** In the currency of the product. */
  readonly prices: readonly { readonly sku: string; readonly price: number }[]
  readonly waitedSeconds: number
  readonly from: 'service' | 'catalogue'
}

export interface NewestPrices {
  /** By SKU, in the currency of the product. */
  readonly newest: ReadonlyMap<string, number>
  readonly asOf: string
  readonly waitedSeconds: number
  /** Prices that the service did not give. */
  readonly fromCatalogue: number
}

export function readBatches(batches: readonly Batch[]): NewestPrices {
  const newest = new Map<string, number>()
  let asOf = ''
  let waitedSeconds = 0
  let fromCatalogue = 0
  for (const batch of batches) {
    for (const { sku, price } of batch.prices) newest.set(sku, price)
    if (batch.asOf !== '') asOf = batch.asOf
    waitedSeconds += batch.waitedSeconds
    if (batch.from === 'catalogue') fromCatalogue += batch.prices.length
  }
  return { newest, asOf, waitedSeconds, fromCatalogue }
}
