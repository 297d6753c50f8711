// One node of the plan, for when the price service fails: the prices that the catalogue has.
import type { Batch, Product } from './products.ts'

interface Input {
  readonly products: readonly Product[]
}

export default function lastKnown({ products }: Input): Batch {
  const prices = products.map(({ sku, base_price: price }) => ({ sku, price }))
  return { asOf: '', prices, waitedSeconds: 0, from: 'catalogue' }
}
