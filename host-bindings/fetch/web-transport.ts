/**
 * HTTP over the platform's `fetch`: pages, workers, edge runtimes.
 *
 * What holds here as on Node: origins, URLs, headers, methods, sizes, time; addresses that are written out are checked.
 *
 * What cannot be promised here:
 * - Names are resolved by the platform, so a name that resolves to a private address is not noticed. Use exact hosts
 *   that you trust. (A page cannot reach more than the page itself; an edge worker usually has no private network.)
 * - In pages a redirect cannot be inspected: it is refused. Runtimes that show the target let every hop be checked.
 * - The wire size is not seen; inflated bytes are counted as the platform hands them over.
 * - Of the headers only those arrive that CORS lets through.
 */
import { CaissonError } from '../../src/base/errors.ts'
import { portOf } from './allow-list.ts'
import { literalAddress, mayConnect, type PrivateExceptions } from './public-address.ts'
import type { HttpRequest, HttpResponse, Transport } from './transport.ts'

/** What a browser would add to a request by itself, switched off. Edge runtimes have none of it, and throw at the words. */
const NOTHING_AMBIENT: Readonly<Record<WebPlatform, RequestInit>> = {
  browser: { credentials: 'omit', referrerPolicy: 'no-referrer', cache: 'no-store' },
  edge: {},
}

/** A browser (pages and their workers), or a runtime without cookies, referrer and cache. */
export type WebPlatform = 'browser' | 'edge'

/** A transport over the platform's `fetch` that may also connect to `exceptions`. */
export function createWebTransport(
  exceptions: PrivateExceptions,
  platform: WebPlatform,
  fetch: typeof globalThis.fetch = globalThis.fetch,
): Transport {
  return async (request, signal) => {
    refusePrivateHost(request.url, exceptions)
    const response = await send(request, signal, NOTHING_AMBIENT[platform], fetch)
    if (response.type === 'opaqueredirect') {
      throw new CaissonError('network_denied', 'The server redirects, and here the target cannot be checked.')
    }
    return toResponse(response, signal)
  }
}

async function send(
  request: HttpRequest,
  signal: AbortSignal,
  platformInit: RequestInit,
  fetch: typeof globalThis.fetch,
): Promise<Response> {
  const init: RequestInit = {
    method: request.method,
    headers: { ...request.headers },
    redirect: 'manual',
    signal,
    ...(request.body !== undefined && { body: request.body.slice() }),
  }
  try {
    return await fetch(request.url.href, { ...init, ...platformInit })
  } catch (error) {
    throw failure(error, signal, `The request to ${request.url.origin} failed`)
  }
}

function toResponse(response: Response, signal: AbortSignal): HttpResponse {
  const { body } = response
  return {
    status: response.status,
    statusText: response.statusText,
    headers: headerPairs(response.headers),
    body: body === null ? nothing() : chunks(body, signal),
    close: () => {
      // A locked body is being read, and its reader ends it.
      if (body !== null && !body.locked) void body.cancel().catch(() => {})
    },
  }
}

async function* chunks(body: ReadableStream<Uint8Array>, signal: AbortSignal): AsyncIterable<Uint8Array> {
  const reader = body.getReader()
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return
      yield value
    }
  } catch (error) {
    throw failure(error, signal, 'The response broke off')
  } finally {
    await reader.cancel().catch(() => {})
    reader.releaseLock()
  }
}

function headerPairs(headers: Headers): readonly (readonly [string, string])[] {
  const pairs: [string, string][] = []
  headers.forEach((value, name) => {
    pairs.push([name, value])
  })
  return pairs
}

async function* nothing(): AsyncIterable<Uint8Array> {}

/** Names that mean this machine or its network by convention, and addresses that are not public. */
function refusePrivateHost(url: URL, exceptions: PrivateExceptions): void {
  const { hostname } = url
  const local = hostname === 'localhost' || hostname.endsWith('.localhost')
  const address = local ? '127.0.0.1' : literalAddress(hostname)
  if (address !== undefined && !mayConnect(address, portOf(url), exceptions)) {
    throw new CaissonError('network_denied', `The host "${hostname}" is not public.`)
  }
}

function failure(error: unknown, signal: AbortSignal, what: string): CaissonError {
  if (CaissonError.is(error)) return error
  if (signal.aborted) return new CaissonError('aborted', 'The request was aborted.', { cause: signal.reason })
  return new CaissonError('network_failed', `${what}.`, { cause: error })
}
