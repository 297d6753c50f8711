/** The newest prices, from the suppliers' service: in batches, with the pauses that it asks for. */
import type { Currency } from './products.ts'

/** What one euro is in each currency. */
export type Rates = Readonly<Record<Currency, number>>

export interface NewestPrices {
  readonly rates: Rates
  /** By SKU, in the currency of the product. */
  readonly newest: ReadonlyMap<string, number>
  /** When they were current, in ISO 8601. */
  readonly asOf: string
  readonly waitedSeconds: number
}

interface PriceAnswer {
  readonly asOf: string
  readonly prices: readonly { readonly sku: string; readonly price: number }[]
}

const BATCH = 50

export async function fetchPrices(service: string, skus: readonly string[]): Promise<NewestPrices> {
  let waitedSeconds = 0

  async function getJson<Answer>(path: string): Promise<Answer> {
    for (;;) {
      const response = await net.fetch({ url: `${service}${path}` })
      if (response.status === 429) {
        const seconds = Number(response.headers['retry-after'] ?? 1)
        console.warn(`rate limited: waiting ${seconds} s`)
        waitedSeconds += seconds
        await clock.sleep({ ms: seconds * 1000 })
        continue
      }
      if (response.status !== 200) throw new Error(`${path.slice(0, 20)} answered ${response.status}`)
      return JSON.parse(response.body as string) as Answer
    }
  }

  const { rates } = await getJson<{ readonly rates: Rates }>('/rates')
  const newest = new Map<string, number>()
  let asOf = ''
  for (let i = 0; i < skus.length; i += BATCH) {
    const batch = skus
      .slice(i, i + BATCH)
      .map(encodeURIComponent)
      .join(',')
    const answer = await getJson<PriceAnswer>(`/prices?sku=${batch}`)
    for (const { sku, price } of answer.prices) newest.set(sku, price)
    asOf = answer.asOf
  }
  return { rates, newest, asOf, waitedSeconds }
}
