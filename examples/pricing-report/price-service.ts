/**
 * The suppliers' price service: a real HTTP server on this machine, with a rate limit.
 *
 * `GET /prices?sku=A,B,...` (at most 50) and `GET /rates`. After six requests it answers 429 with `Retry-After: 1`,
 * and takes requests again once that second is over; for SKUs that it has lost it answers 503. The same catalogue always gives the same prices.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Product } from './catalogue.ts'

export interface PriceServiceOptions {
  /** Requests before the service asks for a pause, at least 1. Default 6. */
  readonly allowance?: number
  /** Length of that pause in seconds; clients expect whole ones. Default 1. */
  readonly retryAfterSeconds?: number
  /** Beginnings of SKUs that it has lost: it answers 503 to whoever asks for one. Default none. */
  readonly lost?: readonly string[]
  /** Told of every request that was answered. */
  readonly onAnswer?: (answer: PriceAnswer) => void
}

export interface PriceAnswer {
  /** Path and query. */
  readonly url: string
  readonly status: number
}

export interface PriceService {
  /** `http://127.0.0.1:PORT` */
  readonly origin: string
  /** Requests so far, the refused ones included. */
  readonly requests: () => number
  readonly refused: () => number
  readonly close: () => Promise<void>
}

const MAX_BATCH = 50
const AS_OF = '2026-01-16T06:00:00Z'
/** Units of each currency for one euro. */
const RATES: Readonly<Record<string, number>> = { EUR: 1, USD: 1.0862, GBP: 0.8645 }

/** How a whole category moved, in percent, by the first letters of its SKUs. */
const TREND: Readonly<Record<string, number>> = {
  PIP: 7.4,
  HVA: 5.1,
  ELE: 4.3,
  ADH: 3.2,
  VAL: 2.6,
  FAS: 1.2,
  STO: 0.6,
  HND: -0.4,
  SAF: -1.8,
  GAR: -2.3,
  PWR: -4.2,
  LIG: -6.5,
}

/** A number from 0 up to 1 that depends only on the text (FNV-1a, finished by a multiply-xorshift). */
function fraction(text: string): number {
  let hash = 0x811c9dc5
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d)
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32
}

/** The current price, or undefined for the few products that are no longer sold. */
export function currentPrice({ sku, basePrice }: Product): number | undefined {
  const base = Number(basePrice)
  if (fraction(`${sku} sold`) < 0.012) return undefined
  if (fraction(`${sku} moved`) < 0.22) return base
  const trend = TREND[sku.slice(0, 3)] ?? 0
  const own = (fraction(`${sku} a`) + fraction(`${sku} b`) - 1) * 11
  const jump = fraction(`${sku} jump`) < 0.03 ? (fraction(`${sku} size`) - 0.4) * 40 : 0
  return Math.max(0.05, Math.round(base * (100 + trend + own + jump)) / 100)
}

function send(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers })
  response.end(JSON.stringify(body))
}

/** Starts the service on a free port of the loopback interface. */
export async function startPriceService(
  products: readonly Product[],
  { allowance = 6, retryAfterSeconds = 1, lost = [], onAnswer }: PriceServiceOptions = {},
): Promise<PriceService> {
  const bySku = new Map(products.map((product) => [product.sku, product]))
  let requests = 0
  let refused = 0
  let left = allowance
  let pausedUntil = 0

  const isRefused = (): boolean => {
    if (left === 0 && pausedUntil === 0) pausedUntil = performance.now() + retryAfterSeconds * 1000
    if (pausedUntil > performance.now()) return true
    if (left === 0) {
      left = allowance
      pausedUntil = 0
    }
    left--
    return false
  }

  const answerPrices = (url: URL, response: ServerResponse): void => {
    const skus = (url.searchParams.get('sku') ?? '').split(',').filter((sku) => sku !== '')
    if (skus.length === 0 || skus.length > MAX_BATCH) {
      send(response, 400, { error: `sku takes 1 to ${MAX_BATCH} comma-separated SKUs` })
      return
    }
    if (skus.some((sku) => lost.some((beginning) => sku.startsWith(beginning)))) {
      send(response, 503, { error: 'some prices are lost' })
      return
    }
    const prices: unknown[] = []
    const unknown: string[] = []
    for (const sku of skus) {
      const product = bySku.get(sku)
      const price = product && currentPrice(product)
      if (product === undefined || price === undefined) unknown.push(sku)
      else prices.push({ sku, price, currency: product.currency })
    }
    send(response, 200, { asOf: AS_OF, prices, unknown })
  }

  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    requests++
    if (isRefused()) {
      refused++
      send(response, 429, { error: 'too many requests' }, { 'retry-after': String(retryAfterSeconds) })
      return
    }
    const url = new URL(request.url ?? '/', 'http://localhost')
    if (request.method !== 'GET') send(response, 405, { error: 'only GET' }, { allow: 'GET' })
    else if (url.pathname === '/prices') answerPrices(url, response)
    else if (url.pathname === '/rates') send(response, 200, { base: 'EUR', asOf: AS_OF, rates: RATES })
    else send(response, 404, { error: 'not found' })
  }

  const server = createServer((request, response) => {
    answer(request, response)
    onAnswer?.({ url: request.url ?? '', status: response.statusCode })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    origin: `http://127.0.0.1:${port}`,
    requests: () => requests,
    refused: () => refused,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()))
        server.closeAllConnections()
      }),
  }
}
