// One node of the plan: the newest prices of up to fifty products, from the suppliers' service, with the pauses that it
// asks for. Written the way a model writes code for a sandbox; it may call net.fetch and clock.sleep.
import type { Batch, Product } from './products.ts'

interface Input {
  /** Origin of the suppliers' price service. */
  readonly service: string
  readonly products: readonly Product[]
}

interface PriceAnswer {
  readonly asOf: string
  readonly prices: readonly { readonly sku: string; readonly price: number }[]
}

export default async function askPrices({ service, products }: Input): Promise<Batch> {
  const skus = products.map(({ sku }) => encodeURIComponent(sku)).join(',')
  let waitedSeconds = 0
  for (;;) {
    const response = await net.fetch({ method: 'GET', url: `${service}/prices?sku=${skus}` })
    if (response.status === 429) {
      const seconds = Number(response.headers['retry-after'] ?? 1)
      console.warn(`rate limited: waiting ${seconds} s`)
      waitedSeconds += seconds
      await clock.sleep({ ms: seconds * 1000 })
      continue
    }
    if (response.status !== 200) throw new Error(`the price service answered ${response.status}`)
    const { asOf, prices } = JSON.parse(response.body as string) as PriceAnswer
    return { asOf, prices, waitedSeconds, from: 'service' }
  }
}
