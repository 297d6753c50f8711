/**
 * One call of `net.fetch`: from a checked request through its redirects to an answer.
 *
 * 1. Every hop is checked as the first: URL, origin, and (in the transport) the address connected to.
 * 2. What the embedder adds to requests of one origin (`headersFor`) is added at that hop only, never carried on.
 * 3. A body that is still coming in is handed over open; all others are closed when the call ends.
 */
import { CaissonError } from '../../src/base/errors.ts'
import { type AllowedOrigin, isAllowed } from './allow-list.ts'
import type { FetchOptions } from './fetch-options.ts'
import { type Headers, visibleHeaders } from './headers.ts'
import { isRedirect, redirectedRequest } from './redirect.ts'
import { bodyText, collectBody } from './response-body.ts'
import { StreamedBody } from './streamed-body.ts'
import type { HttpRequest, HttpResponse, Transport } from './transport.ts'

/** Keeps bodies for a guest that reads them in pieces. */
export interface BodyKeeper {
  /** Whether it takes one more; where it does not, the body comes whole. */
  readonly hasRoom: () => boolean
  /** @returns the name by which the body is read */
  readonly keep: (body: StreamedBody) => string
}

/** How a program wants its answer. */
export interface Wanted {
  readonly as: 'text' | 'bytes'
  readonly redirect: 'follow' | 'manual' | 'error'
  /** Who takes a body that is still coming in; without it bodies come whole. */
  readonly keeper?: BodyKeeper
}

/** What a program gets. */
export interface Fetched {
  readonly url: string
  readonly status: number
  readonly statusText: string
  readonly ok: boolean
  readonly redirected: boolean
  readonly headers: Headers
  readonly body: string | Uint8Array
  /** By which the body is read; then `body` is empty. */
  readonly stream?: string
}

interface FetcherParts {
  readonly options: FetchOptions
  readonly origins: readonly AllowedOrigin[]
  readonly transport: Transport
  readonly maxRedirects: number
}

const BODILESS: ReadonlySet<number> = new Set([101, 103, 204, 205, 304])

export class Fetcher {
  readonly #parts: FetcherParts

  constructor(parts: FetcherParts) {
    this.#parts = parts
  }

  /** @throws CaissonError `network_denied`, `network_failed`, `result_too_large`, `denied`, `aborted` */
  async fetch(first: HttpRequest, wanted: Wanted, signal: AbortSignal): Promise<Fetched> {
    if (first.body !== undefined && (first.method === 'GET' || first.method === 'HEAD')) {
      throw new CaissonError('denied', `A ${first.method} request has no body.`)
    }
    // Aborted with the call while that lasts, and by whoever closes a body that outlives it.
    const exchange = new AbortController()
    const abort = (): void => exchange.abort(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    try {
      return await this.#follow(first, wanted, exchange)
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  async #follow(first: HttpRequest, wanted: Wanted, exchange: AbortController): Promise<Fetched> {
    const { maxRedirects } = this.#parts
    let request = first
    for (let hop = 0; hop <= maxRedirects; hop++) {
      const response = await this.#exchange(request, hop, exchange.signal)
      let isKept = false
      try {
        const headers = visibleHeaders(response.headers)
        const location = headers.location
        if (wanted.redirect === 'manual' || !isRedirect(response.status, location)) {
          const answer = answerOf(request, response, headers, hop)
          const { keeper } = wanted
          if (keeper === undefined || hasNoBody(request, response) || !keeper.hasRoom()) {
            return { ...answer, body: await read(request, response, headers, wanted) }
          }
          isKept = true
          return { ...answer, body: '', stream: keeper.keep(streamedBody(request, response, exchange)) }
        }
        if (wanted.redirect === 'error') {
          throw new CaissonError(
            'network_failed',
            'The server redirects, and the call asked for an error then.',
          )
        }
        request = redirectedRequest(request, response.status, location)
      } finally {
        if (!isKept) response.close()
      }
    }
    throw new CaissonError('network_failed', `More than ${maxRedirects} redirects.`)
  }

  #exchange(request: HttpRequest, hop: number, signal: AbortSignal): Promise<HttpResponse> {
    const { options, origins, transport } = this.#parts
    if (!isAllowed(request.url, origins)) {
      const what = hop === 0 ? 'The URL' : 'A redirect'
      throw new CaissonError(
        'network_denied',
        `${what} leads to ${request.url.origin}, which is not allowed.`,
        {
          details: { origin: request.url.origin },
        },
      )
    }
    // Credentials of the embedder belong to this hop: they are not part of the request that a redirect inherits.
    const added = Object.entries(options.headersFor?.(new URL(request.url)) ?? {})
    const headers = { ...request.headers, ...Object.fromEntries(added.map(([k, v]) => [k.toLowerCase(), v])) }
    return transport({ ...request, headers }, signal)
  }
}

function answerOf(
  request: HttpRequest,
  { status, statusText }: HttpResponse,
  headers: Headers,
  hop: number,
): Omit<Fetched, 'body'> {
  return {
    url: request.url.href,
    status,
    statusText,
    ok: status >= 200 && status <= 299,
    redirected: hop > 0,
    headers,
  }
}

async function read(
  request: HttpRequest,
  response: HttpResponse,
  headers: Headers,
  { as }: Wanted,
): Promise<string | Uint8Array> {
  const bytes = await collectBody(response.body, request.maxResponseBytes)
  return as === 'bytes' ? bytes : bodyText(bytes, headers['content-type'])
}

/** By what the headers say, so that it does not depend on what has come in yet. */
function hasNoBody({ method }: HttpRequest, { status, headers }: HttpResponse): boolean {
  if (method === 'HEAD' || BODILESS.has(status)) return true
  for (const [name, value] of headers) {
    if (name.toLowerCase() === 'content-length' && value.trim() === '0') return true
  }
  return false
}

function streamedBody(request: HttpRequest, response: HttpResponse, exchange: AbortController): StreamedBody {
  return new StreamedBody(response.body, {
    maxBytes: request.maxResponseBytes,
    close: () => {
      exchange.abort(new DOMException('The body was closed.', 'AbortError'))
      response.close()
    },
  })
}
